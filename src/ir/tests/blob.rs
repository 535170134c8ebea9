//! Blobs that go before their context does.

use crate::{
    Session,
    ir::{blob, constant::Elements, context, edit, elements, root},
};
use melior::ir::{Attribute, Type, attribute::ArrayAttribute};

const BYTES: usize = 3 << 20;

fn resource<'c>(session: &'c Session, name: &str, value: u8) -> Attribute<'c> {
    let ty = Type::parse(session.context(), &format!("tensor<{BYTES}xi8>")).expect("a type");
    elements::resource(ty, name, vec![value; BYTES], 1).expect("a resource")
}

fn is_there(attribute: Attribute<'_>) -> bool {
    assert_eq!(Elements::new(attribute).is_some(), elements::bytes(attribute).is_ok());
    elements::bytes(attribute).is_ok()
}

#[test]
fn what_was_read_of_a_constant_outlives_it() {
    let session = Session::new();
    let mut module = session.parse(b"module {}", "test.mlir").expect("is right");
    let before = blob::mark(&module);
    let unused = resource(&session, "unused", 7);
    let (bytes, numbers) = (elements::bytes(unused), Elements::new(unused));
    blob::free_unused(&mut module, before);
    assert!(!is_there(unused));
    let (bytes, numbers) = (bytes.expect("was there"), numbers.expect("was there"));
    assert!(bytes.len() == BYTES && bytes.iter().all(|byte| *byte == 7));
    assert_eq!((numbers.int(BYTES - 1), numbers.int(BYTES)), (7, 0));
    // Memory that is free again may be another blob's.
    let next = resource(&session, "next", 8);
    assert_eq!((elements::bytes(next).expect("is there")[0], bytes[0]), (8, 7));
    assert!(!unused.to_string().is_empty() && !is_there(unused));
}

#[test]
fn only_what_is_new_and_not_named_is_freed() {
    let session = Session::new();
    let mut module = session.parse(b"module { module {} }", "test.mlir").expect("is right");
    let old = resource(&session, "old", 1);
    let before = blob::mark(&module);
    let [named, inside, unused] =
        ["named", "inside", "unused"].map(|name| resource(&session, name, 2));
    edit::set_attr(root(&module), "test.named", named);
    let inner = crate::ir::ops_of(root(&module))[0];
    let list = ArrayAttribute::new(session.context(), &[inside]).into();
    let nested = edit::dictionary_attr(session.context(), &[("list".to_owned(), list)]);
    edit::set_attr(inner, "test.nested", nested);
    {
        let carried = context::carried(session.context()).expect("a session's");
        let _running = carried.running();
        blob::free_unused(&mut module, before);
        assert!(is_there(unused), "a pass may be about to name it");
    }
    blob::free_unused(&mut module, before);
    assert_eq!([old, named, inside, unused].map(is_there), [true, true, true, false]);
    edit::remove_attr(root(&module), "test.named");
    blob::free_unused(&mut module, before);
    assert_eq!([old, named, inside].map(is_there), [true, false, true]);
}

#[test]
fn blobs_may_share_their_memory() {
    let session = Session::new();
    let mut module = session.parse(b"module {}", "test.mlir").expect("is right");
    let before = blob::mark(&module);
    let data = bytes::Bytes::from(vec![5; BYTES]);
    let part = Type::parse(session.context(), "tensor<8xi8>").expect("a type");
    let whole = Type::parse(session.context(), &format!("tensor<{BYTES}xi8>")).expect("a type");
    let part = elements::resource(part, "part", data.slice(..8), 1).expect("a resource");
    let whole = elements::resource(whole, "whole", data.clone(), 1).expect("a resource");
    assert_eq!([part, whole].map(|a| elements::bytes(a).expect("there").len()), [8, BYTES]);
    edit::set_attr(root(&module), "test.whole", whole);
    blob::free_unused(&mut module, before);
    assert!(is_there(part) && is_there(whole));
    edit::remove_attr(root(&module), "test.whole");
    blob::free_unused(&mut module, before);
    drop(data);
    // The first decides for both, and the other one is the context's from then on.
    assert!(!is_there(part));
    assert_eq!(elements::bytes(whole).expect("is there")[BYTES - 1], 5);
}
