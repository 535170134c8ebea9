"""Prints a conversation with a language server that would overflow the stack of its parsers."""

import json
import sys

URI = "file:///net.mlir"
DEEP = "[" * 100000


def write(text):
    sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}")


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    write(json.dumps(message))


def change(text):
    send("textDocument/didChange",
         {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]})


send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
send("textDocument/didOpen",
     {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1,
                       "text": "\n\nmodule attributes {x = " + DEEP}})
change("module attributes {x = array<index: 1>} {}")
write('{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": ' + DEEP)
write("not json")
send("mlir/convertFromBytecode", {"uri": URI}, 2)
change("func.func private @f()")
send("shutdown", None, 3)
send("exit", None)
