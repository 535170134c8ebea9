// Old names of passes apply rules, and say the new name.

// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-pad))' 2>&1 | FileCheck %s --check-prefixes=WARNING,FOLDED
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-prepare-quantized{joins=true}))' 2>&1 | FileCheck %s --check-prefix=JOINS
// RUN: phaseline-opt %s --pass-pipeline='builtin.module(graph-fold-batch-norm{scale-and-shift})' 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(graph-simplify{rules=fold-pads})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(graph-simplify)' 2>&1 | FileCheck %s --check-prefix=NONE

// WARNING: warning: 'func.func' op runs 'graph-fold-pad', which is 'graph-simplify{rules=fold-pad}' now
// JOINS: runs 'graph-prepare-quantized', which is 'graph-simplify{rules=prepare-quantized,quantize-parts}' now
// SCALE: runs 'graph-fold-batch-norm', which is 'graph-simplify{rules=fold-batch-norm,scale-batch-norm}' now
// UNKNOWN: error: option 'rules' there is no rule 'fold-pads'; there are expand-conv-integer, expand-einsum,
// NONE: error: option 'rules' names no rules; give some, as in graph-simplify{rules=fold-pad}

// FOLDED: graph.conv
// FOLDED-SAME: pads = [1, 1, 1, 1]
func.func @padded(%x: tensor<1x2x6x6xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %pads = graph.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %p = graph.pad %x, %pads : (tensor<1x2x6x6xf32>, tensor<8xi64>) -> tensor<1x2x8x8xf32>
  %y = graph.conv %p, %w : (tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %y : tensor<1x4x6x6xf32>
}
