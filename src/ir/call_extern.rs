//! `tir.call_extern`, taken apart to be changed and built again.

use super::{Builder, Op, OpSpec, Val, edit, func, tir};
use crate::{Result, ffi};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, Type,
        attribute::{
            ArrayAttribute, DenseI32ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute,
        },
        operation::OperationLike,
        r#type::IntegerType,
    },
};

/// The operand groups of the operation, in its operand order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Numbers.
    Scalars = 0,
    /// Buffers that are read.
    Ins = 1,
    /// Buffers that are written.
    Outs = 2,
    /// Working memory, which is an argument but no operand.
    Scratch = 3,
}

/// Attribute that says which of `outs` is working memory, whose elements have no type in C.
pub const SCRATCH_OUT: &str = "scratch_out";

/// Attribute with the bytes of working memory that a call needs, once it is given some.
pub const SCRATCH_NEED: &str = "scratch_need";

/// The parts of a `tir.call_extern`.
#[derive(Clone, Debug)]
pub struct CallExtern<'c> {
    /// The C function.
    pub callee: String,
    /// Scalars, ins, outs.
    pub groups: [Vec<Val<'c>>; 3],
    /// The C arguments in order.
    pub args: Vec<Attribute<'c>>,
    /// All other attributes.
    pub attributes: Vec<(String, Attribute<'c>)>,
}

impl<'c> CallExtern<'c> {
    /// A call without operands.
    pub fn new(callee: &str) -> Self {
        Self {
            callee: callee.to_owned(),
            groups: Default::default(),
            args: vec![],
            attributes: vec![],
        }
    }

    /// Reads `op`; none if it is another operation.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if super::op_name(op) != tir::CallExtern::NAME {
            return None;
        }
        let mut call = Self::new(&func::symbol_ref(op, "callee")?);
        call.args = op.attribute("args").map(edit::array).ok()?;
        let mut operands = op.operands();
        for (group, size) in call.groups.iter_mut().zip(segments(op)?) {
            group.extend(operands.by_ref().take(size));
        }
        call.attributes = op
            .attributes()
            .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), value))
            .filter(|(name, _)| !["callee", "args", "operandSegmentSizes"].contains(&&**name))
            .collect();
        Some(call)
    }

    /// Appends an operand to a group and passes it as the last C argument.
    pub fn push(&mut self, context: &'c Context, group: Group, value: Val<'c>) {
        let index = self.add(group, value);
        self.args.push(arg_attr(context, group, index));
    }

    /// Appends an operand to a group without passing it; gives its index.
    pub fn add(&mut self, group: Group, value: Val<'c>) -> usize {
        let list = &mut self.groups[group as usize];
        list.push(value);
        list.len() - 1
    }

    /// Passes `buffer` wherever the arguments ask for scratch memory, also inside of structs.
    pub fn fill_scratch(&mut self, context: &'c Context, buffer: Val<'c>) -> Result<()> {
        let index = self.add(Group::Outs, buffer);
        let place = IntegerAttribute::new(IntegerType::new(context, 64).into(), index as i64);
        self.set(SCRATCH_OUT, place.into());
        let with = arg_attr(context, Group::Outs, index);
        for argument in &mut self.args {
            *argument = replace_scratch(context, *argument, with)?;
        }
        Ok(())
    }

    /// Sets one of the other attributes.
    pub fn set(&mut self, name: &str, value: Attribute<'c>) {
        func::set_in(&mut self.attributes, name, value);
    }

    /// Builds the operation; `results` are the tensors that stand for `outs`, none on memrefs.
    pub fn build(&self, builder: &Builder<'c>, results: &[Type<'c>]) -> Result<Op<'c>> {
        let context = builder.context;
        let sizes = self.groups.each_ref().map(|group| group.len() as i32);
        let mut attributes: Vec<(&str, Attribute<'c>)> = vec![
            ("callee", FlatSymbolRefAttribute::new(context, &self.callee).into()),
            ("args", ArrayAttribute::new(context, &self.args).into()),
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(context, &sizes).into()),
        ];
        attributes.extend(self.attributes.iter().map(|(name, value)| (name.as_str(), *value)));
        let operands = self.groups.concat();
        let spec = OpSpec { operands: &operands, results, attributes, ..Default::default() };
        builder.create(tir::CallExtern::NAME, spec)
    }
}

/// How many operands the groups of an operation have; none for one without groups.
pub fn segments(op: Op<'_>) -> Option<Vec<usize>> {
    let raw = op.attribute("operandSegmentSizes").ok()?.to_raw();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if !mlir_sys::mlirAttributeIsADenseI32Array(raw) {
            return None;
        }
        let count = mlir_sys::mlirDenseArrayGetNumElements(raw);
        Some(
            (0..count)
                .map(|index| mlir_sys::mlirDenseI32ArrayGetElement(raw, index) as usize)
                .collect(),
        )
    }
}

fn replace_scratch<'c>(
    context: &'c Context,
    argument: Attribute<'c>,
    with: Attribute<'c>,
) -> Result<Attribute<'c>> {
    if arg_of(argument).is_some_and(|(group, ..)| group == Group::Scratch) {
        return Ok(with);
    }
    let raw = argument.to_raw();
    // SAFETY: the kind is checked first; name and fields live as long as the context.
    unsafe {
        if ffi::phlTirAttrKind(raw) != ffi::PhlTirAttrKind::PHL_TIR_ATTR_STRUCT {
            return Ok(argument);
        }
        let mut fields = edit::dictionary(Attribute::from_raw(ffi::phlTirStructAttrFields(raw)));
        for (_, field) in &mut fields {
            *field = replace_scratch(context, *field, with)?;
        }
        let fields = edit::dictionary_attr(context, &fields).to_raw();
        let name = ffi::phlTirAttrName(raw);
        Attribute::from_option_raw(ffi::phlTirStructAttrGet(context.to_raw(), name, fields))
            .ok_or_else(|| crate::Error::internal("a struct argument lost its form"))
    }
}

/// The C type and the fields of a struct argument; none for other arguments.
pub fn struct_of<'c>(argument: Attribute<'c>) -> Option<(String, Vec<(String, Attribute<'c>)>)> {
    let raw = argument.to_raw();
    // SAFETY: the kind is checked first; name and fields live as long as the context.
    unsafe {
        if ffi::phlTirAttrKind(raw) != ffi::PhlTirAttrKind::PHL_TIR_ATTR_STRUCT {
            return None;
        }
        let fields = edit::dictionary(Attribute::from_raw(ffi::phlTirStructAttrFields(raw)));
        Some((super::text(ffi::phlTirAttrName(raw)), fields))
    }
}

/// `#tir.arg<GROUP INDEX, offset>`: the buffer's place in its memory space.
pub fn offset_attr(context: &Context, group: Group, index: usize) -> Attribute<'_> {
    // SAFETY: the values are valid, so the attribute is not null.
    unsafe {
        let group = group as ffi::PhlTirArgGroup::Type;
        let raw = ffi::phlTirArgAttrGet(context.to_raw(), group, index as i64, true);
        Attribute::from_raw(raw)
    }
}

/// An argument with all its buffers passed by their place in their memory space.
pub fn by_offset<'c>(context: &'c Context, argument: Attribute<'c>) -> Result<Attribute<'c>> {
    if let Some((group @ (Group::Ins | Group::Outs), index, false)) = arg_of(argument) {
        return Ok(offset_attr(context, group, index));
    }
    let Some((name, mut fields)) = struct_of(argument) else { return Ok(argument) };
    for (_, field) in &mut fields {
        *field = by_offset(context, *field)?;
    }
    let fields = edit::dictionary_attr(context, &fields);
    Attribute::parse(context, &format!("#tir.struct<{name:?}, {fields}>"))
        .ok_or_else(|| crate::Error::internal("a struct argument lost its form"))
}

/// `#tir.arg<GROUP INDEX>`.
pub fn arg_attr(context: &Context, group: Group, index: usize) -> Attribute<'_> {
    // SAFETY: the values are valid, so the attribute is not null.
    unsafe {
        Attribute::from_raw(ffi::phlTirArgAttrGet(
            context.to_raw(),
            group as ffi::PhlTirArgGroup::Type,
            index as i64,
            false,
        ))
    }
}

/// What a C argument names, if it is a `#tir.arg`: group, index, and whether it is passed as an
/// offset.
pub fn arg_of(attribute: Attribute<'_>) -> Option<(Group, usize, bool)> {
    let raw = attribute.to_raw();
    // SAFETY: the accessors take any attribute.
    unsafe {
        if ffi::phlTirAttrKind(raw) != ffi::PhlTirAttrKind::PHL_TIR_ATTR_ARG {
            return None;
        }
        let group = match ffi::phlTirArgAttrGroup(raw) {
            ffi::PhlTirArgGroup::PHL_TIR_ARG_INS => Group::Ins,
            ffi::PhlTirArgGroup::PHL_TIR_ARG_OUTS => Group::Outs,
            ffi::PhlTirArgGroup::PHL_TIR_ARG_SCRATCH => Group::Scratch,
            _ => Group::Scalars,
        };
        let index = usize::try_from(ffi::phlTirArgAttrIndex(raw)).ok()?;
        Some((group, index, ffi::phlTirArgAttrIsByOffset(raw)))
    }
}
