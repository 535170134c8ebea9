// RUN: not phaseline-opt %s --set-llvm-target='mtriple=nonsense' 2>&1 | FileCheck %s --check-prefix=TRIPLE
// RUN: not phaseline-opt %s --set-llvm-target='mtriple=x86_64-unknown-linux-gnu mcpu=nonsense' 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not phaseline-opt %s --set-llvm-target='mtriple=x86_64-unknown-linux-gnu mcpu=skylake mattr=avx2' 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: not phaseline-opt %s --set-llvm-target='opt-level=4' 2>&1 | FileCheck %s --check-prefix=LEVEL

// TRIPLE: error: no code can be generated for triple 'nonsense': this build has the x86 and AArch64 backends of LLVM
// CPU: error: LLVM knows no CPU 'nonsense' of x86_64
// SIGN: error: CPU feature 'avx2' has no sign: +avx2 adds it, -avx2 removes it
// LEVEL: error: opt-level is 4; LLVM has 0 to 3
module {
}
