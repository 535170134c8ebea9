// RUN: phaseline-opt %s --set-llvm-target='mtriple=x86_64-unknown-linux-gnu mcpu=skylake mattr=-avx2' | FileCheck %s
// RUN: phaseline-opt %s --set-llvm-target='mtriple=aarch64-unknown-linux-gnu mcpu=generic' | FileCheck %s --check-prefix=ARM
// RUN: phaseline-opt %s --set-llvm-target='opt-level=1' | FileCheck %s --check-prefix=LESS
// RUN: phaseline-opt %s --set-llvm-target='opt-level=1' --set-llvm-target | FileCheck %s --check-prefix=HERE

// CHECK: llvm.data_layout = "e-m:e
// CHECK-SAME: llvm.target_triple = "x86_64-unknown-linux-gnu", phl.cpu = "skylake", phl.features = "-avx2"
// ARM: llvm.target_triple = "aarch64-unknown-linux-gnu", phl.cpu = "generic", phl.features = ""
// The machine that compiles, by the name of its CPU.
// HERE: llvm.data_layout = "e-
// HERE-NOT: phl.cpu = "native"
// The greatest effort is the usual one, and not said.
// HERE-NOT: phl.opt_level
// LESS: phl.opt_level = 1 : i64
module {
}
