//! Messages to the language server, with what would end it taken out.

use crate::ir::nesting;
use serde_json::{Value, json};

/// The server's own limit of a message, in bytes.
pub const MAX_MESSAGE: usize = 1 << 28;

/// Message to pass to the server: unchanged if it is safe. An unsafe one becomes a request that the
/// server refuses with the reason, and an unsafe document becomes one with an error.
pub fn checked(message: &[u8]) -> Vec<u8> {
    let checked = match serde_json::from_slice(message) {
        Ok(message) => with_safe_parts(message),
        Err(error) => refused(id(message), &format!("the message cannot be read: {error}")),
    };
    checked.to_string().into_bytes()
}

/// A request that the server answers with an error: it has no method of that name.
pub fn refused(id: Value, reason: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": format!("$/ ({reason})") })
}

fn with_safe_parts(mut message: Value) -> Value {
    let is_call = message["method"].is_string();
    if message["jsonrpc"] != "2.0" || !(is_call || message.get("id").is_some()) {
        let id = message.get_mut("id").map(Value::take).unwrap_or_default();
        return refused(id, "the message is not of JSON-RPC 2.0");
    }
    match message["method"].as_str() {
        Some("textDocument/didOpen") => {
            let document = message.pointer_mut("/params/textDocument");
            document.into_iter().for_each(check_document);
        }
        Some("textDocument/didChange") => {
            let changes = message.pointer_mut("/params/contentChanges");
            changes.and_then(Value::as_array_mut).into_iter().flatten().for_each(check_document);
        }
        Some("mlir/convertFromBytecode") => {
            let reason = "MLIR's reader of bytecode trusts what it finds: `phaseline-opt FILE` \
                          prints it as text";
            return refused(message.get_mut("id").map(Value::take).unwrap_or_default(), reason);
        }
        _ => {}
    }
    message
}

/// Replaces the text of a document that would end the server by one whose only error, at the same
/// line, says so.
fn check_document(document: &mut Value) {
    let Some(Value::String(text)) = document.get_mut("text") else { return };
    if let Err((line, reason)) = nesting::check_parts(text.as_bytes()) {
        let before = "\n".repeat(line - 1);
        *text = format!("{before}module attributes {{\"phl.{reason}\"}} {{}}\n");
    }
}

/// The id of a message that is no valid JSON, or nested too deep, if it can be seen.
fn id(message: &[u8]) -> Value {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = message.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                while message.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if message[at] == b'\\' { 2 } else { 1 };
                }
                let key = message.get(start..at).unwrap_or_default();
                at += 1;
                let value = message.get(at..).unwrap_or_default().trim_ascii_start();
                if depth == 1 && key == b"id" && value.first() == Some(&b':') {
                    return scalar(&value[1..]);
                }
            }
            _ => {}
        }
    }
    Value::Null
}

/// The number or text that bytes begin with.
fn scalar(bytes: &[u8]) -> Value {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter();
    match values.next() {
        Some(Ok(value @ (Value::Number(_) | Value::String(_)))) => value,
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked_text(text: &str) -> Value {
        serde_json::from_slice(&checked(text.as_bytes())).expect("is JSON")
    }

    #[test]
    fn a_message_that_is_right_stays() {
        let text = r#"{"id":1,"jsonrpc":"2.0","method":"textDocument/hover","params":{"a":[1.5]}}"#;
        assert_eq!(checked_text(text), serde_json::from_str::<Value>(text).expect("is JSON"));
        let reply = r#"{"jsonrpc":"2.0","id":7,"result":null}"#;
        assert_eq!(checked_text(reply)["id"], 7);
    }

    #[test]
    fn what_cannot_be_read_is_answered_under_its_id() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for (text, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":5,"method":"x","params":{deep}}}"#), json!(5)),
            (format!(r#"{{"params":{{"id":1}},"x":"\"}}","id":"a","p":{deep}}}"#), json!("a")),
            (format!(r#"{{"id":{deep}}}"#), Value::Null),
            ("{\"id\": 3, ".to_owned(), json!(3)),
            ("\"id".to_owned(), Value::Null),
            ("[]".to_owned(), Value::Null),
            ("{\"id\": 4}".to_owned(), json!(4)),
            ("{\"jsonrpc\": \"2.0\"}".to_owned(), Value::Null),
        ] {
            let answer = checked_text(&text);
            assert_eq!(answer["id"], id, "{answer}");
            assert!(
                answer["method"].as_str().is_some_and(|name| name.starts_with("$/ (the message"))
            );
        }
    }

    #[test]
    fn a_document_that_is_too_deep_becomes_an_error_in_its_place() {
        let deep = format!("// one\nfunc.func private @f() attributes {{x = {}", "[".repeat(1000));
        let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen",
            "params": {"textDocument": {"uri": "file:///a.mlir", "version": 1, "text": deep}}});
        let text = &checked_text(&open.to_string())["params"]["textDocument"]["text"];
        assert!(text.as_str().is_some_and(|text| text.starts_with("\nmodule")), "{text}");
        let change = json!({"jsonrpc": "2.0", "method": "textDocument/didChange",
            "params": {"contentChanges": [{"text": "\n\n{a = array<index: 1>}"}]}});
        let text = &checked_text(&change.to_string())["params"]["contentChanges"][0]["text"];
        assert!(text.as_str().is_some_and(|text| text.contains("array of index")), "{text}");
        for params in ["1", "[]", "{\"textDocument\": []}", "{\"contentChanges\": [1]}"] {
            for method in ["didOpen", "didChange"] {
                let message = format!(
                    r#"{{"jsonrpc":"2.0","method":"textDocument/{method}","params":{params}}}"#
                );
                let same: Value = serde_json::from_str(&message).expect("is JSON");
                assert_eq!(checked_text(&message), same);
            }
        }
        let bytecode = r#"{"jsonrpc":"2.0","id":2,"method":"mlir/convertFromBytecode"}"#;
        assert!(
            checked_text(bytecode)["method"].as_str().is_some_and(|m| m.contains("phaseline-opt"))
        );
    }
}
