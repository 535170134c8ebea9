// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(record-reads,shrink-buffers,overwrite-inputs,check-reads))' | FileCheck %s --check-prefix=REUSED
// RUN: phaseline-opt %S/../overwrite-inputs/channels.mlir --split-input-file --pass-pipeline='builtin.module(func.func(record-reads,overwrite-inputs,check-reads))' | FileCheck %s --check-prefix=OVER
// RUN: phaseline-opt %S/../overwrite-inputs/no-op.mlir --split-input-file --pass-pipeline='builtin.module(func.func(record-reads,overwrite-inputs,check-reads))' | FileCheck %s --check-prefix=OVER
// RUN: phaseline-opt %S/../shrink-buffers/loops.mlir --split-input-file --pass-pipeline='builtin.module(func.func(record-reads,shrink-buffers,check-reads))' | FileCheck %s --check-prefix=OVER
// RUN: phaseline-opt %S/../order-operations/basic.mlir --split-input-file --pass-pipeline='builtin.module(func.func(record-reads),order-operations,func.func(check-reads))' | FileCheck %s --check-prefix=OVER

// Correct reuse of memory passes, and nothing of the record is left.
// REUSED-LABEL: func.func @over
// REUSED: memref.reinterpret_cast
// REUSED-NOT: phl.access
// OVER: func.func
// OVER-NOT: phl.access
// OVER-NOT: phl.sees
func.func private @fill(memref<8x64xf32>)
func.func private @use(memref<8x64xf32>)
func.func @over() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<8x64xf32>
  %y = memref.alloc() : memref<8x64xf32>
  func.call @fill(%x) : (memref<8x64xf32>) -> ()
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %zero, %y[%c, %i] : memref<8x64xf32>
    }
  }
  scf.for %c = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      %at = arith.subi %c63, %i : index
      %a = memref.load %x[%c, %at] : memref<8x64xf32>
      %b = memref.load %y[%c, %i] : memref<8x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%c, %i] : memref<8x64xf32>
    }
  }
  func.call @use(%y) : (memref<8x64xf32>) -> ()
  return
}
