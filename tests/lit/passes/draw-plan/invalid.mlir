// RUN: not phaseline-opt %s --draw-plan 2>&1 | FileCheck %s

// CHECK: there is no @main to draw
func.func private @other() {
  return
}
