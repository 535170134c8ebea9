//! Composites that become calls of C functions: their arguments, and their tensors in the layouts
//! that the functions want.
//!
//! A composite whose prototype says `in x as nhwc` takes `transpose(x)`; its decomposition starts
//! with the transpose back, so that it still means the same. [`cancel`] removes what two
//! neighbours do and undo.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val,
        call_extern::{Group, arg_attr},
        edit, elements,
    },
    pattern::{BoundArg, BoundCall, CType, Layout},
    tensor::{AlignedBuffer, BUFFER_ALIGN, DType},
};
use melior::ir::{
    Attribute, Type, ValueLike,
    attribute::{DenseI64ArrayAttribute, FloatAttribute, IntegerAttribute},
    operation::OperationLike,
};

use super::{composite::make_composite, definer, replace_uses};

/// What calls the composites of a function make, and the transposes that they need.
#[derive(Default)]
pub struct Calls<'c> {
    /// Whether headers declare the functions.
    pub has_headers: bool,
    /// Transposes outside of composites.
    pub transposes: Vec<Op<'c>>,
    /// Transposed constants: the original, the permutation, the new value.
    constants: Vec<(Val<'c>, Vec<usize>, Val<'c>)>,
}

/// The parts of the attribute `config` of a composite that is called.
pub mod config {
    /// The C function.
    pub const CALLEE: &str = "callee";
    /// Its arguments, as `tir.call_extern` has them.
    pub const ARGS: &str = "args";
    /// For each `ins`, which operand of the composite it is, or -1 for the next of `consts`.
    pub const INS: &str = "ins";
    /// For each `outs`, which result of the composite it is.
    pub const OUTS: &str = "outs";
    /// Constant arrays.
    pub const CONSTS: &str = "consts";
    /// The declaration of the function, where no header has it.
    pub const PROTOTYPE: &str = "prototype";
    /// Bytes of working memory.
    pub const SCRATCH: &str = "scratch_bytes";
    /// Present if the function takes the device.
    pub const DEVICE: &str = "with_device";
    /// Present if the function returns a status.
    pub const STATUS: &str = "returns_status";
}

/// A match as operations and values of the IR.
pub struct Found<'c, 'a> {
    /// Operations in block order.
    pub ops: Vec<Op<'c>>,
    /// The current value of an input of the match.
    pub input: &'a dyn Fn(crate::partition::graph::ValueId) -> Result<Val<'c>>,
    /// The outputs of the match.
    pub outputs: Vec<Val<'c>>,
}

impl<'c> Calls<'c> {
    /// Makes the composite of a match that becomes this call.
    pub fn make(
        &mut self,
        name: &str,
        target: &str,
        found: Found<'c, '_>,
        call: &BoundCall,
    ) -> Result<Op<'c>> {
        let mut maker = Maker { calls: self, found, ins: vec![], outs: vec![], consts: vec![] };
        let args = call.args.iter().map(|arg| maker.argument(arg)).collect::<Result<Vec<_>>>()?;
        let Maker { found, ins, outs, consts, .. } = maker;
        let composite = make_composite(name, target, &found.ops, vec![])?;
        let b = Builder::before(composite)?;
        let operands = ir::operands(composite);
        let place = |value: &Option<Val<'c>>| match value {
            None => Ok(-1),
            Some(value) => operands
                .iter()
                .position(|operand| operand == value)
                .map(|place| place as i64)
                .ok_or_else(|| Error::internal("an input of a call is none of its match")),
        };
        let ins = ins.iter().map(place).collect::<Result<Vec<_>>>()?;
        let results = ir::results(composite);
        let outs =
            outs.iter().map(|user| output_place(&results, *user)).collect::<Result<Vec<_>>>()?;
        let list = |values: &[i64]| -> Attribute<'c> {
            DenseI64ArrayAttribute::new(b.context, values).into()
        };
        let array = |values: &[Attribute<'c>]| -> Attribute<'c> {
            melior::ir::attribute::ArrayAttribute::new(b.context, values).into()
        };
        let mut fields = vec![
            (config::CALLEE.to_owned(), b.str_attr(&call.symbol)),
            (config::ARGS.to_owned(), array(&args)),
            (config::INS.to_owned(), list(&ins)),
            (config::OUTS.to_owned(), list(&outs)),
            (config::CONSTS.to_owned(), array(&consts)),
            (config::SCRATCH.to_owned(), b.i64_attr(call.scratch)),
        ];
        for (name, set) in [(config::DEVICE, call.device), (config::STATUS, call.status)] {
            if set {
                fields.push((name.to_owned(), Attribute::unit(b.context)));
            }
        }
        if let Some(prototype) = call.prototype.as_ref().filter(|_| !self.has_headers) {
            fields.push((config::PROTOTYPE.to_owned(), b.str_attr(prototype)));
        }
        edit::set_attr(composite, "config", edit::dictionary_attr(b.context, &fields));
        Ok(composite)
    }

    fn constant(&mut self, value: Val<'c>, layout: &Layout) -> Result<Option<Val<'c>>> {
        let Some(op) = definer(value).filter(|op| ir::op_name(*op) == "graph.constant") else {
            return Ok(None);
        };
        let known = self
            .constants
            .iter()
            .find(|(other, permutation, _)| *other == value && *permutation == layout.permutation);
        if let Some((.., made)) = known {
            return Ok(Some(*made));
        }
        let b = Builder::before(op)?;
        let ty = value.r#type();
        let attribute = op.attribute("value")?;
        let bytes = elements::bytes(attribute)?;
        let dims = ir::dims(ty);
        let count = dims.iter().product::<i64>().max(0) as usize;
        let moved = transpose(&bytes, &dims, &layout.permutation, bytes.len() / count.max(1));
        let data = AlignedBuffer::copy_of(&moved)?;
        let ty = permuted(&b, ty, &layout.permutation);
        let attribute = elements::resource(ty, "transposed", data, BUFFER_ALIGN)?;
        let made = b.op1_with("graph.constant", &[], ty, vec![("value", attribute)])?;
        self.constants.push((value, layout.permutation.clone(), made));
        Ok(Some(made))
    }
}

struct Maker<'c, 'a, 'm> {
    calls: &'m mut Calls<'c>,
    found: Found<'c, 'a>,
    /// Values that become operands of the composite; none for a constant array.
    ins: Vec<Option<Val<'c>>>,
    /// For each output, a use of it outside of the composite.
    outs: Vec<Outside<'c>>,
    consts: Vec<Attribute<'c>>,
}

/// An output, by what uses it outside of the match.
#[derive(Clone, Copy)]
enum Outside<'c> {
    /// The operation that transposes it back.
    Transpose(Op<'c>),
    /// An operand of any operation.
    Use(Op<'c>, usize),
}

impl<'c> Maker<'c, '_, '_> {
    fn argument(&mut self, arg: &BoundArg) -> Result<Attribute<'c>> {
        let first = *self.found.ops.first().ok_or_else(|| Error::internal("an empty match"))?;
        let b = Builder::before(first)?;
        let context = b.context;
        let push = |ins: &mut Vec<_>, value| {
            ins.push(value);
            arg_attr(context, Group::Ins, ins.len() - 1)
        };
        Ok(match arg {
            BoundArg::In(None, _) => b.parse_attr("#tir.name<\"NULL\">")?,
            BoundArg::In(Some(id), layout) => {
                let value = (self.found.input)(*id)?;
                let value = match layout.as_ref().filter(|layout| !layout.is_identity()) {
                    Some(layout) => self.input(&b, value, layout)?,
                    None => value,
                };
                push(&mut self.ins, Some(value))
            }
            BoundArg::Out(place, layout) => {
                let value = self.found.outputs[*place];
                let outside = match layout.as_ref().filter(|layout| !layout.is_identity()) {
                    Some(layout) => self.output(value, layout)?,
                    None => outside_use(value, &self.found.ops)
                        .map(|(user, place)| Outside::Use(user, place))
                        .ok_or_else(|| Error::internal("an output without use"))?,
                };
                self.outs.push(outside);
                arg_attr(context, Group::Outs, self.outs.len() - 1)
            }
            BoundArg::Int(ty, value) => integer(&b, *ty, *value),
            BoundArg::Float(ty, value) => {
                let double = matches!(ty, Some(CType::Scalar(DType::F64)));
                let ty = if double { b.f64() } else { b.f32() };
                FloatAttribute::new(context, ty, *value).into()
            }
            BoundArg::Name(name) => b.parse_attr(&format!("#tir.name<{name:?}>"))?,
            BoundArg::Const(dtype, values) => {
                self.consts.push(array(&b, *dtype, values)?);
                push(&mut self.ins, None)
            }
            BoundArg::Struct(name, fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.argument(value)?)))
                    .collect::<Result<Vec<_>>>()?;
                let fields = edit::dictionary_attr(context, &fields).to_string();
                b.parse_attr(&format!("#tir.struct<{name:?}, {fields}>"))?
            }
            BoundArg::Scratch => arg_attr(context, Group::Scratch, 0),
        })
    }

    /// The transposed input; the operations of the match get it back as it was.
    fn input(&mut self, b: &Builder<'c>, value: Val<'c>, layout: &Layout) -> Result<Val<'c>> {
        let moved = match self.calls.constant(value, layout)? {
            Some(constant) => constant,
            None => {
                let moved = transposed(b, value, &layout.permutation)?;
                self.calls.transposes.extend(definer(moved));
                moved
            }
        };
        let back = transposed(b, moved, &layout.inverse())?;
        for op in &self.found.ops {
            super::remap_operands(*op, &[value], &[back]);
        }
        self.found.ops.extend(definer(back));
        // The transpose back stands before all others, but is last in the list: in block order.
        self.found.ops.rotate_right(1);
        Ok(moved)
    }

    /// Transposes an output inside of the match, and back outside of it.
    fn output(&mut self, value: Val<'c>, layout: &Layout) -> Result<Outside<'c>> {
        let last = *self.found.ops.last().ok_or_else(|| Error::internal("an empty match"))?;
        let b = builder_after(last)?;
        let moved = transposed(&b, value, &layout.permutation)?;
        let back = transposed(&b, moved, &layout.inverse())?;
        for user in ir::users(value) {
            let inside = self.found.ops.iter().any(|op| edit::same(*op, user));
            let ours = definer(moved).is_some_and(|op| edit::same(op, user));
            if !inside && !ours {
                super::remap_operands(user, &[value], &[back]);
            }
        }
        let op = definer(back).ok_or_else(|| Error::internal("a transpose without operation"))?;
        self.found.ops.extend(definer(moved));
        self.calls.transposes.push(op);
        Ok(Outside::Transpose(op))
    }
}

/// An operation outside of `ops` that uses a value, and which operand it is.
pub fn outside_use<'c>(value: Val<'c>, ops: &[Op<'c>]) -> Option<(Op<'c>, usize)> {
    let inside = |user: Op<'c>| ops.iter().any(|op| edit::same(*op, user));
    let user = ir::users(value).into_iter().find(|user| !inside(*user))?;
    let place = ir::operands(user).iter().position(|operand| *operand == value)?;
    Some((user, place))
}

/// Which result of a composite an operation outside uses.
fn output_place<'c>(results: &[Val<'c>], outside: Outside<'c>) -> Result<i64> {
    let used = match outside {
        Outside::Transpose(op) => ir::operands(op).first().copied(),
        Outside::Use(op, place) => ir::operands(op).get(place).copied(),
    };
    let place = used.and_then(|used| results.iter().position(|result| *result == used));
    place.map(|place| place as i64).ok_or_else(|| Error::internal("an output of a call is lost"))
}

/// Removes transposes that undo another one of the list, and those that nothing uses.
pub fn cancel<'c>(transposes: &mut Vec<Op<'c>>) {
    let permutation = |op: Op<'_>| ir::attr_i64s(op, "perm").unwrap_or_default();
    for op in transposes.iter().copied() {
        let Some(source) = ir::operands(op).first().copied() else { continue };
        let Some(before) = definer(source).filter(|op| ir::op_name(*op) == "graph.transpose")
        else {
            continue;
        };
        let (first, second) = (permutation(before), permutation(op));
        let undone = second.iter().enumerate().all(|(place, dim)| {
            usize::try_from(*dim).ok().and_then(|dim| first.get(dim)) == Some(&(place as i64))
        });
        if undone && let Some(original) = ir::operands(before).first() {
            replace_uses(ir::result0(op), *original);
        }
    }
    // Later ones use earlier ones: from the back, so that chains go at once.
    loop {
        let count = transposes.len();
        transposes.retain(|op| {
            let used = !ir::users(ir::result0(*op)).is_empty();
            if !used {
                edit::erase(*op);
            }
            used
        });
        if transposes.len() == count {
            return;
        }
    }
}

/// The transposes that belong to a region: those between two of its operations.
pub fn within<'c>(region: &[Op<'c>], transposes: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut all = region.to_vec();
    let has = |all: &[Op<'c>], op: Op<'c>| all.iter().any(|other| edit::same(*other, op));
    loop {
        let found = transposes.iter().copied().find(|op| {
            let source = ir::operands(*op).first().copied().and_then(definer);
            let users = ir::users(ir::result0(*op));
            !has(&all, *op)
                && source.is_some_and(|source| has(&all, source))
                && users.iter().any(|user| has(&all, *user))
        });
        match found {
            Some(op) => all.push(op),
            None => return all,
        }
    }
}

fn builder_after<'c>(op: Op<'c>) -> Result<Builder<'c>> {
    match op.next_in_block() {
        // SAFETY: the next operation lives as long as the block.
        Some(next) => {
            Ok(Builder::before(unsafe { Op::from_raw(next.to_raw()) })?
                .with_location(op.location()))
        }
        None => Err(Error::internal("a match at the end of a block")),
    }
}

fn permuted<'c>(b: &Builder<'c>, ty: Type<'c>, permutation: &[usize]) -> Type<'c> {
    let dims = ir::dims(ty);
    let dims: Vec<i64> = permutation.iter().map(|dim| dims[*dim]).collect();
    b.tensor(&dims, ir::element_type(ty))
}

fn transposed<'c>(b: &Builder<'c>, value: Val<'c>, permutation: &[usize]) -> Result<Val<'c>> {
    let ty = permuted(b, value.r#type(), permutation);
    let perm: Vec<i64> = permutation.iter().map(|dim| *dim as i64).collect();
    b.op1_with("graph.transpose", &[value], ty, vec![("perm", b.i64s_attr(&perm))])
}

/// The elements of a row-major tensor in another order of dimensions.
fn transpose(bytes: &[u8], dims: &[i64], permutation: &[usize], width: usize) -> Vec<u8> {
    let sizes: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
    let mut strides = vec![1_usize; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    let mut moved = Vec::with_capacity(bytes.len());
    let mut index = vec![0_usize; sizes.len()];
    let count: usize = sizes.iter().product();
    for _ in 0..count {
        let at: usize =
            index.iter().zip(permutation).map(|(place, dim)| place * strides[*dim]).sum();
        moved.extend_from_slice(&bytes[at * width..(at + 1) * width]);
        for place in (0..index.len()).rev() {
            index[place] += 1;
            if index[place] < sizes[permutation[place]] {
                break;
            }
            index[place] = 0;
        }
    }
    moved
}

fn integer<'c>(b: &Builder<'c>, ty: Option<CType>, value: i64) -> Attribute<'c> {
    let bits = match ty {
        Some(CType::Scalar(dtype)) => dtype.size() as u32 * 8,
        Some(CType::Size) => 64,
        None if i32::try_from(value).is_ok() => 32,
        None => 64,
    };
    IntegerAttribute::new(b.int(bits), value).into()
}

/// A constant array as a `dense_resource`.
fn array<'c>(b: &Builder<'c>, dtype: DType, values: &[f64]) -> Result<Attribute<'c>> {
    let mut bytes = vec![];
    for value in values {
        let int = *value as i64;
        match dtype {
            DType::F32 => bytes.extend((*value as f32).to_ne_bytes()),
            DType::F64 => bytes.extend(value.to_ne_bytes()),
            DType::U64 => bytes.extend((*value as u64).to_ne_bytes()),
            _ => bytes.extend(&int.to_le_bytes()[..dtype.size()]),
        }
    }
    let element = match dtype {
        DType::F32 => b.f32(),
        DType::F64 => b.f64(),
        _ => b.int(dtype.size() as u32 * 8),
    };
    let ty = b.tensor(&[values.len() as i64], element);
    elements::resource(ty, "argument", AlignedBuffer::copy_of(&bytes)?, BUFFER_ALIGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_transposed_as_numpy_does() {
        let bytes: Vec<u8> = (0..6).collect();
        assert_eq!(transpose(&bytes, &[2, 3], &[1, 0], 1), [0, 3, 1, 4, 2, 5]);
        assert_eq!(transpose(&bytes, &[1, 3, 2], &[2, 0, 1], 1), [0, 2, 4, 1, 3, 5]);
        assert_eq!(transpose(&bytes, &[3], &[0], 2), [0, 1, 2, 3, 4, 5]);
    }
}
