// The sum of a wide value and itself is a shift by one.
pdl.pattern @double : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %add = pdl.operation "arith.addi"(%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.apply_native_constraint "is-wide"(%type : !pdl.type)
  pdl.rewrite %add {
    %one = pdl.apply_native_rewrite "one"(%type : !pdl.type) : !pdl.value
    %shl = pdl.operation "arith.shli"(%x, %one : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %add with %shl
  }
}
