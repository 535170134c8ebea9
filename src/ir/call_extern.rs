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

/// C's name for a null pointer.
const NULL: &str = "NULL";

/// Attribute with the index among `outs` of working memory, whose elements have no type in C.
pub const SCRATCH_OUT: &str = "scratch_out";

/// Attribute of a call whose arguments do not pass all of `ins`.
pub const KEEPS: &str = "keeps";

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
        let is_scratch = |group| group == Group::Scratch;
        self.replace_buffers(context, |(group, ..)| is_scratch(group).then_some(with))
    }

    /// Takes inputs out of the call, which passes null pointers in their place.
    pub fn leave_out(&mut self, context: &'c Context, left_out: &[usize]) -> Result<()> {
        let null = null(context)?;
        self.replace_buffers(context, |(group, index, by_offset)| {
            let before = left_out.iter().filter(|other| **other < index).count();
            match (group, by_offset) {
                (Group::Ins, _) if left_out.contains(&index) => Some(null),
                (Group::Ins, true) => Some(offset_attr(context, group, index - before)),
                (Group::Ins, false) => Some(arg_attr(context, group, index - before)),
                _ => None,
            }
        })?;
        let mut place = 0..;
        let is_left_out = |index: Option<usize>| index.is_some_and(|i| left_out.contains(&i));
        self.groups[Group::Ins as usize].retain(|_| !is_left_out(place.next()));
        Ok(())
    }

    /// Passes other arguments for some operands, wherever they are passed, and takes out those that are
    /// not to be `kept`, which are passed no more.
    pub fn pass_in_place(
        &mut self,
        context: &'c Context,
        others: &[((Group, usize), Attribute<'c>)],
        kept: &dyn Fn(Val<'c>) -> bool,
    ) -> Result<()> {
        let places = self.groups.each_ref().map(|group| {
            let mut next = 0;
            let place = |value: &Val<'c>| {
                let place = next;
                next += usize::from(kept(*value));
                place
            };
            group.iter().map(place).collect::<Vec<_>>()
        });
        let place = |group, index| places.get(group as usize)?.get(index).copied();
        self.replace_buffers(context, |(group, index, by_offset)| {
            let other = others.iter().find(|(which, _)| *which == (group, index));
            other.map(|(_, argument)| *argument).or_else(|| {
                let place = place(group, index)?;
                Some(match by_offset {
                    true => offset_attr(context, group, place),
                    false => arg_attr(context, group, place),
                })
            })
        })?;
        for (name, value) in &mut self.attributes {
            let index = super::attribute::int(*value).filter(|_| name == SCRATCH_OUT);
            if let Some(place) = index.and_then(|index| place(Group::Outs, index as usize)) {
                let ty = IntegerType::new(context, 64).into();
                *value = IntegerAttribute::new(ty, place as i64).into();
            }
        }
        for group in &mut self.groups {
            group.retain(|value| kept(*value));
        }
        Ok(())
    }

    /// Replaces the argument for each buffer by that of `new`, where it gives one.
    fn replace_buffers(
        &mut self,
        context: &'c Context,
        new: impl Fn((Group, usize, bool)) -> Option<Attribute<'c>>,
    ) -> Result<()> {
        for argument in &mut self.args {
            *argument = replaced(context, *argument, &new)?;
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

/// Number of operands in each group of an operation; none for one without groups.
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

/// An argument whose buffers are replaced by what `new` gives.
fn replaced<'c>(
    context: &'c Context,
    argument: Attribute<'c>,
    new: &impl Fn((Group, usize, bool)) -> Option<Attribute<'c>>,
) -> Result<Attribute<'c>> {
    if let Some(buffer) = arg_of(argument) {
        return Ok(new(buffer).unwrap_or(argument));
    }
    let Some((_, mut fields)) = struct_of(argument) else { return Ok(argument) };
    for (_, field) in &mut fields {
        *field = replaced(context, *field, new)?;
    }
    let fields = edit::dictionary_attr(context, &fields).to_raw();
    // SAFETY: it is a struct, whose name lives as long as the context.
    let made = unsafe {
        let name = ffi::phlTirAttrName(argument.to_raw());
        Attribute::from_option_raw(ffi::phlTirStructAttrGet(context.to_raw(), name, fields))
    };
    made.ok_or_else(|| crate::Error::internal("a struct argument lost its form"))
}

/// The argument that is a null pointer.
pub fn null(context: &Context) -> Result<Attribute<'_>> {
    Attribute::parse(context, &format!("#tir.name<\"{NULL}\">"))
        .ok_or_else(|| crate::Error::internal("a null pointer is no argument"))
}

/// True if an argument is a null pointer.
pub fn is_null(argument: Attribute<'_>) -> bool {
    super::memref::name(argument).as_deref() == Some(NULL)
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

/// An argument that passes the selected ones of its buffers by their place in their memory space.
pub fn by_offset<'c>(
    context: &'c Context,
    argument: Attribute<'c>,
    is_meant: &dyn Fn(Group, usize) -> bool,
) -> Result<Attribute<'c>> {
    replaced(context, argument, &|(group, index, _)| {
        let is_operand = matches!(group, Group::Ins | Group::Outs);
        (is_operand && is_meant(group, index)).then(|| offset_attr(context, group, index))
    })
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

/// The operand that a `#tir.arg` names: group, index, and true if it is passed as an offset.
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
