//! Calls of the device's instructions as `tir.call_extern`.

use super::{
    HEADER,
    layer::{Activation, Kind},
};
use crate::{
    Result, ffi,
    ir::{
        Builder, Val,
        call_extern::{CallExtern, Group, arg_attr},
        edit,
    },
};
use melior::ir::{Attribute, AttributeLike};
use std::collections::BTreeMap;

impl Kind {
    /// The C function.
    pub fn function(self) -> &'static str {
        match self {
            Self::Conv2d => "vanilla_conv2d",
            Self::Depthwise => "vanilla_depthwise",
            Self::Dense => "vanilla_dense",
        }
    }

    /// The kind of layer that a C function computes.
    pub fn of_function(name: &str) -> Option<Self> {
        [Self::Conv2d, Self::Depthwise, Self::Dense].into_iter().find(|k| k.function() == name)
    }

    fn params(self) -> (&'static str, &'static [&'static str]) {
        const CONV: &[&str] = &[
            "in_c",
            "in_h",
            "in_w",
            "out_c",
            "out_h",
            "out_w",
            "kernel_h",
            "kernel_w",
            "stride_h",
            "stride_w",
            "dilation_h",
            "dilation_w",
            "pad_top",
            "pad_left",
        ];
        match self {
            Self::Conv2d | Self::Depthwise => ("vanilla_conv2d_params", CONV),
            Self::Dense => ("vanilla_dense_params", &["rows", "in", "out"]),
        }
    }
}

/// The parameters of an instruction, by the names of the fields of its struct in vanilla.h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The instruction.
    pub kind: Kind,
    /// Sizes and steps.
    pub numbers: BTreeMap<&'static str, i64>,
    /// Whether there is a bias operand.
    pub has_bias: bool,
    /// Whether to add to what is in the output.
    pub accumulate: bool,
    /// What is applied last.
    pub activation: Activation,
}

impl Params {
    /// Parameters with the numbers in the order of the struct.
    pub fn new(kind: Kind, numbers: &[i64], has_bias: bool, activation: Activation) -> Self {
        let (_, names) = kind.params();
        let numbers = names.iter().copied().zip(numbers.iter().copied()).collect();
        Self { kind, numbers, has_bias, accumulate: false, activation }
    }

    /// Reads the struct of a call; none if the call is not one of these instructions.
    pub fn of(call: &CallExtern<'_>) -> Option<Self> {
        let kind = Kind::of_function(&call.callee)?;
        let raw = call.args.first()?.to_raw();
        // SAFETY: the accessor takes any attribute and gives null for other kinds.
        let fields = unsafe {
            let fields = ffi::phlTirStructAttrFields(raw);
            (!fields.ptr.is_null()).then(|| edit::dictionary(Attribute::from_raw(fields)))?
        };
        let number = |name: &str| {
            let (_, value) = fields.iter().find(|(field, _)| field == name)?;
            // SAFETY: the kind is checked first.
            unsafe {
                let raw = value.to_raw();
                let is_integer = mlir_sys::mlirAttributeIsAInteger(raw);
                is_integer.then(|| mlir_sys::mlirIntegerAttrGetValueInt(raw))
            }
        };
        let mut numbers = BTreeMap::new();
        for name in kind.params().1 {
            numbers.insert(*name, number(name)?);
        }
        let activation = fields.iter().find(|(field, _)| field == "activation");
        let activation = activation.map(|(_, value)| value.to_string()).unwrap_or_default();
        let activation = [Activation::Relu6, Activation::Relu]
            .into_iter()
            .find(|a| activation.contains(&format!("\"{}\"", a.name())))
            .unwrap_or(Activation::None);
        Some(Self {
            kind,
            numbers,
            has_bias: number("has_bias").is_some_and(|value| value != 0),
            accumulate: number("accumulate").is_some_and(|value| value != 0),
            activation,
        })
    }

    /// A number by its field's name; 0 if the struct has no such field.
    pub fn number(&self, name: &str) -> i64 {
        self.numbers.get(name).copied().unwrap_or(0)
    }

    /// The call of the instruction on tensors: input, weights, bias, output.
    pub fn call<'c>(
        &self,
        builder: &Builder<'c>,
        input: Val<'c>,
        weights: Val<'c>,
        bias: Option<Val<'c>>,
        output: Val<'c>,
    ) -> Result<CallExtern<'c>> {
        let context = builder.context;
        let mut call = CallExtern::new(self.kind.function());
        call.args.push(self.attribute(builder)?);
        for value in [Some(input), Some(weights), bias] {
            match value {
                Some(value) => {
                    let index = call.add(Group::Ins, value);
                    call.args.push(offset(builder, arg_attr(context, Group::Ins, index))?);
                }
                None => call.args.push(builder.parse_attr("0 : i32")?),
            }
        }
        let index = call.add(Group::Outs, output);
        call.args.push(offset(builder, arg_attr(context, Group::Outs, index))?);
        let unit = Attribute::unit(context);
        call.set("header", builder.str_attr(HEADER));
        call.set("with_device", unit);
        call.set("returns_status", unit);
        if self.accumulate {
            call.set("accumulate", unit);
        }
        Ok(call)
    }

    fn attribute<'c>(&self, builder: &Builder<'c>) -> Result<Attribute<'c>> {
        let (name, order) = self.kind.params();
        let mut fields: Vec<_> =
            order.iter().map(|field| format!("{field} = {} : i32", self.number(field))).collect();
        if self.has_bias {
            fields.push("has_bias = 1 : i32".to_owned());
        }
        if self.accumulate {
            fields.push("accumulate = 1 : i32".to_owned());
        }
        if self.activation != Activation::None {
            fields.push(format!("activation = #tir.name<\"{}\">", self.activation.name()));
        }
        builder.parse_attr(&format!("#tir.struct<\"{name}\", {{{}}}>", fields.join(", ")))
    }
}

/// A `#tir.arg` that passes the offset of its buffer.
fn offset<'c>(builder: &Builder<'c>, arg: Attribute<'c>) -> Result<Attribute<'c>> {
    builder.parse_attr(&arg.to_string().replace('>', ", offset>"))
}
