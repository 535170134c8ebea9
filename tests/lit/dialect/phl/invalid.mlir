// RUN: phaseline-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown attribute 'phl.targets'; did you mean 'phl.target'?}}
func.func @misspelt() attributes {phl.targets = "npu"} {
  return
}

// -----

// expected-error @+1 {{'phl.arena_bytes' must be an integer, not "64"}}
func.func @wrong_kind() attributes {phl.arena_bytes = "64"} {
  return
}

// -----

// expected-error @+1 {{'phl.model' belongs on a module}}
func.func @wrong_place() attributes {phl.model = "net"} {
  return
}

// -----

// expected-error @+1 {{'phl.target' belongs on an operation}}
func.func @argument(%x: f32 {phl.target = "npu"}) {
  return
}

// -----

// expected-error @+1 {{unknown attribute 'phl.names'; did you mean 'phl.name'?}}
func.func @result(%x: f32) -> (f32 {phl.names = "y"}) {
  return %x : f32
}

// -----

// expected-error @+1 {{'phl.devices' must be an array of strings, not ["a", 1]}}
module attributes {phl.devices = ["a", 1]} {
}
