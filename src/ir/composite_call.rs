//! The call that a `graph.composite` becomes, which its attribute `config` holds between matching
//! and lowering: one struct, with one writer and one reader.

use super::{Builder, Op, edit};
use crate::error::suggestion_only;
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute},
    operation::OperationLike,
};

/// The attribute of a composite that holds it.
const CONFIG: &str = "config";

/// The names of its parts in the attribute.
const PARTS: [&str; 14] = [
    "callee",
    "args",
    "ins",
    "outs",
    "over",
    "consts",
    "scratch_bytes",
    "flat_ins",
    "flat_outs",
    "tile",
    "with_device",
    "returns_status",
    "prototype",
    "headers",
];

/// A call of a C function, in terms of the composite's operands and results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompositeCall<'c> {
    /// The C function.
    pub callee: String,
    /// Arguments of the C function, as `tir.call_extern` has them.
    pub args: Vec<Attribute<'c>>,
    /// For each `ins`, the index of the composite's operand, or -1 for the next of `consts`.
    pub ins: Vec<i64>,
    /// For each `outs`, the index of the composite's result.
    pub outs: Vec<i64>,
    /// For each `outs`, the index of the composite's operand that is in its memory before, or -1;
    /// empty for none.
    pub over: Vec<i64>,
    /// Constant arrays.
    pub consts: Vec<Attribute<'c>>,
    /// Bytes of working memory.
    pub scratch_bytes: i64,
    /// Indices of the `ins` that the function sees as tensors of one dimension.
    pub flat_ins: Vec<i64>,
    /// The same of `outs`.
    pub flat_outs: Vec<i64>,
    /// Tiling of the work.
    pub tile: Option<Attribute<'c>>,
    /// The function takes the device.
    pub with_device: bool,
    /// The function returns a status.
    pub returns_status: bool,
    /// The declaration of the function, where no header has it.
    pub prototype: Option<String>,
    /// The headers of its target, where one of them has the body, which code of the host includes.
    pub headers: Vec<String>,
}

impl<'c> CompositeCall<'c> {
    /// Writes it on a composite.
    pub fn write(&self, b: &Builder<'c>, composite: Op<'c>) {
        let list = |values: &[i64]| -> Attribute<'c> {
            DenseI64ArrayAttribute::new(b.context, values).into()
        };
        let array = |values: &[Attribute<'c>]| -> Attribute<'c> {
            ArrayAttribute::new(b.context, values).into()
        };
        let strs = |texts: &[String]| {
            array(&texts.iter().map(|text| b.str_attr(text)).collect::<Vec<_>>())
        };
        let flat = |places: &[i64]| (!places.is_empty()).then(|| list(places));
        let flag = |set: bool| set.then(|| Attribute::unit(b.context));
        let values = [
            Some(b.str_attr(&self.callee)),
            Some(array(&self.args)),
            Some(list(&self.ins)),
            Some(list(&self.outs)),
            flat(&self.over),
            Some(array(&self.consts)),
            Some(b.i64_attr(self.scratch_bytes)),
            flat(&self.flat_ins),
            flat(&self.flat_outs),
            self.tile,
            flag(self.with_device),
            flag(self.returns_status),
            self.prototype.as_ref().map(|text| b.str_attr(text)),
            (!self.headers.is_empty()).then(|| strs(&self.headers)),
        ];
        let fields = PARTS.iter().zip(values);
        let fields = fields.filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        let fields: Vec<_> = fields.collect();
        edit::set_attr(composite, CONFIG, edit::dictionary_attr(b.context, &fields));
    }

    /// Reads it from a composite; none if that becomes no call, an error if it is malformed.
    pub fn of(composite: Op<'c>) -> Result<Option<Self>, String> {
        let Ok(config) = composite.attribute(CONFIG) else { return Ok(None) };
        let fields = edit::dictionary(config);
        let Some((_, callee)) = fields.iter().find(|(name, _)| name == PARTS[0]) else {
            return Ok(None);
        };
        let mut call = Self { callee: text(PARTS[0], *callee)?, ..Self::default() };
        for (name, value) in &fields {
            let numbers = || super::i64s(*value).ok_or_else(|| wrong(name, "a list of numbers"));
            match name.as_str() {
                "callee" => {}
                "args" => call.args = edit::array(*value),
                "ins" => call.ins = numbers()?,
                "outs" => call.outs = numbers()?,
                "over" => call.over = numbers()?,
                "consts" => call.consts = edit::array(*value),
                "scratch_bytes" => {
                    let bytes = IntegerAttribute::try_from(*value);
                    call.scratch_bytes = bytes.map_err(|_| wrong(name, "a number"))?.value();
                }
                "flat_ins" => call.flat_ins = numbers()?,
                "flat_outs" => call.flat_outs = numbers()?,
                "tile" => call.tile = Some(*value),
                "with_device" => call.with_device = true,
                "returns_status" => call.returns_status = true,
                "headers" => {
                    let texts = edit::array(*value).into_iter().map(|name| text("headers", name));
                    call.headers = texts.collect::<Result<_, _>>()?;
                }
                "prototype" => call.prototype = Some(text(name, *value)?),
                other => {
                    return Err(format!(
                        "has a config with '{other}', which is no part of a call{}",
                        suggestion_only(other, PARTS)
                    ));
                }
            }
        }
        Ok(Some(call))
    }
}

fn text(name: &str, value: Attribute<'_>) -> Result<String, String> {
    edit::string(value).ok_or_else(|| wrong(name, "a string"))
}

fn wrong(name: &str, wanted: &str) -> String {
    format!("has a config whose '{name}' is not {wanted}")
}
