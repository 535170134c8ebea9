// RUN: not phaseline-opt %s --apply-hook='target=vanilla hook=graph-to-tir' 2>&1 | FileCheck %s
// RUN: not phaseline-opt %s --apply-hook='target=vanilla hook=nonsense' 2>&1 | FileCheck %s --check-prefix=POINT

// CHECK: error: target 'vanilla' has no hook graph-to-tir in Rust or as a program
// POINT: error: {{.*}}'nonsense'
module attributes {phl.target_spec = "vanilla, llvm"} {
}
