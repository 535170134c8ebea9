//! Typed access to the attributes of a node.

use std::{cell::RefCell, rc::Rc};

use super::proto::{AttributeProto, NodeProto, attribute_type};
use crate::io::proto::{SparseTensorProto, TensorProto};

/// The attributes of one node. Remembers which were asked for: one that the importer of an
/// operator never asks for does not belong to the operator, or carries a meaning that would be
/// lost.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'a> {
    list: &'a [AttributeProto],
    /// Clones share it: they are of one node.
    asked: Rc<RefCell<Vec<bool>>>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn of(node: &'a NodeProto) -> Self {
        let list = &node.attribute[..];
        Self { list, asked: Rc::new(RefCell::new(vec![false; list.len()])) }
    }

    /// An empty set, for operations that the import of a node adds beside it.
    pub(crate) fn none() -> Self {
        Self { list: &[], asked: Rc::default() }
    }

    /// Fails when an attribute was never asked for.
    pub(crate) fn all_were_asked_for(&self) -> Result<(), String> {
        match self.asked.borrow().iter().position(|asked| !asked) {
            None => Ok(()),
            Some(index) => {
                Err(format!("the operator has no attribute `{}`", self.list[index].name))
            }
        }
    }

    /// Accepts an attribute whose value makes no difference.
    pub(crate) fn ignore(&self, name: &str) {
        self.find(name);
    }

    /// True if the attribute is present, of whichever type.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&'a AttributeProto> {
        let mut found = None;
        for (index, attribute) in self.list.iter().enumerate() {
            if attribute.name == name {
                self.asked.borrow_mut()[index] = true;
                found = found.or(Some(attribute));
            }
        }
        found
    }

    fn typed(&self, name: &str, wanted: i32) -> Result<Option<&'a AttributeProto>, String> {
        let Some(attribute) = self.find(name) else { return Ok(None) };
        let found = type_of(attribute);
        // An empty list written by a tool that sets no type cannot be told from another.
        if found == wanted || (found == attribute_type::UNDEFINED && is_list(wanted)) {
            return Ok(Some(attribute));
        }
        Err(format!(
            "attribute `{name}` is of type {}, expected {}",
            type_name(found),
            type_name(wanted)
        ))
    }

    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>, String> {
        Ok(self.typed(name, attribute_type::INT)?.map(|a| a.i.unwrap_or(0)))
    }

    pub(crate) fn int_or(&self, name: &str, default: i64) -> Result<i64, String> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// An integer attribute that is 0 or 1.
    pub(crate) fn bool_or(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.int(name)? {
            None => Ok(default),
            Some(value @ (0 | 1)) => Ok(value == 1),
            Some(other) => Err(format!("attribute `{name}` is {other}, expected 0 or 1")),
        }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, String> {
        Ok(self.typed(name, attribute_type::INTS)?.map(|a| a.ints.clone()))
    }

    pub(crate) fn float(&self, name: &str) -> Result<Option<f32>, String> {
        Ok(self.typed(name, attribute_type::FLOAT)?.map(|a| a.f.unwrap_or(0.0)))
    }

    pub(crate) fn float_or(&self, name: &str, default: f32) -> Result<f32, String> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    pub(crate) fn floats(&self, name: &str) -> Result<Option<Vec<f32>>, String> {
        Ok(self.typed(name, attribute_type::FLOATS)?.map(|a| a.floats.clone()))
    }

    pub(crate) fn string(&self, name: &str) -> Result<Option<&'a str>, String> {
        let Some(attribute) = self.typed(name, attribute_type::STRING)? else { return Ok(None) };
        std::str::from_utf8(attribute.s.as_deref().unwrap_or_default())
            .map(Some)
            .map_err(|_| format!("attribute `{name}` is not UTF-8 text"))
    }

    pub(crate) fn string_or(&self, name: &str, default: &'a str) -> Result<&'a str, String> {
        Ok(self.string(name)?.unwrap_or(default))
    }

    /// A string attribute that is one of `choices`, the first of which is the default.
    pub(crate) fn choice(
        &self,
        name: &str,
        choices: &[&'static str],
    ) -> Result<&'static str, String> {
        let Some(value) = self.string(name)? else { return Ok(choices[0]) };
        choices.iter().copied().find(|choice| *choice == value).ok_or_else(|| {
            format!("attribute `{name}` is \"{value}\", expected one of {}", choices.join(", "))
        })
    }

    pub(crate) fn strings(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let Some(attribute) = self.typed(name, attribute_type::STRINGS)? else { return Ok(None) };
        let text = |bytes: &bytes::Bytes| String::from_utf8_lossy(bytes).into_owned();
        Ok(Some(attribute.strings.iter().map(text).collect()))
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<&'a TensorProto>, String> {
        Ok(self.typed(name, attribute_type::TENSOR)?.and_then(|a| a.t.as_ref()))
    }

    pub(crate) fn sparse_tensor(
        &self,
        name: &str,
    ) -> Result<Option<&'a SparseTensorProto>, String> {
        let attribute = self.typed(name, attribute_type::SPARSE_TENSOR)?;
        Ok(attribute.and_then(|a| a.sparse_tensor.as_ref()))
    }
}

/// The declared type, or for tools that declare none, that of the field that is filled.
fn type_of(attribute: &AttributeProto) -> i32 {
    if attribute.r#type != attribute_type::UNDEFINED {
        return attribute.r#type;
    }
    let filled = [
        (attribute.i.is_some(), attribute_type::INT),
        (attribute.f.is_some(), attribute_type::FLOAT),
        (attribute.s.is_some(), attribute_type::STRING),
        (attribute.t.is_some(), attribute_type::TENSOR),
        (attribute.g.is_some(), attribute_type::GRAPH),
        (attribute.sparse_tensor.is_some(), attribute_type::SPARSE_TENSOR),
        (!attribute.ints.is_empty(), attribute_type::INTS),
        (!attribute.floats.is_empty(), attribute_type::FLOATS),
        (!attribute.strings.is_empty(), attribute_type::STRINGS),
        (!attribute.tensors.is_empty(), attribute_type::TENSORS),
        (!attribute.graphs.is_empty(), attribute_type::GRAPHS),
    ];
    filled.iter().find(|(filled, _)| *filled).map_or(attribute_type::UNDEFINED, |(_, ty)| *ty)
}

fn is_list(ty: i32) -> bool {
    matches!(ty, attribute_type::INTS | attribute_type::FLOATS | attribute_type::STRINGS)
}

fn type_name(ty: i32) -> &'static str {
    match ty {
        attribute_type::FLOAT => "FLOAT",
        attribute_type::INT => "INT",
        attribute_type::STRING => "STRING",
        attribute_type::TENSOR => "TENSOR",
        attribute_type::GRAPH => "GRAPH",
        attribute_type::FLOATS => "FLOATS",
        attribute_type::INTS => "INTS",
        attribute_type::STRINGS => "STRINGS",
        attribute_type::TENSORS => "TENSORS",
        attribute_type::GRAPHS => "GRAPHS",
        attribute_type::SPARSE_TENSOR => "SPARSE_TENSOR",
        attribute_type::TYPE_PROTO => "TYPE_PROTO",
        _ => "UNDEFINED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(attributes: Vec<AttributeProto>) -> NodeProto {
        NodeProto { attribute: attributes, ..Default::default() }
    }

    fn int(name: &str, value: i64) -> AttributeProto {
        AttributeProto {
            name: name.to_string(),
            r#type: attribute_type::INT,
            i: Some(value),
            ..Default::default()
        }
    }

    #[test]
    fn types_are_checked() {
        let node = node(vec![int("axis", 2)]);
        let attributes = Attributes::of(&node);
        assert_eq!(attributes.int("axis").unwrap(), Some(2));
        assert_eq!(attributes.int_or("other", 5).unwrap(), 5);
        let message = attributes.float("axis").unwrap_err();
        assert_eq!(message, "attribute `axis` is of type INT, expected FLOAT");
        assert!(attributes.bool_or("axis", false).unwrap_err().contains("0 or 1"));
    }

    #[test]
    fn undeclared_types_follow_the_filled_field() {
        let mut old = int("k", 3);
        old.r#type = attribute_type::UNDEFINED;
        let empty = AttributeProto { name: "pads".to_string(), ..Default::default() };
        let node = node(vec![old, empty]);
        let attributes = Attributes::of(&node);
        assert_eq!(attributes.int("k").unwrap(), Some(3));
        assert!(attributes.string("k").is_err());
        assert_eq!(attributes.ints("pads").unwrap(), Some(vec![]));
    }

    #[test]
    fn strangers_are_noticed() {
        let node = node(vec![int("axis", 2), int("axes", 1)]);
        let attributes = Attributes::of(&node);
        attributes.ignore("axis");
        let message = attributes.all_were_asked_for().unwrap_err();
        assert_eq!(message, "the operator has no attribute `axes`");
        attributes.ignore("axes");
        assert_eq!(attributes.all_were_asked_for(), Ok(()));
    }
}
