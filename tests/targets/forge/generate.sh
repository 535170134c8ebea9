# generate.sh WAY: C for the functions of input.mlir, each with one call of forge_abs.
names=$(sed -n 's/^ *"\(.*_forge_[0-9]*\)",*$/\1/p' request.json)
case $1 in
decline) exit 0 ;;
object) mkdir artifacts; echo nonsense > artifacts/code.o; exit 0 ;;
static) mkdir artifacts; echo nonsense > artifacts/code.a; exit 0 ;;
empty) names= ;;
esac
mkdir artifacts
{
  echo '#include <math.h>'
  echo '#include <stdint.h>'
  for name in $names; do
    # The last number among the arguments of the call is the count.
    count=$(sed -n "/@$name(/,/return/ s/.* \([0-9][0-9]*\) : i32.*/\1/p" input.mlir | tail -n 1)
    echo "int32_t $name(void *device, const float *x, float *y);"
    echo "int32_t $name(void *device, const float *x, float *y) {"
    echo "  (void)device;"
    echo "  for (int i = 0; i < $count; ++i) y[i] = fabsf(x[i]);"
    echo "  return 0;"
    echo "}"
  done
} > artifacts/forge_code.c
printf '\001\002' > artifacts/tables.bin
echo "functions: $names" > artifacts/report.txt
