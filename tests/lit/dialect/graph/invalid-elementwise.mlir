// RUN: phaseline-opt %s --split-input-file --verify-diagnostics

// Elementwise ops.

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.add' op shapes [2, 3] and [2, 4] do not broadcast: dimension 1 is both 3 and 4}}
  %0 = graph.add %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @element_types(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{'a' and 'b' must have the same element type, but have 'f32' and 'f16'}}
  %0 = graph.mul %a, %b : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

func.func @result_element(%a: tensor<2xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<2xf16>', which does not fit the inferred type 'tensor<2xf32>'}}
  %0 = graph.relu %a : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @result_rank(%a: tensor<2xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<2xf32>'}}
  %0 = graph.relu %a : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @result_size(%a: tensor<2xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<2xf32>'}}
  %0 = graph.exp %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @integer_exp(%a: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<2xi32>'}}
  %0 = graph.exp %a : tensor<2xi32>
  return
}

// -----

func.func @unranked(%a: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor}}
  %0 = graph.relu %a : tensor<*xf32>
  return
}

// -----

func.func @compare_result(%a: tensor<2xf32>) {
  // expected-error @+1 {{result #0 must be ranked tensor of 1-bit signless integer}}
  %0 = graph.less %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @logic(%a: tensor<2xi8>) {
  // expected-error @+1 {{must be ranked tensor of 1-bit signless integer}}
  %0 = graph.and %a, %a : tensor<2xi8>
  return
}

// -----

func.func @mod_float(%a: tensor<2xf32>) {
  // expected-error @+1 {{'graph.mod' op needs 'fmod' = true for floats}}
  %0 = graph.mod %a, %a : tensor<2xf32>
  return
}

// -----

func.func @shift_direction(%a: tensor<2xui8>) {
  // expected-error @+1 {{one of LEFT, RIGHT}}
  %0 = graph.bit_shift %a, %a direction = "UP" : tensor<2xui8>
  return
}

// -----

func.func @gelu_word(%a: tensor<2xf32>) {
  // expected-error @+1 {{one of none, tanh}}
  %0 = graph.gelu %a approximate = "erf" : tensor<2xf32>
  return
}

// -----

func.func @prelu(%a: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{'slope' of shape [2] does not broadcast to [2, 3]}}
  %0 = graph.prelu %a, %s : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @where(%c: tensor<2xi1>, %a: tensor<3xf32>) {
  // expected-error @+1 {{do not broadcast}}
  %0 = graph.where %c, %a, %a : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @clip_shape(%a: tensor<3xf32>) {
  // expected-error @+1 {{'min' must have one element, but is 'tensor<3xf32>'}}
  %0 = graph.clip %a min %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @clip_type(%a: tensor<3xf32>, %m: tensor<i64>) {
  // expected-error @+1 {{'max' and 'x' must have the same element type}}
  %0 = graph.clip %a max %m : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
  return
}

// -----

func.func @cast_attribute(%a: tensor<3xf32>) {
  // expected-error @+1 {{does not fit the inferred type 'tensor<3xi64>'}}
  %0 = "graph.cast"(%a) <{to = i64}> : (tensor<3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @cast_to_index(%a: tensor<3xf32>) {
  // expected-error @+1 {{'to' must be an element type of tensors, but is 'index'}}
  %0 = "graph.cast"(%a) <{to = index}> : (tensor<3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @missing_attribute(%a: tensor<3xf32>) {
  // expected-error @+1 {{requires attribute 'to'}}
  %0 = "graph.cast"(%a) : (tensor<3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @function_type(%a: tensor<3xf32>) {
  // expected-error @+1 {{expected one type, or a function type with 2 operand(s) and one result}}
  %0 = graph.add %a, %a : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{'to' must be an element type of 32 bits, but is 'i16'}}
  %0 = graph.bitcast %x : tensor<4xf32> to tensor<4xi16>
  return
}
