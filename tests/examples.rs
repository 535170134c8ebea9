//! The examples in ODS, one for each operation of `graph` and `tir`: each is valid, and `phaseline-opt`
//! prints what it reads.

#![allow(clippy::disallowed_methods, reason = "cargo tells tests where things are")]

use phaseline::{
    Session,
    ir::{graph, tir, view::OpInfo},
};
use std::{
    collections::BTreeMap,
    io::Write,
    process::{Command, Stdio},
};

/// The text of `message` between `start` and the next quote.
fn quoted<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.split_once(start)?.1.split('\'').next()
}

/// The names of values in a text.
fn values(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The example as a function. Its arguments are the values that the example uses and does not
/// define; their types are those that MLIR expects.
fn function(session: &Session, info: &OpInfo) -> String {
    assert!(!info.example.is_empty(), "{} has no ```mlir block in ODS", info.name);
    assert!(info.example.contains(info.name), "the example of {} is of others", info.name);
    let mut arguments: BTreeMap<String, String> =
        values(info.example).map(|name| (name.to_owned(), "none".to_owned())).collect();
    loop {
        let list: Vec<_> = arguments.iter().map(|(name, ty)| format!("%{name}: {ty}")).collect();
        let name = info.name.replace('.', "_");
        let text =
            format!("func.func @{name}({}) {{\n{}return\n}}\n", list.join(", "), info.example);
        let Err(error) = session.parse(text.as_bytes(), "example") else { return text };
        let message = error.to_string();
        let defined = quoted(&message, "redefinition of SSA value '%")
            .or_else(|| quoted(&message, "region entry argument '%"));
        let known = if let Some(name) = defined {
            arguments.remove(name).is_some()
        } else {
            let ty = quoted(&message, "expects different type than prior uses: '");
            let value = quoted(&message, "use of value '%");
            let open = value.and_then(|name| arguments.get_mut(name)).filter(|old| *old == "none");
            open.zip(ty).map(|(old, ty)| ty.clone_into(old)).is_some()
        };
        assert!(known, "the example of {} in ODS is not valid: {message}\n{text}", info.name);
    }
}

/// Output of `phaseline-opt` for a module.
fn printed(text: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_phaseline-opt"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("was built");
    let mut input = program.stdin.take().expect("is piped");
    input.write_all(text.as_bytes()).expect("is read");
    drop(input);
    let output = program.wait_with_output().expect("ends");
    assert!(output.status.success(), "phaseline-opt refuses\n{text}");
    String::from_utf8(output.stdout).expect("is text")
}

#[test]
fn examples_are_read_and_printed_alike() {
    let session = Session::new();
    let ops: Vec<_> = graph::OPS.iter().chain(tir::OPS).collect();
    assert!(ops.len() > 140);
    let text: String = ops.iter().map(|info| function(&session, info)).collect();
    let once = printed(&text);
    assert_eq!(once, printed(&once));
    for info in ops {
        assert!(once.contains(&format!("{} ", info.name)), "{} is printed otherwise", info.name);
        let generic = format!("\"{}\"(", info.name);
        assert!(!once.contains(&generic), "{} has no form of its own", info.name);
    }
}
