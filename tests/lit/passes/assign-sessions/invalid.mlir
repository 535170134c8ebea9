// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{session=true})' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: assign-sessions needs the option target
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{target=dsp deactivate=off})' 2>&1 | FileCheck %s --check-prefix=BEGIN
// BEGIN: assign-sessions has deactivate, but not what it ends: activate
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{target=dsp activate=on when=layer})' 2>&1 | FileCheck %s --check-prefix=WHEN
// WHEN: option 'when' of assign-sessions: 'layer' is none of inference, region
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(assign-sessions{target=dsp activate=on},assign-sessions{target=dsp activate=on})' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: target 'dsp' is activated already
func.func private @dsp_0() attributes {phl.target = "dsp"} {
  return
}
