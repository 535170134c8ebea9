//! ONNX files as trees of protobuf fields, and mutations of these trees.

use crate::random::Random;

/// The messages of ONNX that are looked into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Entry,
    ValueInfo,
    Type,
    TensorType,
    SequenceType,
    Shape,
    Dimension,
    Function,
    Opset,
}

use Kind::{
    Attribute, Dimension, Entry, Function, Graph, Model, Node, Opset, SequenceType, Shape, Tensor,
    TensorType, Type, ValueInfo,
};

/// Fields of messages that are messages: (message, field number, message).
const NESTED: &[(Kind, u32, Kind)] = &[
    (Model, 7, Graph),
    (Model, 8, Opset),
    (Model, 14, Entry),
    (Model, 25, Function),
    (Graph, 1, Node),
    (Graph, 5, Tensor),
    (Graph, 11, ValueInfo),
    (Graph, 12, ValueInfo),
    (Graph, 13, ValueInfo),
    (Node, 5, Attribute),
    (Attribute, 5, Tensor),
    (Attribute, 6, Graph),
    (Attribute, 10, Tensor),
    (Attribute, 11, Graph),
    (Tensor, 13, Entry),
    (ValueInfo, 2, Type),
    (Type, 1, TensorType),
    (Type, 4, SequenceType),
    (Type, 9, SequenceType),
    (SequenceType, 1, Type),
    (TensorType, 2, Shape),
    (Shape, 1, Dimension),
    (Function, 7, Node),
    (Function, 9, Opset),
    (Function, 11, Attribute),
];

/// Fields that hold several numbers in one.
const PACKED: &[(Kind, u32)] =
    &[(Attribute, 7), (Attribute, 8), (Tensor, 1), (Tensor, 5), (Tensor, 7)];

/// Fields that hold names and other text.
const TEXT: &[(Kind, u32)] = &[
    (Graph, 2),
    (Node, 1),
    (Node, 2),
    (Node, 3),
    (Node, 4),
    (Node, 7),
    (Attribute, 1),
    (Attribute, 4),
    (Attribute, 9),
    (Attribute, 21),
    (Tensor, 8),
    (Entry, 1),
    (Entry, 2),
    (ValueInfo, 1),
    (Dimension, 2),
    (Function, 1),
    (Function, 4),
    (Function, 5),
    (Function, 10),
    (Opset, 1),
];

#[derive(Clone)]
pub enum Value {
    Number(u64),
    Wide([u8; 8]),
    Short([u8; 4]),
    Bytes(Vec<u8>),
    Message(Kind, Vec<Field>),
}

#[derive(Clone)]
pub struct Field {
    pub number: u32,
    pub value: Value,
}

/// The fields of a message; nothing if these are not its bytes.
pub fn parse(kind: Kind, mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = vec![];
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let number = (key >> 3) as u32;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => Value::Wide(take(&mut bytes, 8)?.try_into().ok()?),
            5 => Value::Short(take(&mut bytes, 4)?.try_into().ok()?),
            2 => {
                let length = varint(&mut bytes)? as usize;
                let part = take(&mut bytes, length)?;
                let nested = NESTED.iter().find(|(of, n, _)| (*of, *n) == (kind, number));
                match nested.and_then(|(_, _, kind)| Some((*kind, parse(*kind, part)?))) {
                    Some((kind, fields)) => Value::Message(kind, fields),
                    None => Value::Bytes(part.to_vec()),
                }
            }
            _ => return None,
        };
        fields.push(Field { number, value });
    }
    Some(fields)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The bytes of a message.
pub fn bytes(fields: &[Field]) -> Vec<u8> {
    let mut out = vec![];
    for field in fields {
        let key = |wire| u64::from(field.number) << 3 | wire;
        let mut part = |wire, bytes: &[u8]| {
            put_varint(&mut out, key(wire));
            if wire == 2 {
                put_varint(&mut out, bytes.len() as u64);
            }
            out.extend_from_slice(bytes);
        };
        match &field.value {
            Value::Number(value) => {
                let mut bytes = vec![];
                put_varint(&mut bytes, *value);
                part(0, &bytes);
            }
            Value::Wide(value) => part(1, value),
            Value::Short(value) => part(5, value),
            Value::Bytes(value) => part(2, value),
            Value::Message(_, fields) => part(2, &bytes(fields)),
        }
    }
    out
}

/// Material for mutations.
#[derive(Default)]
pub struct Pool {
    /// Names of values, operations and attributes.
    pub texts: Vec<Vec<u8>>,
    /// Fields with the message that they are of.
    pub fields: Vec<(Kind, Field)>,
}

impl Pool {
    pub fn add(&mut self, kind: Kind, fields: &[Field]) {
        for field in fields {
            match &field.value {
                Value::Message(inner, fields) => self.add(*inner, fields),
                Value::Bytes(text) if TEXT.contains(&(kind, field.number)) => {
                    self.texts.push(text.clone());
                }
                _ => {}
            }
            self.fields.push((kind, field.clone()));
        }
    }
}

/// Messages below and including this one.
fn count(fields: &[Field]) -> usize {
    let inner = fields.iter().map(|field| match &field.value {
        Value::Message(_, fields) => count(fields),
        _ => 0,
    });
    1 + inner.sum::<usize>()
}

/// Mutates one message below (or at) this one, chosen evenly.
pub fn mutate(random: &mut Random, kind: Kind, fields: &mut Vec<Field>, pool: &Pool) {
    let mut index = random.below(count(fields));
    if index == 0 {
        return mutate_message(random, kind, fields, pool);
    }
    index -= 1;
    for field in fields {
        if let Value::Message(kind, inner) = &mut field.value {
            let size = count(inner);
            if index < size {
                return mutate(random, *kind, inner, pool);
            }
            index -= size;
        }
    }
}

fn mutate_message(random: &mut Random, kind: Kind, fields: &mut Vec<Field>, pool: &Pool) {
    let at = random.below(fields.len());
    let other = random.below(fields.len());
    let donors: Vec<_> = pool.fields.iter().filter(|(of, _)| *of == kind).collect();
    let choice = random.below(12);
    match choice {
        0 if at < fields.len() => drop(fields.remove(at)),
        1 if at < fields.len() => fields.insert(other, fields[at].clone()),
        2 if at < fields.len() => fields.swap(at, other),
        3 if !donors.is_empty() => fields.insert(at, random.pick(&donors).1.clone()),
        4 | 5 if at < fields.len() => {
            let number = fields[at].number;
            let same: Vec<_> = donors.iter().filter(|(_, field)| field.number == number).collect();
            if !same.is_empty() {
                fields[at] = random.pick(&same).1.clone();
            }
        }
        6 if at < fields.len() && random.chance(20) => nest(random, &mut fields[at]),
        7 if at < fields.len() && random.chance(20) => {
            fields[at].number = 1 + random.below(26) as u32
        }
        _ if at < fields.len() => mutate_value(random, kind, &mut fields[at], pool),
        _ => {}
    }
}

/// Puts copies of a message into itself, one in the other.
fn nest(random: &mut Random, field: &mut Field) {
    let base = field.clone();
    if bytes(std::slice::from_ref(&base)).len() > 4096 {
        return;
    }
    for _ in 0..*random.pick(&[1, 2, 10, 100]) {
        let inner = std::mem::replace(field, base.clone());
        if let Value::Message(_, fields) = &mut field.value {
            fields.push(inner);
        }
    }
}

fn mutate_value(random: &mut Random, kind: Kind, field: &mut Field, pool: &Pool) {
    let place = (kind, field.number);
    match &mut field.value {
        // Types of elements and attributes are small numbers.
        Value::Number(value) if random.chance(40) => *value = random.below(26) as u64,
        Value::Number(value) => *value = random.number(*value as i64) as u64,
        Value::Short(value) => *value = random.float().to_le_bytes(),
        Value::Wide(value) => *value = random.next().to_le_bytes(),
        Value::Bytes(value) if TEXT.contains(&place) => {
            *value = match random.below(8) {
                0 => vec![],
                1 => random.noise(value),
                2 => b"a".repeat(1 << random.below(16)),
                3 => random
                    .pick(&["../x", "/etc/passwd", "NULL", "\u{feff}", "a\0b", "\"\n"])
                    .as_bytes()
                    .to_vec(),
                _ => random.pick(&pool.texts).clone(),
            };
        }
        Value::Bytes(value) if PACKED.contains(&place) => {
            let mut numbers = vec![];
            let mut rest = &value[..];
            while let Some(number) = varint(&mut rest) {
                numbers.push(number);
            }
            let at = random.below(numbers.len());
            match random.below(4) {
                0 if at < numbers.len() => drop(numbers.remove(at)),
                1 => numbers.insert(at, random.number(1) as u64),
                _ if at < numbers.len() => numbers[at] = random.number(numbers[at] as i64) as u64,
                _ => numbers.push(1),
            }
            value.clear();
            numbers.iter().for_each(|number| put_varint(value, *number));
        }
        // Shapes, axes and the like are short arrays of 64 bits.
        Value::Bytes(value) if place == (Tensor, 9) && random.chance(80) => {
            let width = if value.len() <= 64 && value.len().is_multiple_of(8) { 8 } else { 4 };
            let at = random.below(value.len() / width) * width;
            let Some(element) = value.get_mut(at..at + width) else { return };
            if width == 8 {
                let old = i64::from_le_bytes(element.try_into().expect("eight bytes"));
                element.copy_from_slice(&random.number(old).to_le_bytes());
            } else {
                element.copy_from_slice(&random.float().to_le_bytes());
            }
        }
        Value::Bytes(value) => *value = random.noise(value),
        Value::Message(..) => {}
    }
}
