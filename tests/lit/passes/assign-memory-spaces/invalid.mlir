// RUN: phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in copy-out=dsp_out})' -split-input-file -verify-diagnostics
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=dsp_in})' 2>&1 | FileCheck --check-prefix=OPTION %s
// OPTION: assign-memory-spaces needs the option copy-out
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b alignment=48})' 2>&1 | FileCheck --check-prefix=ALIGN %s
// ALIGN: assign-memory-spaces: alignment=48 is no power of two
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b timeout=5})' 2>&1 | FileCheck --check-prefix=TIMEOUT %s
// TIMEOUT: assign-memory-spaces: timeout=5 is to be a positive number of milliseconds, for wait
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b wait=c queues=2 submit=d})' 2>&1 | FileCheck --check-prefix=QUEUES %s
// QUEUES: assign-memory-spaces: several queues need select and after
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b wait=c queues=0})' 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: assign-memory-spaces: queues is to be a positive number
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b wait=c wait-for=d})' 2>&1 | FileCheck --check-prefix=SUBMIT %s
// SUBMIT: assign-memory-spaces: wait-for and several queues need submit
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-memory-spaces{target=dsp space=dram copy-in=a copy-out=b submit=c wait-for=d})' 2>&1 | FileCheck --check-prefix=WAIT %s
// WAIT: assign-memory-spaces: tickets and queues need wait

func.func private @handed(%c: i1, %x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  %t = scf.if %c -> memref<8xf32> {
    scf.yield %x : memref<8xf32>
  } else {
    scf.yield %y : memref<8xf32>
  }
  // expected-error @+1 {{uses a buffer that a loop or a branch hands on, of which it is not known whether it is in the memory of target 'dsp'}}
  tir.call_extern @relu ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  return
}

// -----

// expected-error @+1 {{has several blocks, between which buffers in the memory of target 'dsp' cannot be followed}}
func.func private @blocks(%x: memref<8xf32>, %y: memref<8xf32>) attributes {phl.target = "dsp"} {
  tir.call_extern @relu ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {with_device}
  cf.br ^end
^end:
  return
}
