// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{vector-bits=100})" 2>&1 | FileCheck %s

// CHECK: error: vector-bits must be 512, 256, 128 or 0, but is 100 [lower-host-kernels]
module {}
