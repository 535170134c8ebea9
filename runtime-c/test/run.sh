#!/bin/sh
# Builds the C runtime and the built-in targets' C with their tests, and runs them: plain, optimised, without
# threads, under ASan and UBSan, and what has threads under TSan.
# Usage: run.sh CC BUILD_DIR [plain]
# plain: leave the sanitizers out, for a compiler that is installed without them.
set -eu
if [ $# -lt 2 ] || [ "${3:-plain}" != plain ]; then
  echo "usage: $0 CC BUILD_DIR [plain]" >&2
  exit 2
fi
cc=$1
sanitize=${3:-yes}
mkdir -p "$2"
build=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

strict="-std=c11 -Wall -Wextra -Wconversion -Wpedantic -Werror"
include="-Iinclude -Itest -I$build"
sources="src/*.c test/*.c"
# The built-in targets whose C has tests that need no library.
for tests in ../targets/*/test; do
  ls "$tests"/*_test.c >"$build/found" 2>/dev/null || continue
  target=$(dirname "$tests")
  include="$include -I$target -I$tests"
  sources="$sources $target/*.c $tests/*.c"
done
# shellcheck disable=SC2086
sed -n 's/^void test_\([a-z0-9_]*\)(void) {.*/TEST(\1)/p' $(ls $sources) >"$build/tests.inc"

# run NAME FLAGS [TEST...]: builds the test program with FLAGS and runs it.
run() {
  echo "runtime-c: $cc, $1"
  # shellcheck disable=SC2086
  $cc $strict $include $2 $sources -lm -o "$build/runtime-test-$1"
  program=$build/runtime-test-$1
  shift 2
  "$program" "$@"
}

# The double of CMSIS-NN as of a core with nothing, with the DSP extension, and with Helium.
run debug "-O0 -g -pthread"
run release "-O2 -pthread -DARM_MATH_DSP"
run single-rounding "-O1 -pthread -DCMSIS_NN_USE_SINGLE_ROUNDING" cmsis_nn
if [ "$sanitize" = yes ]; then
  run sanitized "-O1 -g -pthread -DARM_MATH_MVEI -fsanitize=address,undefined -fno-sanitize-recover=all"
  run threads "-O1 -g -pthread -fsanitize=thread" pool \
    vecdsp_failures vecdsp_numbers_are_copied vecdsp_statistics vecdsp_threads vecdsp_timeout vecdsp_unified
fi

# The headers alone, also as C++; and the library without thread support.
for header in phaseline/runtime.h vanilla.h arm_nnfunctions.h npu.h vecdsp.h gemm16.h; do
  # shellcheck disable=SC2086
  echo "#include \"$header\"" | $cc $strict $include -fsyntax-only -x c -
  # shellcheck disable=SC2086
  echo "#include \"$header\"" |
    $cc -std=c++11 -Wall -Wextra -Wpedantic -Werror $include -fsyntax-only -x c++ -
done
for source in src/*.c; do
  # shellcheck disable=SC2086
  $cc $strict $include -DPHL_NO_THREADS -c "$source" -o "$build/no-threads.o"
done
rm -f "$build/no-threads.o"
echo "runtime-c: $cc, all tests passed"
