// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{vector-bits=100})" 2>&1 | FileCheck %s
// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{vector-bits=256 byte-products=true byte-matrices=true})" 2>&1 | FileCheck %s --check-prefix=AMX
// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{vector-bits=256 half-products=true})" 2>&1 | FileCheck %s --check-prefix=HALVES
// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{vector-bits=128 byte-tables=true})" 2>&1 | FileCheck %s --check-prefix=TABLES
// RUN: not phaseline-opt %s --pass-pipeline="builtin.module(lower-host-kernels{winograd=7})" 2>&1 | FileCheck %s --check-prefix=TILES

// CHECK: error: vector-bits must be 512, 256, 128 or 0, but is 100 [lower-host-kernels]
// AMX: error: byte-matrices needs vector-bits=512 and byte-products [lower-host-kernels]
// HALVES: error: half-products needs vector-bits=512 [lower-host-kernels]
// TABLES: error: byte-tables needs vector-bits=512 [lower-host-kernels]
// TILES: error: winograd must be 0 to 6, but is 7 [lower-host-kernels]
module {}
