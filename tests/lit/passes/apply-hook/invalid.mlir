// RUN: phaseline-opt %s --apply-hook='target=stitch hook=graph-to-tir' -split-input-file -verify-diagnostics

// expected-error @+1 {{the module has no phl.target_spec, which says what the targets are}}
module {
}

// -----

// expected-error @+1 {{the target spec 'llvm' has no target 'stitch'}}
module attributes {phl.target_spec = "llvm"} {
}
