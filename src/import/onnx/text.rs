//! The text form of ONNX's functions, as `onnx.parser.parse_function` reads it.
//!
//! ```text
//! <opset_import: ["" : 18], domain: "com.acme">
//! Swish <beta: float = 1.0> (x) => (y) {
//!   b = Constant <value_float: float = @beta> ()
//!   scaled = Mul (x, b)
//!   s = Sigmoid (scaled)
//!   y = Mul (x, s)
//! }
//! ```
//! Attributes that are graphs, as control flow has them, are not read.

mod word;

use super::proto::{
    AttributeProto, FunctionProto, NodeProto, OperatorSetIdProto, attribute_type as kind,
};
use crate::io::proto::TensorProto;
use crate::tensor::DType;
use bytes::Bytes;
use word::{Word, Words};

/// Result of reading a text; an error starts with its line.
type Read<T> = Result<T, String>;

/// The names of attributes' types.
const KINDS: [(&str, i32); 8] = [
    ("float", kind::FLOAT),
    ("int", kind::INT),
    ("string", kind::STRING),
    ("tensor", kind::TENSOR),
    ("floats", kind::FLOATS),
    ("ints", kind::INTS),
    ("strings", kind::STRINGS),
    ("tensors", kind::TENSORS),
];

/// Reads a function.
///
/// # Errors
/// The text is none; the message begins with the line.
pub(crate) fn parse_function(text: &str) -> Read<FunctionProto> {
    let mut words = Words::new(text)?;
    let mut function = FunctionProto::default();
    if words.eat("<") {
        header(&mut words, &mut function)?;
    }
    function.name = words.name("the name of the function")?;
    if words.eat("<") {
        while !words.eat(">") {
            let (attribute, has_value) = attribute(&mut words)?;
            match has_value {
                true => function.attribute_proto.push(attribute),
                false => function.attribute.push(attribute.name),
            }
            words.separator(">")?;
        }
    }
    function.input = names(&mut words)?;
    words.expect("=>")?;
    function.output = names(&mut words)?;
    words.expect("{")?;
    while !words.eat("}") {
        function.node.push(node(&mut words)?);
    }
    words.expect_end()?;
    Ok(function)
}

/// `opset_import: ["" : 18], domain: "com.acme">`.
fn header(words: &mut Words, function: &mut FunctionProto) -> Read<()> {
    while !words.eat(">") {
        let key = words.name("a key such as opset_import")?;
        words.expect(":")?;
        match key.as_str() {
            "opset_import" => {
                words.expect("[")?;
                while !words.eat("]") {
                    let domain = words.text("a domain")?;
                    words.expect(":")?;
                    let version = words.int("the version of the operator set")?;
                    function.opset_import.push(OperatorSetIdProto { domain, version });
                    words.separator("]")?;
                }
            }
            "domain" => function.domain = words.text("a domain")?,
            "overload" => function.overload = words.text("a name")?,
            "doc_string" => drop(words.text("a text")?),
            other => {
                let message =
                    format!("functions have no `{other}`; they have opset_import and domain");
                return Err(words.error(message));
            }
        }
        words.separator(">")?;
    }
    Ok(())
}

/// Names in parentheses; those of absent values are empty.
fn names(words: &mut Words) -> Read<Vec<String>> {
    words.expect("(")?;
    let mut names = vec![];
    while !words.eat(")") {
        names.push(value_name(words)?);
        words.separator(")")?;
    }
    Ok(names)
}

/// The name of a value; one that is absent is left out, or an empty text.
fn value_name(words: &mut Words) -> Read<String> {
    match words.peek() {
        Word::Sign(",") => Ok(String::new()),
        Word::Text(_) => words.text("the name of a value"),
        _ => words.name("the name of a value"),
    }
}

/// `y, z = Op <attributes> (a, b)`, maybe with a label in brackets in front.
fn node(words: &mut Words) -> Read<NodeProto> {
    let mut node = NodeProto::default();
    if words.eat("[") {
        node.name = match words.peek() {
            Word::Text(_) => words.text("a label")?,
            _ => words.name("a label")?,
        };
        words.expect("]")?;
    }
    loop {
        node.output.push(value_name(words)?);
        if !words.eat(",") {
            break;
        }
    }
    words.expect("=")?;
    let operator = words.name("an operator")?;
    let (domain, name) = operator.rsplit_once('.').unwrap_or(("", &operator));
    (node.domain, node.op_type) = (domain.to_owned(), name.to_owned());
    attributes(words, &mut node)?;
    node.input = names(words)?;
    attributes(words, &mut node)?;
    Ok(node)
}

fn attributes(words: &mut Words, node: &mut NodeProto) -> Read<()> {
    if !words.eat("<") {
        return Ok(());
    }
    while !words.eat(">") {
        let (attribute, has_value) = attribute(words)?;
        if !has_value {
            return Err(words.error(format!("the attribute `{}` has no value", attribute.name)));
        }
        node.attribute.push(attribute);
        words.separator(">")?;
    }
    Ok(())
}

/// An attribute, with true if it has a value.
fn attribute(words: &mut Words) -> Read<(AttributeProto, bool)> {
    let mut attribute =
        AttributeProto { name: words.name("the name of an attribute")?, ..Default::default() };
    if words.eat(":") {
        let written = words.name("the type of an attribute")?;
        let known = KINDS.iter().find(|(name, _)| *name == written);
        let Some((_, found)) = known else {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            let message =
                format!("`{written}` is no type of attributes; they are {}", names.join(", "));
            return Err(words.error(message));
        };
        attribute.r#type = *found;
    }
    if !words.eat("=") {
        return Ok((attribute, false));
    }
    if words.eat("@") {
        attribute.ref_attr_name = words.name("the name of an attribute of the function")?;
        return Ok((attribute, true));
    }
    let declared = attribute.r#type;
    value(words, &mut attribute)?;
    if declared != kind::UNDEFINED && declared != attribute.r#type {
        let fits = match (declared, attribute.r#type) {
            (kind::FLOAT, kind::INT) => {
                attribute.f = attribute.i.take().map(|value| value as f32);
                true
            }
            (kind::FLOATS, kind::INTS) => {
                attribute.floats = attribute.ints.drain(..).map(|value| value as f32).collect();
                true
            }
            // An empty list is one of any type.
            (kind::FLOATS | kind::STRINGS, _) => {
                attribute.r#type == kind::INTS && attribute.ints.is_empty()
            }
            _ => false,
        };
        if !fits {
            let message = format!("the value of `{}` is not of its type", attribute.name);
            return Err(words.error(message));
        }
        attribute.r#type = declared;
    }
    Ok((attribute, true))
}

fn value(words: &mut Words, attribute: &mut AttributeProto) -> Read<()> {
    match words.peek().clone() {
        Word::Int(value) => {
            words.take();
            (attribute.i, attribute.r#type) = (Some(value), kind::INT);
        }
        Word::Float(value) => {
            words.take();
            (attribute.f, attribute.r#type) = (Some(value as f32), kind::FLOAT);
        }
        Word::Text(text) => {
            words.take();
            (attribute.s, attribute.r#type) = (Some(Bytes::from(text)), kind::STRING);
        }
        Word::Sign("[") => {
            words.take();
            list(words, attribute)?;
        }
        Word::Name(_) => {
            (attribute.t, attribute.r#type) = (Some(tensor(words)?), kind::TENSOR);
        }
        Word::Sign(_) | Word::End => return Err(words.expected("the value of an attribute")),
    }
    Ok(())
}

fn list(words: &mut Words, attribute: &mut AttributeProto) -> Read<()> {
    let mut floats = vec![];
    let mut all_ints = true;
    while !words.eat("]") {
        match words.peek().clone() {
            Word::Int(value) => {
                floats.push(value as f32);
                attribute.ints.push(value);
            }
            Word::Float(value) => {
                floats.push(value as f32);
                all_ints = false;
            }
            Word::Text(text) => attribute.strings.push(Bytes::from(text)),
            _ => return Err(words.expected("a number or a text")),
        }
        words.take();
        words.separator("]")?;
    }
    if !attribute.strings.is_empty() && !floats.is_empty() {
        return Err(words.error("a list has numbers or texts, not both".to_owned()));
    }
    attribute.r#type = match (attribute.strings.is_empty(), all_ints) {
        (false, _) => kind::STRINGS,
        (true, true) => kind::INTS,
        (true, false) => {
            attribute.ints.clear();
            attribute.floats = floats;
            kind::FLOATS
        }
    };
    Ok(())
}

/// `float[2] {1.0, 2.0}`; without dimensions a scalar.
fn tensor(words: &mut Words) -> Read<TensorProto> {
    let written = words.name("an element type")?;
    let dtype = (0..32).filter_map(DType::from_onnx_code);
    let dtype = dtype.into_iter().find(|dtype| dtype.onnx_name().eq_ignore_ascii_case(&written));
    let dtype = dtype
        .ok_or_else(|| words.error(format!("`{written}` is no element type of a constant")))?;
    let mut tensor = TensorProto { data_type: dtype.onnx_code(), ..Default::default() };
    if words.eat("[") {
        while !words.eat("]") {
            tensor.dims.push(words.int("a dimension")?);
            words.separator("]")?;
        }
    }
    words.expect("{")?;
    while !words.eat("}") {
        let number = match words.peek() {
            Word::Int(value) => (*value, *value as f64),
            Word::Float(value) => (*value as i64, *value),
            _ => return Err(words.expected("an element")),
        };
        words.take();
        match dtype {
            DType::F32 => tensor.float_data.push(number.1 as f32),
            DType::F64 => tensor.double_data.push(number.1),
            DType::I64 => tensor.int64_data.push(number.0),
            DType::U32 | DType::U64 => tensor.uint64_data.push(number.0 as u64),
            DType::F16 | DType::BF16 => {
                return Err(words.error(format!("constants of {written} have no text form here")));
            }
            _ => tensor.int32_data.push(number.0 as i32),
        }
        words.separator("}")?;
    }
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWISH: &str = r#"
        # What it computes.
        <opset_import: ["" : 18, "com.acme" : 1], domain: "com.acme">
        Swish <beta: float = 1, mode> (x, scale) => (y) {
          b = Constant <value_float: float = @beta> ()
          [first] a, , c = Split <axis = -1, num_outputs = 3> (x)
          t = Constant <value = float[2] {1.5, -2}> ()
          s = com.acme.Other (a, , "") <list = [1, 2.5], words = ["a"]>
          y = Clip (s, , t)
        }"#;

    #[test]
    fn a_function_is_read() {
        let function = parse_function(SWISH).expect("is a function");
        assert_eq!((function.name.as_str(), function.domain.as_str()), ("Swish", "com.acme"));
        assert_eq!(function.opset_import[1].version, 1);
        assert_eq!(
            (&function.input[..], &function.output[..]),
            (&["x", "scale"].map(String::from)[..], &["y".to_owned()][..])
        );
        assert_eq!(function.attribute, ["mode"]);
        assert_eq!(function.attribute_proto[0].f, Some(1.0));
        let nodes = &function.node;
        assert_eq!(nodes[0].attribute[0].ref_attr_name, "beta");
        assert_eq!(
            (nodes[1].name.as_str(), &nodes[1].output[..]),
            ("first", &["a", "", "c"].map(String::from)[..])
        );
        assert_eq!(nodes[1].attribute[0].i, Some(-1));
        assert_eq!(
            nodes[2].attribute[0].t.as_ref().map(|t| t.float_data.clone()),
            Some(vec![1.5, -2.0])
        );
        assert_eq!((nodes[3].domain.as_str(), nodes[3].op_type.as_str()), ("com.acme", "Other"));
        assert_eq!(nodes[3].input, ["a", "", ""]);
        assert_eq!(nodes[3].attribute[0].floats, [1.0, 2.5]);
        assert_eq!(nodes[4].input, ["s", "", "t"]);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, message) in [
            ("", "line 1: expected the name of the function, found the end of the text"),
            ("f (x) -> (y) {}", "line 1: `-` is no sign of ONNX's text"),
            (
                "f (x) => (y) {\n y = Add (x, x)",
                "line 2: expected the name of a value, found the end",
            ),
            ("f (x) => (y) {\n y = Add <a> (x)}", "line 2: the attribute `a` has no value"),
            (
                "f (x) => (y) { y = C <a: float = \"b\"> ()}",
                "line 1: the value of `a` is not of its type",
            ),
            ("f (x) => (y) { y = C <a = g () => ()> ()}", "line 1: `g` is no element type"),
            ("f (x) => (y) { y = C (x)} z", "line 1: expected the end of the text, found `z`"),
            ("<what: 1> f", "line 1: functions have no `what`"),
        ] {
            let error = parse_function(text).expect_err(text);
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
