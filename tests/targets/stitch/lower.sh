# lower.sh HOOK WAY: what a region of one relu becomes. Regions of other operations are left alone.
hook=$1 way=$2
grep -q 'graph.relu' input.mlir || exit 0
type=$(sed -n 's/.*-> \(tensor<[^>]*>\).*/\1/p' input.mlir | head -n 1)
name=$(sed -n 's/.*"function": "\([^"]*\)".*/\1/p' request.json)
elements=$(($(echo "$type" | sed 's/tensor<//; s/xf32>//; s/x/*/g')))
call="ins(%x : $type) outs(%e : $type) args [#tir.arg<ins 0>, #tir.arg<outs 0>, $elements : i32]"
case $hook-$way in
*-decline) exit 0 ;;
tir-fails) echo "no relu today" >&2; exit 3 ;;
tir-tir)
  # The helper has the name of a function that the model may have, too.
  cat > output.mlir <<END
func.func @$name(%x: $type) -> $type {
  %y = call @helper(%x) : ($type) -> $type
  %z = graph.relu %y : $type
  return %z : $type
}
func.func private @helper(%x: $type) -> $type {
  %e = tensor.empty() : $type
  %y = tir.call_extern @stitch_relu $call -> $type
  return %y : $type
}
END
  ;;
runtime-runtime)
  mkdir artifacts
  printf 'RELU' > artifacts/$name.cmd
  cat > artifacts/$name.h <<END
#include "stitch.h"
void ${name}_submit(const float *x, float *y, int32_t n);
END
  cat > artifacts/$name.c <<END
#include "$name.h"
void ${name}_submit(const float *x, float *y, int32_t n) { stitch_relu(x, y, n); }
END
  cat > output.mlir <<END
func.func @$name(%x: $type) -> $type {
  %e = tensor.empty() : $type
  %y = tir.call_extern @${name}_submit $call -> $type
  return %y : $type
}
END
  ;;
tir-type) echo "func.func @$name() { return }" > output.mlir ;;
tir-entry) echo "func.func @other(%x: $type) -> $type { return %x : $type }" > output.mlir ;;
tir-parse) echo "func.func @$name(" > output.mlir ;;
tir-invalid) echo "func.func @$name(%x: $type) -> $type { %y = graph.concat %x {axis = 9 : i64} : ($type) -> $type return %y : $type }" > output.mlir ;;
tir-artifact) mkdir artifacts; echo > artifacts/thing.xyz; cp input.mlir output.mlir ;;
esac
