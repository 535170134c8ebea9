//! The plan of a match whose call is computed tile by tile.

use super::{Dim, Tile, dma::MAX_DIMS};
use crate::{
    expr::{Expr, ExprKind, Val},
    graph::{Evaluator, Facts, ValueId},
    pattern::{
        CallProto, Layout, Param, Pattern,
        call::BlockPart,
        found::{Match, MatchScope},
    },
    tensor::ElementType,
    tile::{
        TileRef,
        choose::Chooser,
        pieces::Piece,
        plan::{self, Plan},
        value::value,
    },
};

/// Makes the plan of one match.
pub(in crate::pattern) struct Binder<'a> {
    tile: &'a Tile,
    pattern: &'a Pattern,
    found: &'a Match,
    facts: Facts<'a>,
    /// The plan, as far as it is made.
    pub plan: Plan,
    /// How many tensors are read.
    reads: usize,
}

impl<'a> Binder<'a> {
    /// Starts with loops and tensors; arguments come one by one.
    pub fn new(
        tile: &'a Tile,
        pattern: &'a Pattern,
        (found, facts): (&'a Match, Facts<'a>),
        call: &CallProto,
    ) -> Result<Self, String> {
        let dma = &tile.spec.pool.dma;
        let plan = Plan {
            pool: plan::Pool {
                name: crate::artifact::c_identifier(&tile.spec.pool.name),
                bytes: 0,
                base: if tile.keeps_start { tile.spec.pool.alignment } else { 0 },
                alignment: tile.spec.pool.alignment,
                dma: plan::Dma {
                    channels: dma.channels,
                    dims: dma.dims,
                    double_buffer: false,
                    load: dma.load.clone(),
                    store: dma.store.clone(),
                    wait: dma.wait.clone(),
                    cost: dma.cost.clone(),
                },
            },
            loops: vec![],
            tensors: vec![],
            args: vec![],
            cost: None,
        };
        let mut binder = Self { tile, pattern, found, facts, plan, reads: 0 };
        let overlaps = matches!(binder.eval(&tile.double_buffer)?, Val::Bool(true));
        binder.plan.pool.dma.double_buffer = overlaps && dma.wait.is_some();
        binder.plan.pool.bytes = binder.number(&tile.pool_bytes)? - binder.plan.pool.base;
        binder.loops()?;
        binder.tensors(call)?;
        if let Some(cost) = &tile.cost {
            binder.plan.cost = binder.folded(cost)?.map(|cost| cost.to_string());
        }
        Ok(binder)
    }

    fn eval(&self, expr: &Expr) -> Result<Val, String> {
        let scope = MatchScope { pattern: self.pattern, found: self.found };
        match Evaluator::new(self.facts, &scope).eval(expr) {
            Val::Unknown(reason) => Err(format!("`{expr}` is not known: {reason}")),
            value => Ok(value),
        }
    }

    fn number(&self, expr: &Expr) -> Result<i64, String> {
        match self.eval(expr)? {
            Val::Int(number) => Ok(number),
            Val::Absent => Ok(0),
            other => Err(format!("`{expr}` is {other}, which is no integer")),
        }
    }

    fn loops(&mut self) -> Result<(), String> {
        for (spec, l) in self.tile.spec.loops.iter().zip(&self.tile.loops) {
            let number = |expr: &Option<Expr>, usual| {
                expr.as_ref().map_or(Ok(usual), |expr| self.number(expr))
            };
            let made = plan::Loop {
                name: spec.name.clone(),
                extent: self.number(&l.extent)?,
                multiple: number(&l.multiple, 1)?,
                max: number(&l.max, 0)?,
                reduce: spec.reduce,
                windows: vec![],
            };
            if made.extent < 1 || made.multiple < 1 || made.max < 0 {
                return Err(format!(
                    "loop '{}' has {} positions in multiples of {}",
                    made.name, made.extent, made.multiple
                ));
            }
            let least = crate::tile::choose::least(&made);
            if made.max > 0 && least > made.max {
                return Err(format!(
                    "loop '{}' is cut in pieces of {least}, and may have {} at most",
                    made.name, made.max
                ));
            }
            self.plan.loops.push(made);
        }
        Ok(())
    }

    fn tensors(&mut self, call: &CallProto) -> Result<(), String> {
        let params: Vec<&Param> = call.params.iter().flat_map(Param::flat).collect();
        for param in &params {
            if let Param::In { capture, layout, .. } = param
                && let Some(value) = self.found.capture(capture).and_then(|bound| bound.value)
            {
                let tensor = self.tensor(capture, value, layout.as_ref())?;
                self.plan.tensors.push(tensor);
            }
        }
        self.reads = self.plan.tensors.len();
        let mut outputs = self.found.outputs.iter().copied();
        for param in &params {
            if let Param::Out { name, layout } = param {
                let captured = self.found.capture(name).and_then(|bound| bound.value);
                let value = captured.or_else(|| outputs.next());
                let value = value.ok_or_else(|| format!("'{name}' is no output of the match"))?;
                let tensor = self.tensor(name, value, layout.as_ref())?;
                self.plan.tensors.push(tensor);
            }
        }
        Ok(())
    }

    fn tensor(
        &mut self,
        name: &str,
        value: ValueId,
        layout: Option<&Layout>,
    ) -> Result<plan::Tensor, String> {
        let ty = &self.facts.graph.value(value).ty;
        let shape: Option<Vec<i64>> = ty.shape.iter().copied().collect();
        let mut shape = shape.ok_or_else(|| format!("'{name}' has a dynamic shape"))?;
        let bits = ty.dtype.map(ElementType::bits).filter(|bits| bits % 8 == 0);
        let element = bits.map(|bits| bits as i64 / 8).ok_or_else(|| {
            format!(
                "'{name}' is {ty}, whose elements do not have bytes of their own: no tile of it"
            )
        })?;
        if matches!(layout, Some(Layout::Flat)) {
            shape = vec![shape.iter().product()];
        }
        let place = self.tile.spec.tensors.iter().position(|(other, _)| other == name);
        let declared = &self.tile.tensors[place.ok_or_else(|| format!("'{name}' has no tile"))?];
        if declared.len() != shape.len() {
            return Err(format!(
                "'{name}' has {} dimensions, its tile {}",
                shape.len(),
                declared.len()
            ));
        }
        let mut dims = vec![];
        for (index, (dim, size)) in declared.iter().zip(&shape).enumerate() {
            dims.push(self.dim((name, index), dim, *size)?);
        }
        let dims = match layout {
            Some(Layout::Permuted(layout)) => {
                layout.permutation.iter().map(|dim| dims[*dim].clone()).collect()
            }
            Some(Layout::Blocked(parts)) => self.blocked(name, parts, &dims)?,
            Some(Layout::Flat) | None => dims,
        };
        let most = self.plan.pool.dma.dims;
        // A dimension that is not cut is adjacent to the one before it, on both sides.
        let cut = dims.iter().skip(1).filter(|dim: &&plan::Dim| dim.cut >= 0).count() as i64;
        if 1 + cut > most || dims.len() > MAX_DIMS {
            return Err(format!(
                "a tile of '{name}' has {} dimensions, a transfer to '{}' {most} at most",
                1 + cut,
                self.plan.pool.name
            ));
        }
        Ok(plan::Tensor { name: name.to_owned(), element, dims })
    }

    fn dim(
        &mut self,
        (name, index): (&str, usize),
        dim: &Dim,
        size: i64,
    ) -> Result<plan::Dim, String> {
        if size < 1 {
            return Err(format!("'{name}' has no elements"));
        }
        Ok(match dim {
            Dim::Whole => plan::Dim::whole(size),
            Dim::Loop(place) => {
                let l = &self.plan.loops[*place];
                if l.extent != size {
                    return Err(format!(
                        "dimension {index} of '{name}' has {size} positions, loop '{}' {}",
                        l.name, l.extent
                    ));
                }
                plan::Dim { size, cut: *place as i64, divisor: 1, window: -1 }
            }
            Dim::Window(place, numbers) => {
                let [kernel, stride, dilation, pad] =
                    [0, 1, 2, 3].map(|i| self.number(&numbers[i]));
                let window = plan::Window {
                    tensor: name.to_owned(),
                    dim: index as i64,
                    input: size,
                    kernel: kernel?,
                    stride: stride?,
                    dilation: dilation?,
                    pad: pad?,
                };
                let least = window.kernel.min(window.stride).min(window.dilation);
                if least < 1 || window.pad < 0 {
                    return Err(format!(
                        "the window of '{name}' has kernel {}, stride {}, dilation {}, pad {}",
                        window.kernel, window.stride, window.dilation, window.pad
                    ));
                }
                let windows = &mut self.plan.loops[*place].windows;
                windows.push(window);
                let window = windows.len() as i64 - 1;
                plan::Dim { size, cut: *place as i64, divisor: 1, window }
            }
        })
    }

    /// The dimensions of a constant in blocks. Those at the end that are never cut are one.
    fn blocked(
        &self,
        name: &str,
        parts: &[BlockPart],
        dims: &[plan::Dim],
    ) -> Result<Vec<plan::Dim>, String> {
        let mut made: Vec<plan::Dim> = vec![];
        for part in parts {
            let missing =
                || format!("'{name}' has {} dimensions, not those of its layout", dims.len());
            let dim = dims.get(part.dim()).ok_or_else(missing)?;
            let block = |block: &Expr| self.number(block);
            let new = match part {
                BlockPart::Whole(_) => dim.clone(),
                BlockPart::Inner(_, size) => plan::Dim::whole(block(size)?),
                BlockPart::Outer(_, size) => {
                    let divisor = block(size)?;
                    if divisor < 1 {
                        return Err(format!("'{name}' has blocks of {divisor}"));
                    }
                    let multiple =
                        dim.loop_place().map_or(divisor, |l| self.plan.loops[l].multiple);
                    if multiple % divisor != 0 || dim.window >= 0 {
                        return Err(format!(
                            "'{name}' is in blocks of {divisor}, but its tiles are multiples of \
                             {multiple}"
                        ));
                    }
                    plan::Dim { size: (dim.size + divisor - 1) / divisor, divisor, ..dim.clone() }
                }
            };
            match made.last_mut() {
                Some(last) if last.cut < 0 && new.cut < 0 => last.size *= new.size,
                _ => made.push(new),
            }
        }
        Ok(made)
    }

    /// An expression with numbers for all but what differs from tile to tile; none if it depends on
    /// a part that the match does not have.
    fn folded(&self, expr: &Expr) -> Result<Option<Expr>, String> {
        let mut unknown = None;
        let mut absent = false;
        let folded = expr.replace(&mut |part| {
            if let Some(reference) = TileRef::of(part) {
                return Some(self.reference(&reference).unwrap_or_else(|| part.kind.clone()));
            }
            if TileRef::is_in(part) {
                return None;
            }
            match self.eval(part).map(|value| value.literal()) {
                Ok(Some(literal)) => return Some(literal),
                Ok(None) => absent = true,
                Err(reason) => unknown = Some(reason),
            }
            Some(ExprKind::Int(0))
        });
        unknown.map_or(Ok((!absent).then_some(folded)), Err)
    }

    /// A reference to a dimension that no window slides over, in simpler words.
    fn reference(&self, reference: &TileRef) -> Option<ExprKind> {
        let (TileRef::Shape(name, dim) | TileRef::Pad(name, dim) | TileRef::PadEnd(name, dim)) =
            reference
        else {
            return None;
        };
        let place = self.tile.spec.tensors.iter().position(|(other, _)| other == name)?;
        let declared = self.tile.tensors[place].get(usize::try_from(*dim).ok()?)?;
        match (declared, reference) {
            (Dim::Window(..), _) => None,
            (Dim::Loop(place), TileRef::Shape(..)) => {
                let size = format!("tile.{}", self.plan.loops[*place].name);
                Expr::parse(&size).ok().map(|expr| expr.kind)
            }
            (Dim::Whole, TileRef::Shape(..)) => {
                let value = self.found.capture(name)?.value?;
                let size = self.facts.graph.value(value).ty.shape.get(*dim as usize)?;
                size.map(ExprKind::Int)
            }
            _ => Some(ExprKind::Int(0)),
        }
    }

    /// The value of an argument for the whole work. If it differs from tile to tile, that is noted
    /// for the argument at `place`.
    pub fn argument(&mut self, (place, field): (usize, &str), expr: &Expr) -> Result<Val, String> {
        if !TileRef::is_in(expr) {
            return self.eval(expr);
        }
        let Some(folded) = self.folded(expr)? else { return Ok(Val::Absent) };
        let whole: Vec<Piece> = self.plan.loops.iter().map(|l| l.piece(0, l.extent)).collect();
        let whole: Vec<&Piece> = whole.iter().collect();
        let number = value(&self.plan, &whole, &folded)?;
        self.plan.args.push(plan::Argument {
            place: place as i64,
            field: field.to_owned(),
            value: folded.to_string(),
        });
        Ok(number)
    }

    /// The plan, if any tile fits.
    pub fn finish(self) -> Result<Plan, String> {
        let plan = self.plan;
        plan.check().map_err(|fault| format!("the work has tiles {fault}"))?;
        let least: Vec<i64> = plan.loops.iter().map(crate::tile::choose::least).collect();
        let smallest = Chooser::new(&plan, self.reads, &least)?;
        let bytes = smallest.least_bytes();
        if bytes > plan.pool.bytes && Chooser::new(&plan, self.reads, &[])?.choose().is_none() {
            return Err(format!(
                "no tile fits pool '{}': the smallest takes {bytes} of its {} bytes",
                plan.pool.name, plan.pool.bytes
            ));
        }
        Ok(plan)
    }
}
