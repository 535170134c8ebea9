// The bits of a word, moved to the left by five places in a circle.
func.func @rotate(%x: i32) -> i32 {
  %left = arith.constant 5 : i32
  %right = arith.constant 27 : i32
  %high = arith.shli %x, %left : i32
  %low = arith.shrui %x, %right : i32
  %y = arith.ori %high, %low : i32
  return %y : i32
}
