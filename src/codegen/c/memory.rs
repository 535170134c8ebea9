//! Buffers: where they are, and reading, writing and copying them.

use super::{
    control::for_loop,
    expression::{Sum, Text},
    scalar::{CType, Expr, Level, fill},
    writer::{Failure, Writer, c_type, key, line, literal, unsupported},
};
use crate::{
    ir::{self, Builder, Op, Val, edit, func, memref},
    package::c_identifier,
    pass::PassError,
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Where a buffer is.
#[derive(Clone, Debug)]
pub enum Base {
    /// In the host's memory, behind a pointer variable to its elements.
    Pointer(String),
    /// In a device's memory, so many bytes from its start.
    Space(i64),
}

/// A buffer: a place so many elements behind its base.
#[derive(Clone, Debug)]
pub struct Buffer<'c> {
    /// Where it is.
    pub base: Base,
    /// In elements.
    pub offset: Sum<'c>,
    /// Bytes of an element.
    pub element: i64,
}

/// The name in C of a constant of the module.
pub fn constant_name(symbol: &str) -> String {
    c_identifier(symbol.trim_start_matches('_'))
}

/// Writes an operation on buffers; false for any other operation.
pub fn write<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c, bool> {
    match ir::op_name(op) {
        "tir.buffer" => {
            let at = ir::attr_i64(op, "offset").unwrap_or_default();
            writer.define_buffer(op, ir::result0(op), Base::Space(at), Sum::default())?;
        }
        "memref.view" => view(writer, b, op)?,
        "memref.subview" | "memref.reinterpret_cast" => part(writer, op)?,
        "memref.cast" | "memref.collapse_shape" | "memref.expand_shape" | "memref.transpose" => {
            let source = writer.buffer(op, op.operand(0)?)?.clone();
            writer.buffers.insert(key(ir::result0(op)), source);
        }
        "memref.copy" => {
            writer.note(b, op)?;
            copy(writer, b, op)?;
        }
        "memref.load" => load(writer, b, op)?,
        "memref.store" => {
            writer.note(b, op)?;
            store(writer, b, op)?;
        }
        "memref.alloca" => local(writer, b, op)?,
        "memref.get_global" => {
            let symbol = func::symbol_ref(op, "name").unwrap_or_default();
            let base = Base::Pointer(constant_name(&symbol));
            writer.define_buffer(op, ir::result0(op), base, Sum::default())?;
        }
        "memref.assume_alignment" => {
            let source = writer.buffer(op, op.operand(0)?)?.clone();
            writer.buffers.insert(key(ir::result0(op)), source);
        }
        "memref.alloc" | "memref.dealloc" => {
            return Err(PassError::at(&op, "has no planned place: run plan-memory first"));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

impl<'c> Writer<'c> {
    /// The place that a buffer is.
    pub fn buffer(&self, op: Op<'c>, value: Val<'c>) -> Failure<'c, &Buffer<'c>> {
        self.buffers.get(&key(value)).ok_or_else(|| {
            PassError::at(&op, format!("has a buffer {} with no place in C", value.r#type()))
        })
    }

    /// Says where a buffer is.
    pub fn define_buffer(
        &mut self,
        op: Op<'c>,
        value: Val<'c>,
        base: Base,
        offset: Sum<'c>,
    ) -> Failure<'c> {
        let element = c_type(op, ir::element_type(value.r#type()))?.bytes();
        self.buffers.insert(key(value), Buffer { base, offset, element });
        Ok(())
    }
}

/// A part of a buffer: its start moves by whole elements.
fn part<'c>(writer: &mut Writer<'c>, op: Op<'c>) -> Failure<'c> {
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
    writer.define_buffer(op, ir::result0(op), source.base, offset)
}

/// A typed buffer in a block of bytes gets a variable.
fn view<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    let result = ir::result0(op);
    let source = writer.buffer(op, op.operand(0)?)?.clone();
    let shift = writer.sum(op, op.operand(1)?)?;
    let Base::Pointer(name) = &source.base else { return Err(unsupported(op)) };
    let element = c_type(op, ir::element_type(result.r#type()))?.name();
    let variable = writer.name("t");
    let constant = if writer.is_constant(name) { "const " } else { "" };
    if !constant.is_empty() {
        writer.constants.insert(variable.clone());
    }
    if !ir::users(result).is_empty() {
        let mut text =
            Text::plain(format!("{constant}{element} *const {variable} = ({constant}{element} *)"));
        text.append(pointer(name, &source.offset.plus(&shift), true));
        text.push(";");
        line(b, text)?;
    }
    writer.define_buffer(op, result, Base::Pointer(variable), Sum::default())
}

/// Memory on the stack.
fn local<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    let result = ir::result0(op);
    let dims = ir::static_dims(result.r#type()).ok_or_else(|| unsupported(op))?;
    let element = c_type(op, ir::element_type(result.r#type()))?.name();
    let name = writer.name("local");
    // C has no arrays without elements.
    let size = dims.iter().product::<i64>().max(1);
    if !ir::users(result).is_empty() {
        line(b, Text::plain(format!("{element} {name}[{size}];")))?;
    }
    writer.define_buffer(op, result, Base::Pointer(name), Sum::default())
}

/// `buffer[index]`
fn element<'c>(
    writer: &Writer<'c>,
    op: Op<'c>,
    buffer: Val<'c>,
    indices: &[Val<'c>],
) -> Failure<'c, Text<'c>> {
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
fn load<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    let operands = ir::operands(op);
    let result = ir::result0(op);
    if ir::users(result).is_empty() {
        return Ok(());
    }
    let text = Expr::new(element(writer, op, operands[0], &operands[1..])?, Level::Atom);
    let ty = c_type(op, result.r#type())?;
    let next = op.next_in_block().filter(|next| ir::op_name(*next) == "memref.store");
    let at_once = next.is_some_and(|next| ir::operands(next)[1..].iter().all(|v| *v != result));
    let variable = match &ir::users(result)[..] {
        [user] if at_once && next.is_some_and(|next| edit::same(*user, next)) => text,
        _ => writer.variable(b, ty, "x", &text, true)?,
    };
    let scalar = match ty {
        CType::Index => super::writer::Scalar::Sum(Sum::term(variable.text())),
        _ => super::writer::Scalar::Expr(variable),
    };
    writer.know(result, scalar);
    Ok(())
}

fn store<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    let operands = ir::operands(op);
    let value = writer.expr(op, operands[0])?.text();
    let place = element(writer, op, operands[1], &operands[2..])?;
    line(b, fill("$0 = $1;", &[place, value]))
}

/// Copies within the host's memory: at once where both sides are contiguous.
fn copy<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
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
    copy.part(b, &dims, [&strides(source)?, &strides(target)?], [from.offset, to.offset])
}

/// What is copied from where to where.
struct Copy {
    names: [String; 2],
    element: i64,
}

impl Copy {
    /// Copies a part: a block of memory, one element, or each part along the outermost dimension.
    fn part<'c>(
        &self,
        b: &Builder<'c>,
        dims: &[i64],
        strides: [&[i64]; 2],
        at: [Sum<'c>; 2],
    ) -> Failure<'c> {
        let [from, to] = &self.names;
        let elements: i64 = dims.iter().product();
        if elements == 1 {
            let text = format!("{to}[$0] = {from}[$1];");
            return line(b, fill(&text, &[at[1].text(), at[0].text()]));
        }
        if strides.iter().all(|list| is_contiguous(dims, list)) {
            let mut text = Text::plain("memcpy(");
            text.append(pointer(to, &at[1], false));
            text.push(", ");
            text.append(pointer(from, &at[0], false));
            text.push(&format!(", {});", elements * self.element));
            return line(b, text);
        }
        if dims[0] == 1 {
            return self.part(b, &dims[1..], strides.map(|list| &list[1..]), at);
        }
        let ty = b.parse_type("!emitc.ptrdiff_t")?;
        let bounds =
            [literal(b, "0", ty)?, literal(b, &dims[0].to_string(), ty)?, literal(b, "1", ty)?];
        for_loop(b, ty, bounds, |b, iv| {
            let iv = Sum::term(Text::value(iv));
            let at = [0, 1].map(|side| at[side].plus(&iv.times(strides[side][0])));
            self.part(b, &dims[1..], strides.map(|list| &list[1..]), at)
        })
    }
}

/// Whether elements lie behind each other.
fn is_contiguous(dims: &[i64], strides: &[i64]) -> bool {
    let expected = memref::row_major(dims);
    dims.iter().zip(strides).zip(expected).all(|((dim, stride), row)| *dim == 1 || *stride == row)
}

/// `name + offset`, in parentheses if asked for and needed.
pub fn pointer<'c>(name: &str, offset: &Sum<'c>, parentheses: bool) -> Text<'c> {
    if offset.as_number() == Some(0) {
        return Text::plain(name);
    }
    let mut text = Text::plain(if parentheses { "(" } else { "" });
    text.push(&format!("{name} + "));
    text.append(offset.text());
    text.push(if parentheses { ")" } else { "" });
    text
}
