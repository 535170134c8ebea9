//! Buffers: where they are, and reading, writing and copying them.

use super::{
    expression::{Sum, Text},
    names::node_name,
    scalar::{CType, Expr, Level, fill, signed},
    writer::{Writer, c_type, unsupported},
};
use crate::{
    artifact::c_identifier,
    ir::{self, Op, Val, edit, func, memref, tir, view::OpView},
    pass::{PassError, PassResult},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Memory that a buffer is in.
#[derive(Clone, Debug)]
pub enum Base {
    /// In the host's memory, behind a pointer variable to its elements.
    Pointer(String),
    /// In a device's memory, so many bytes from its start.
    Space(i64),
}

/// A buffer: a place so many elements behind its base.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Memory that its elements are in.
    pub base: Base,
    /// In elements.
    pub offset: Sum,
    /// Bytes of an element.
    pub element: i64,
}

/// The name in C of a constant of the module.
pub fn constant_name(symbol: &str) -> String {
    c_identifier(symbol.trim_start_matches('_'))
}

/// Writes an operation on buffers.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    match ir::op_name(op) {
        tir::Buffer::NAME => {
            let buffer = tir::Buffer::of(op).ok_or_else(|| unsupported(op))?;
            writer.define_buffer(op, buffer.result(), Base::Space(buffer.offset()), Sum::default())
        }
        "memref.view" => view(writer, op),
        "memref.subview" | "memref.reinterpret_cast" => part(writer, op),
        "memref.cast"
        | "memref.collapse_shape"
        | "memref.expand_shape"
        | "memref.transpose"
        | "memref.assume_alignment" => {
            let source = writer.buffer(op, op.operand(0)?)?.clone();
            writer.buffers.insert(ir::id(ir::result0(op)?), source);
            Ok(())
        }
        "memref.copy" => {
            writer.note(op);
            copy(writer, op)
        }
        "memref.load" => load(writer, op),
        "memref.store" => {
            writer.note(op);
            store(writer, op)
        }
        "memref.alloca" => local(writer, op),
        "memref.get_global" => {
            let symbol = func::symbol_ref(op, "name").unwrap_or_default();
            let base = Base::Pointer(constant_name(&symbol));
            writer.define_buffer(op, ir::result0(op)?, base, Sum::default())
        }
        "memref.alloc" | "memref.dealloc" => {
            Err(PassError::at(&op, "has no planned place: run plan-memory first"))
        }
        _ => Err(unsupported(op)),
    }
}

impl Writer<'_> {
    /// The place that a buffer is.
    pub fn buffer<'c>(&self, op: Op<'c>, value: Val<'c>) -> PassResult<'c, &Buffer> {
        self.buffers.get(&ir::id(value)).ok_or_else(|| {
            PassError::at(&op, format!("has a buffer {} with no place in C", value.r#type()))
        })
    }

    /// A name for the buffer that an operation makes: that of the node, or else a number.
    fn buffer_name(&mut self, op: Op<'_>, stem: &'static str) -> String {
        let name = self.names.like(&node_name(op));
        name.unwrap_or_else(|| self.names.numbered(stem))
    }

    /// Records the place of a buffer.
    pub fn define_buffer<'c>(
        &mut self,
        op: Op<'c>,
        value: Val<'c>,
        base: Base,
        offset: Sum,
    ) -> PassResult<'c> {
        let element = c_type(op, ir::element_type(value.r#type()))?.bytes();
        self.buffers.insert(ir::id(value), Buffer { base, offset, element });
        Ok(())
    }
}

/// A part of a buffer: its start moves by whole elements.
fn part<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let operands = ir::operands(op);
    let offsets = ir::attr_i64s(op, "static_offsets").unwrap_or_default();
    let source = writer.buffer(op, operands[0])?.clone();
    let recast = ir::op_name(op) == "memref.reinterpret_cast";
    let strides = if recast {
        vec![1]
    } else {
        memref::static_strides(operands[0].r#type()).ok_or_else(|| unsupported(op))?
    };
    // A recast counts from the start of the memory, other parts from the buffer's.
    let mut offset = if recast { Sum::default() } else { source.offset };
    let mut values = operands[1..].iter();
    for (known, stride) in offsets.iter().zip(&strides) {
        let step = if *known == ir::DYNAMIC {
            let value = values.next().ok_or_else(|| unsupported(op))?;
            writer.sum(op, *value)?
        } else {
            Sum::number(*known)
        };
        offset = offset.plus(&step.times(*stride));
    }
    writer.define_buffer(op, ir::result0(op)?, source.base, offset)
}

/// A typed buffer in a block of bytes gets a variable.
fn view<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let result = ir::result0(op)?;
    let source = writer.buffer(op, op.operand(0)?)?.clone();
    let shift = writer.sum(op, op.operand(1)?)?;
    let Base::Pointer(name) = &source.base else { return Err(unsupported(op)) };
    let ty = c_type(op, ir::element_type(result.r#type()))?;
    let element = ty.name();
    if ir::users(result).is_empty() {
        return Ok(());
    }
    let variable = writer.buffer_name(op, "t");
    let constant = if writer.is_constant(name) { "const " } else { "" };
    if !constant.is_empty() {
        writer.constants.insert(variable.clone());
    }
    let place = source.offset.plus(&shift);
    let text = pointer(name, &place, true).text;
    // By way of `void *`: bytes of any alignment are cast, and the plan has aligned these.
    let any = if ty.bytes() > 1 { format!("({constant}void *)") } else { String::new() };
    let cast = format!("({constant}{element} *){any}{text}");
    let text = format!("{constant}{element} *const {variable} = {cast};");
    if writer.is_outermost() && place.as_number().is_some() {
        writer.later.insert(ir::id(result), text);
    } else {
        writer.line(text);
    }
    writer.define_buffer(op, result, Base::Pointer(variable), Sum::default())
}

/// Memory on the stack.
fn local<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let result = ir::result0(op)?;
    let dims = ir::static_dims(result.r#type()).ok_or_else(|| unsupported(op))?;
    let element = c_type(op, ir::element_type(result.r#type()))?.name();
    let name = writer.names.numbered("local");
    // C has no arrays without elements.
    let size = dims.iter().product::<i64>().max(1);
    if !ir::users(result).is_empty() {
        writer.line(format!("{element} {name}[{size}];"));
    }
    writer.define_buffer(op, result, Base::Pointer(name), Sum::default())
}

/// `buffer[index]`
fn element<'c>(
    writer: &Writer<'_>,
    op: Op<'c>,
    buffer: Val<'c>,
    indices: &[Val<'c>],
) -> PassResult<'c, Text> {
    let strides = memref::static_strides(buffer.r#type()).ok_or_else(|| unsupported(op))?;
    let place = writer.buffer(op, buffer)?;
    let Base::Pointer(name) = &place.base else {
        return Err(PassError::at(&op, "accesses a device's memory: run tir-insert-dma first"));
    };
    let mut offset = place.offset.clone();
    for (index, stride) in indices.iter().zip(strides) {
        offset = offset.plus(&writer.sum(op, *index)?.times(stride));
    }
    Ok(fill(&format!("{name}[$0]"), &[offset.text()]))
}

/// A load gets a variable, because what comes after may change the memory.
fn load<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let operands = ir::operands(op);
    let result = ir::result0(op)?;
    if ir::users(result).is_empty() {
        return Ok(());
    }
    let text = Expr::new(element(writer, op, operands[0], &operands[1..])?, Level::Atom);
    let ty = c_type(op, result.r#type())?;
    let next = op.next_in_block().filter(|next| ir::op_name(*next) == "memref.store");
    let at_once = next.is_some_and(|next| ir::operands(next)[1..].iter().all(|v| *v != result));
    let variable = match &ir::users(result)[..] {
        [user] if at_once && next.is_some_and(|next| edit::same(*user, next)) => text,
        _ => writer.constant(ty, "x", &text),
    };
    writer.know_expr(op, result, variable)
}

fn store<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let operands = ir::operands(op);
    let ty = c_type(op, operands[0].r#type())?;
    let value = signed(ty, &writer.expr(op, operands[0])?).text();
    let place = element(writer, op, operands[1], &operands[2..])?;
    writer.assign(place, value);
    Ok(())
}

/// Copies within the host's memory: at once where both sides are contiguous.
fn copy<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let [source, target] = ir::operands(op)[..] else { return Err(unsupported(op)) };
    let dims = ir::static_dims(source.r#type()).ok_or_else(|| unsupported(op))?;
    let strides =
        |value: Val<'c>| memref::static_strides(value.r#type()).ok_or_else(|| unsupported(op));
    let (from, to) = (writer.buffer(op, source)?.clone(), writer.buffer(op, target)?.clone());
    let (Base::Pointer(from_name), Base::Pointer(to_name)) = (&from.base, &to.base) else {
        return Err(PassError::at(
            &op,
            "copies to or from a device's memory: run \
             tir-insert-dma first",
        ));
    };
    if dims.contains(&0) {
        return Ok(());
    }
    let copy = Copy { names: [from_name.clone(), to_name.clone()], element: from.element };
    copy.part(writer, &dims, [&strides(source)?, &strides(target)?], [from.offset, to.offset])
}

/// Names of the source and destination of a copy, and bytes of an element.
struct Copy {
    names: [String; 2],
    element: i64,
}

impl Copy {
    /// Copies a part: a block of memory, one element, or each part along the outermost dimension.
    fn part<'c>(
        &self,
        writer: &mut Writer<'_>,
        dims: &[i64],
        strides: [&[i64]; 2],
        at: [Sum; 2],
    ) -> PassResult<'c> {
        let [from, to] = &self.names;
        let elements: i64 = dims.iter().product();
        if elements == 1 {
            let place = |name: &str, at: &Sum| fill(&format!("{name}[$0]"), &[at.text()]);
            writer.assign(place(to, &at[1]), place(from, &at[0]));
            return Ok(());
        }
        if strides.iter().all(|list| is_contiguous(dims, list)) {
            let parts = [pointer(to, &at[1], false), pointer(from, &at[0], false)];
            let bytes = elements * self.element;
            writer.line(fill(&format!("memcpy($0, $1, {bytes});"), &parts).text);
            return Ok(());
        }
        if dims[0] == 1 {
            return self.part(writer, &dims[1..], strides.map(|list| &list[1..]), at);
        }
        let bounds = [0, dims[0], 1].map(|bound| Sum::number(bound).text());
        writer.for_loop(CType::Index, bounds, |writer, name| {
            let iv = Sum::term(Text::plain(name));
            let at = [0, 1].map(|side| at[side].plus(&iv.times(strides[side][0])));
            self.part(writer, &dims[1..], strides.map(|list| &list[1..]), at)
        })
    }
}

/// True if elements lie behind each other.
fn is_contiguous(dims: &[i64], strides: &[i64]) -> bool {
    let expected = memref::row_major(dims);
    dims.iter().zip(strides).zip(expected).all(|((dim, stride), row)| *dim == 1 || *stride == row)
}

/// `name + offset`, in parentheses if asked for and needed.
pub fn pointer(name: &str, offset: &Sum, parentheses: bool) -> Text {
    if offset.as_number() == Some(0) {
        return Text::plain(name);
    }
    let mut text = Text::plain(if parentheses { "(" } else { "" });
    text.push(&format!("{name} + "));
    text.append(offset.text());
    text.push(if parentheses { ")" } else { "" });
    text
}
