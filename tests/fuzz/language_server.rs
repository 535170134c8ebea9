//! Conversations with the language server: documents and messages that are damaged, nested too deep
//! or out of order, and positions anywhere.

use crate::{
    campaign::corpus,
    judge::Case,
    random::Random,
    text::{self, Dictionary},
};
use serde_json::{Value, json};
use std::fs;

const URI: &str = "file:///net.mlir";

/// The id of the last request, which the server answers whatever came before.
const LAST: i64 = 999_999;

/// Documents, and their words.
pub struct Documents {
    texts: Vec<String>,
    dictionary: Dictionary,
}

impl Documents {
    pub fn new() -> Self {
        let mut files = corpus("tests/lit/cli", ".mlir", 16 << 10);
        files.extend(corpus("tests/lit/passes", ".mlir", 16 << 10));
        files.extend(corpus("tests/lit/dialect", ".mlir", 16 << 10));
        let read = |path| fs::read_to_string(path).expect("reads");
        let texts: Vec<String> = files.into_iter().map(read).collect();
        let dictionary = Dictionary::new(texts.iter().map(String::as_str));
        Self { texts, dictionary }
    }

    /// A document as people write it, or as nobody does.
    fn text(&self, random: &mut Random) -> String {
        let text = random.pick(&self.texts);
        if random.chance(25) {
            return text.clone();
        }
        if random.chance(25) {
            return hostile(random);
        }
        let donor = random.pick(&self.texts);
        let damaged = text::mutate(random, text, &self.dictionary, donor);
        String::from_utf8_lossy(&damaged).into_owned()
    }

    pub fn conversation(&self, random: &mut Random) -> Case {
        let mut bytes = vec![];
        let capabilities = json!({"textDocument": {"documentSymbol":
            {"hierarchicalDocumentSymbolSupport": true}}});
        let start = json!({"processId": null, "rootUri": null, "capabilities": capabilities});
        send(&mut bytes, &request(0, "initialize", start).to_string());
        let text = self.text(random);
        let mut lines = text.lines().count();
        send(&mut bytes, &open(&text).to_string());
        for id in 1..4 + random.below(12) as i64 {
            let message = match random.below(10) {
                0 => open(&self.text(random)),
                1 | 2 => {
                    let text = self.text(random);
                    lines = text.lines().count();
                    change(random, &text)
                }
                3 if random.chance(30) => {
                    json!({"jsonrpc": "2.0", "method": "textDocument/didClose",
                    "params": {"textDocument": {"uri": URI}}})
                }
                _ => question(random, id, lines),
            };
            let message = message.to_string();
            let damaged = match random.below(8) {
                0 => damaged(random, &message),
                _ => message.into_bytes(),
            };
            send_bytes(random, &mut bytes, &damaged);
        }
        send(&mut bytes, &request(LAST, "shutdown", Value::Null).to_string());
        send(&mut bytes, &json!({"jsonrpc": "2.0", "method": "exit"}).to_string());
        Case::of_server(bytes, &format!("\"id\":{LAST}"))
    }
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn open(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument":
        {"uri": URI, "languageId": "mlir", "version": 1, "text": text}}})
}

fn change(random: &mut Random, text: &str) -> Value {
    let mut changes = vec![json!({"text": text})];
    if random.chance(10) {
        changes.push(json!({"range": {"start": position(random, 5), "end": position(random, 5)},
            "rangeLength": random.number(3), "text": text}));
    }
    json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params":
        {"textDocument": {"uri": URI, "version": random.number(2)}, "contentChanges": changes}})
}

fn position(random: &mut Random, lines: usize) -> Value {
    if random.chance(10) {
        return json!({"line": random.number(0), "character": random.number(0)});
    }
    json!({"line": random.below(lines + 2), "character": random.below(60)})
}

fn question(random: &mut Random, id: i64, lines: usize) -> Value {
    let methods = [
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/references",
        "textDocument/completion",
        "textDocument/documentSymbol",
        "textDocument/codeAction",
        "mlir/convertToBytecode",
        "mlir/convertFromBytecode",
        "no/such",
    ];
    let uri =
        if random.chance(90) { URI } else { *random.pick(&["file:///x", "http://x", "", "%"]) };
    let at = position(random, lines);
    let range = json!({"start": at, "end": position(random, lines)});
    let context = json!({"includeDeclaration": true, "diagnostics":
        [{"range": range, "severity": 1, "message": "x", "source": "mlir"}]});
    let params = json!({"uri": uri, "textDocument": {"uri": uri}, "position": at, "range": range,
        "context": context});
    request(id, random.pick::<&str>(&methods), params)
}

/// Text that is nested deep, by brackets, terms or aliases, or that MLIR cannot hold.
fn hostile(random: &mut Random) -> String {
    let count = *random.pick(&[100, 400, 20_000]);
    let attribute = |text: &str| format!("func.func private @f() attributes {{x = {text}}}\n");
    let alias = |name: &str, form: &dyn Fn(String) -> String| -> String {
        let define = |index| match index {
            0 => format!("{name}0 = {}\n", if name == "!" { "i32" } else { "1" }),
            _ => format!("{name}{index} = {}\n", form(format!("{name}{}", index - 1))),
        };
        (0..count.min(2000)).map(define).collect()
    };
    let last = count.min(2000) - 1;
    match random.below(10) {
        0 => attribute(&format!("{}1{}", "[".repeat(count), "]".repeat(count))),
        1 => attribute("array<index: 1>"),
        2 => format!("!i = index\n{}", attribute("array<!i: 1>")),
        3 => format!("#m = affine_map<(d0) -> ({}d0)>\n", "d0 + ".repeat(count)),
        4 => format!("#m = affine_map<(d0) -> ({}d0)>\n", "- ".repeat(count)),
        5 => {
            let types = alias("!a", &|name| format!("tuple<{name}>"));
            format!("{types}func.func private @f(!a{last})\n")
        }
        6 => {
            let lists = alias("#a", &|name| format!("[{name}, {name}]"));
            format!("{lists}{}", attribute(&format!("#a{last}")))
        }
        7 => format!("{}\n// -----\n{}", attribute("\"open"), attribute(&"[".repeat(count))),
        8 => "module {\n".repeat(count),
        _ => format!("func.func @f() {{\n{}", "\"x.y\"() ({\n".repeat(count)),
    }
}

/// The message with a word changed, nested deep somewhere, or cut.
fn damaged(random: &mut Random, message: &str) -> Vec<u8> {
    match random.below(4) {
        0 => {
            let count = *random.pick(&[10, 200, 100_000]);
            let deep = format!("{}{}", "[".repeat(count), "]".repeat(count));
            message.replacen("\"params\":", &format!("\"deep\":{deep},\"params\":"), 1).into_bytes()
        }
        1 => random.noise(message.as_bytes()),
        2 => random.damage(message.as_bytes(), b"{}[]\",:0\\u-"),
        _ => message.as_bytes()[..random.below(message.len())].to_vec(),
    }
}

fn send(bytes: &mut Vec<u8>, message: &str) {
    bytes.extend(format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes());
}

/// Sends a message, sometimes between headers that say nothing of it.
fn send_bytes(random: &mut Random, bytes: &mut Vec<u8>, message: &[u8]) {
    if random.chance(10) {
        bytes.extend(*random.pick(&[&b"\r\n"[..], b"X: y\r\n\r\n", b"Content-Length: 0\r\n\r\n"]));
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n", message.len()).into_bytes());
    bytes.extend(message);
}
