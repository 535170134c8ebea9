//! The values that graphs begin and end with. Small types are computed on the way, for programs are
//! given and give none.

use super::Graph;
use crate::{
    Error, Result,
    check::{narrow, numbers, operands::Shape},
    import::constants::{elements_attribute, scalar_type, small_attribute},
    ir::{self, Op, Val, edit, func, graph, view::OpView},
    outline,
    tensor::{ElementType, Tensor},
};
use melior::ir::ValueLike;

impl<'c> Graph<'c, '_> {
    pub(super) fn finish(&mut self, value: Val<'c>) -> Result<()> {
        // Of an operation with several results, all are wanted.
        let results = outline::definer(value).map(ir::results).unwrap_or_default();
        let results = if results.is_empty() { vec![value] } else { results };
        let wide = |value: &Val<'c>| match shape_of(*value).0 {
            ElementType::Small(_) => self.cast(*value, narrow::WIDE.into()),
            ElementType::Plain(_) => Some(*value),
        };
        let widened: Option<Vec<_>> = results.iter().map(wide).collect();
        let results = widened.ok_or_else(|| Error::invalid("a result that has no wider type"))?;
        func::end(&self.b, self.function, &results)
    }

    /// An argument of the function, or a constant.
    pub(super) fn leaf(&mut self, wanted: Option<&Shape>, constant: bool) -> Option<Val<'c>> {
        let (dtype, dims) = wanted.cloned().unwrap_or((ElementType::F32, vec![1]));
        let stored = matches!(dtype, ElementType::Small(small) if !narrow::is_whole_bytes(small));
        if constant || stored {
            let tensor = numbers::data(dtype, &dims, self.sampler)?;
            return self.constant(tensor, dtype);
        }
        let given = if dtype.plain().is_some() { dtype } else { narrow::WIDE.into() };
        let element = scalar_type(self.b.context, given.mlir_name())?;
        let ty = self.b.tensor(&dims, element);
        self.arguments += 1;
        let value = edit::add_argument(self.b.block(), ty, self.b.location);
        if given == dtype { Some(value) } else { self.cast(value, dtype) }
    }

    /// A program is given and gives no small types: they are computed on the way.
    pub(super) fn cast(&self, value: Val<'c>, dtype: ElementType) -> Option<Val<'c>> {
        let element = scalar_type(self.b.context, dtype.mlir_name())?;
        let cast = graph::Cast::build(&self.b, value, element, graph::CastAttrs::default());
        cast.ok().map(graph::Cast::y)
    }

    pub(super) fn constant(&mut self, tensor: Tensor, dtype: ElementType) -> Option<Val<'c>> {
        let small = match dtype {
            ElementType::Plain(_) => None,
            ElementType::Small(small) => Some(small),
        };
        let stored = dtype.plain().unwrap_or(narrow::STORED);
        let tensor =
            if tensor.dtype() == stored { tensor } else { Tensor::zeros(stored, &[]).ok()? };
        let value = match small {
            None => elements_attribute(self.b.context, &tensor, "data")?,
            Some(small) => small_attribute(self.b.context, small, &tensor, "data")?,
        };
        let element = scalar_type(self.b.context, dtype.mlir_name())?;
        let dims: Vec<i64> = tensor.shape().iter().map(|dim| *dim as i64).collect();
        let ty = self.b.tensor(&dims, element);
        self.b.op1_with(graph::Constant::NAME, &[], ty, vec![("value", value)]).ok()
    }
}

/// The operation that a graph of [`generate`] ends with; behind it that in front of what widens its
/// results, if something does.
pub fn last(main: Op<'_>) -> Vec<Op<'_>> {
    let Some(block) = edit::entry_block(main) else { return vec![] };
    let widens = |op: &Op<'_>| {
        graph::Cast::of(*op)
            .is_some_and(|cast| matches!(shape_of(cast.x()).0, ElementType::Small(_)))
    };
    let all = ir::ops(block);
    let mut back = all.iter().rev().skip(1).copied();
    let Some(end) = back.next() else { return vec![] };
    let before = widens(&end).then(|| back.find(|op| !widens(op))).flatten();
    std::iter::once(end).chain(before).collect()
}

pub fn shape_of(value: Val<'_>) -> Shape {
    let ty = value.r#type();
    let name = ir::element_type(ty).to_string();
    let dtype = ElementType::from_mlir_name(&name).unwrap_or(ElementType::F32);
    (dtype, ir::dims(ty))
}
