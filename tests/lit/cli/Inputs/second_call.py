"""Lets the convolution of vanilla give something else from the second call of a program on."""

import sys

path = sys.argv[1]
text = open(path).read()
begin = text.index("int vanilla_conv2d(")
end = text.index("  return VANILLA_OK;\n}", begin)
wrong = "  static int calls;\n  if (calls++ > 0)\n    at(device, output)[0] += 1.0f;\n"
open(path, "w").write(text[:end] + wrong + text[end:])
