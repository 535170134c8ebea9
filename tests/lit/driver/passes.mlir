// Our passes stand beside upstream's: in --help, as options and in pipelines, which print.

// RUN: phaseline-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --graph-partition {{.*}}Divide the network between the targets
// HELP: --targets=<string>
// HELP: --lower-host-kernels
// HELP: --split-by-target

// RUN: phaseline-opt %s --pass-pipeline='builtin.module(canonicalize,func.func(cse,graph-simplify{rules=fold-pad}),graph-partition{targets={vanilla, llvm}})' --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: builtin.module(
// DUMP-NEXT: canonicalize
// DUMP-NEXT: func.func(
// DUMP-NEXT: cse,
// DUMP-NEXT: graph-simplify{rules=fold-pad}
// DUMP: graph-partition{{{.*}}targets={vanilla, llvm}}

// RUN: phaseline-opt %s --canonicalize --graph-partition='targets=llvm' | FileCheck %s --check-prefix=FLAGS
// FLAGS: @main({{.*}}) -> {{.*}} attributes {phl.target = "llvm"}

// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(graph-partitio)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'graph-partitio' does not refer to a registered pass
// RUN: not phaseline-opt %s --graph-partition='targets={vanila, llvm}' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: there is no target 'vanila'; did you mean 'vanilla'?{{$}}
// TARGET: [graph-partition]

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
