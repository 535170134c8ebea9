"""Prints a conversation with a language server: open a file with one good and one bad operation."""

import json
import sys

TEXT = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  %1 = graph.no_such %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
URI = "file:///net.mlir"


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    text = json.dumps(message)
    sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}")


send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
send("initialized", {})
send("textDocument/didOpen",
     {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": TEXT}})
send("shutdown", None, 1)
send("exit", None)
