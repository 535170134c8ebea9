//! The plan of a match whose call is computed tile by tile.

use super::{Tile, dims::check_transfer};
use crate::{
    expr::{Expr, Val},
    graph::{Evaluator, Facts, ValueId},
    pattern::{
        CallProto, Layout, Param, Pattern,
        found::{Match, MatchScope},
    },
    tensor::{DType, ElementType},
    tile::{
        TileRef,
        choose::Chooser,
        pieces::Piece,
        plan::{self, Plan},
        pool,
        value::value,
    },
};

/// Makes the plan of one match.
pub(in crate::pattern) struct Binder<'a> {
    pub(super) tile: &'a Tile,
    pattern: &'a Pattern,
    pub(super) found: &'a Match,
    pub(super) facts: Facts<'a>,
    /// The plan, as far as it is made.
    pub plan: Plan,
    /// Number of tensors that are read.
    reads: usize,
    /// The arrays that stores are given, which are the last of what is read.
    pub arrays: Vec<(DType, Expr)>,
    /// For each tensor by name, the place in the call's layout of each dimension; none in blocks.
    pub(super) layouts: Vec<(String, Option<Vec<usize>>)>,
}

impl<'a> Binder<'a> {
    /// Starts with loops and tensors; arguments come one by one.
    pub fn new(
        tile: &'a Tile,
        pattern: &'a Pattern,
        (found, facts): (&'a Match, Facts<'a>),
        call: &CallProto,
    ) -> Result<Self, String> {
        let plan = Plan {
            pools: vec![],
            loops: vec![],
            tensors: vec![],
            args: vec![],
            cost: None,
            require: vec![],
            order: tile.spec.order.clone(),
            stationary: None,
            tiles: None,
        };
        let (arrays, layouts) = (vec![], vec![]);
        let mut binder = Self { tile, pattern, found, facts, plan, reads: 0, arrays, layouts };
        binder.pools()?;
        binder.loops()?;
        binder.tensors(call)?;
        if let Some(cost) = &tile.cost {
            binder.plan.cost = binder.folded(cost)?.map(|cost| cost.to_string());
        }
        for condition in &tile.require {
            // What depends on a part that the match does not have holds.
            if let Some(condition) = binder.folded(condition)? {
                binder.plan.require.push(condition.to_string());
            }
        }
        // An operand that the match does not have has no tile to keep.
        let stays = |name: &&String| binder.plan.tensors.iter().any(|tensor| tensor.name == **name);
        binder.plan.stationary = tile.spec.stationary.as_ref().filter(stays).cloned();
        Ok(binder)
    }

    fn pools(&mut self) -> Result<(), String> {
        for (spec, [bytes, loads, stores, keeps]) in
            self.tile.spec.pools.iter().zip(&self.tile.pools)
        {
            let dma = &spec.dma;
            let base = match self.tile.keeps_start.contains(&spec.name) {
                true => spec.alignment,
                false => 0,
            };
            let holds =
                |condition| Ok::<_, String>(matches!(self.eval(condition)?, Val::Bool(true)));
            self.plan.pools.push(pool::Pool {
                name: crate::identifier::c_identifier(&spec.name),
                bytes: self.number(bytes)? - base,
                base,
                taken: 0,
                alignment: spec.alignment,
                row: if spec.row > 1 { spec.row } else { 0 },
                dma: pool::Dma {
                    channels: dma.channels,
                    dims: dma.dims,
                    double_buffer: holds(loads)? && dma.wait.is_some(),
                    overlap_stores: holds(stores)? && dma.wait.is_some(),
                    keep_results: holds(keeps)?,
                    load: dma.load.clone(),
                    store: dma.store.clone(),
                    keep: dma.keep.clone(),
                    shift: dma.shift.clone(),
                    shift_cost: dma.shift_cost.clone(),
                    keep_in: dma.keep_in.as_deref().map(crate::identifier::c_identifier),
                    wait: dma.wait.clone(),
                    cost: dma.cost.clone(),
                },
            });
        }
        Ok(())
    }

    pub(super) fn eval(&self, expr: &Expr) -> Result<Val, String> {
        let scope = MatchScope { pattern: self.pattern, found: self.found };
        match Evaluator::new(self.facts, &scope).eval(expr) {
            Val::Unknown(reason) => Err(format!("`{expr}` is not known: {reason}")),
            value => Ok(value),
        }
    }

    pub(super) fn number(&self, expr: &Expr) -> Result<i64, String> {
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
            } else if let Param::Const { dtype, values, over } = param {
                let table = self.table(*dtype, values, over.as_deref())?;
                self.plan.tensors.push(table);
            }
        }
        // Arrays of loads and stores come behind all that is passed.
        for place in 0..self.plan.tensors.len() {
            let name = self.plan.tensors[place].name.clone();
            if self.plan.tensors[place].pool_place().is_some() {
                self.plan.tensors[place].given = self.given(&name)?;
            }
        }
        let mut given = vec![];
        for param in &params {
            if let Param::Out { name, .. } = param {
                given.push(self.given(name)?);
            }
        }
        self.reads = self.plan.tensors.len();
        let mut given = given.into_iter();
        let mut outputs = self.found.outputs.iter().copied();
        for param in &params {
            if let Param::Out { name, layout, .. } = param {
                let captured = self.found.capture(name).and_then(|bound| bound.value);
                let value = captured.or_else(|| outputs.next());
                let value = value.ok_or_else(|| format!("'{name}' is no output of the match"))?;
                let mut tensor = self.tensor(name, value, layout.as_ref())?;
                tensor.given = given.next().unwrap_or_default();
                self.plan.tensors.push(tensor);
            }
        }
        Ok(())
    }

    /// An array of the call's own, of which a tile has the part for its piece of a loop, or all.
    pub(super) fn table(
        &self,
        dtype: DType,
        values: &Expr,
        over: Option<&str>,
    ) -> Result<plan::Tensor, String> {
        let size = match self.eval(values)? {
            Val::List(items) => items.len() as i64,
            _ => 1,
        };
        let place = over.and_then(|name| self.plan.loop_named(name));
        let extent = place.map_or(size, |place| self.plan.loops[place].extent);
        if extent != size || size < 1 {
            return Err(format!(
                "`{values}` has {size} elements, loop '{}' {extent} positions",
                over.unwrap_or_default()
            ));
        }
        let cut = place.map_or(-1, |place| place as i64);
        let dims = vec![plan::Dim { cut, ..plan::Dim::whole(size) }];
        let element = dtype.size() as i64;
        Ok(plan::Tensor::plain(values.to_string(), (element, -1), dims))
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
        let bits = ty.dtype.map(ElementType::bits);
        let bits = bits.ok_or_else(|| format!("'{name}' is {ty}: no tile of it"))? as i64;
        let element = (bits / 8).max(1);
        if matches!(layout, Some(Layout::Flat | Layout::Given)) {
            let given = self.found.given.as_ref().filter(|_| layout == Some(&Layout::Given));
            let extents = given.map(|given| given.layout.extents(&shape));
            shape = vec![extents.as_ref().unwrap_or(&shape).iter().product()];
        }
        let place = self.tile.spec.tensors.iter().position(|(other, _)| other == name);
        let place = place.ok_or_else(|| format!("'{name}' has no tile"))?;
        let declared = &self.tile.tensors[place];
        let home = self.tile.spec.places[place];
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
        let places = match layout {
            Some(Layout::Permuted(layout)) => Some(layout.inverse()),
            Some(Layout::Blocked(_)) => None,
            Some(Layout::Flat | Layout::Given) | None => Some((0..dims.len()).collect()),
        };
        self.layouts.push((name.to_owned(), places));
        let dims = match layout {
            Some(Layout::Permuted(layout)) => {
                layout.permutation.iter().map(|dim| dims[*dim].clone()).collect()
            }
            Some(Layout::Blocked(parts)) => self.blocked(name, parts, &dims)?,
            Some(Layout::Flat | Layout::Given) | None => dims,
        };
        let mut dims = dims;
        if bits < 8 {
            packed((name, &ty.to_string()), &mut dims, 8 / bits)?;
        }
        let dtype = self.own_type(place).filter(|_| bits >= 8);
        let (own, outside) = match dtype {
            Some(dtype) => (dtype.size() as i64, element),
            None => (element, 0),
        };
        if let Some(home) = home {
            check_transfer(name, &self.plan.pools[home], &dims, own)?;
        }
        let pool = home.map_or(-1, |home| home as i64);
        let mut tensor = plan::Tensor::plain(name.to_owned(), (own, pool), dims);
        tensor.outside = outside;
        let ring = self.tile.spec.own[place].ring.as_ref();
        tensor.ring = ring.and_then(|name| self.plan.loop_named(name)).map(|place| place as i64);
        tensor.dtype = dtype.map(|dtype| dtype.mlir_name().to_owned());
        Ok(tensor)
    }

    /// The value of an argument for the whole work. If it differs from tile to tile, that is noted
    /// for the argument at `place`.
    pub fn argument(&mut self, (place, field): (usize, &str), expr: &Expr) -> Result<Val, String> {
        if !TileRef::is_in(expr) {
            return self.eval(expr);
        }
        if let Some(TileRef::Stride(name, dim)) = TileRef::of(expr) {
            let Some((stride, value)) = self.stride(&name, dim)? else { return Ok(Val::Absent) };
            let (place, field) = (place as i64, field.to_owned());
            self.plan.args.push(plan::Argument { place, field, value });
            return Ok(Val::Int(stride));
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
        if smallest.overfull().is_none() && plan.require.is_empty() {
            return Ok(plan);
        }
        let chooser = Chooser::new(&plan, self.reads, &[])?;
        if chooser.choose().is_none() {
            return Err(format!("no tile {}", chooser.refusal()));
        }
        Ok(plan)
    }
}

/// Has the innermost dimension of a tensor count bytes, each of which has so many elements.
fn packed((name, ty): (&str, &str), dims: &mut [plan::Dim], elements: i64) -> Result<(), String> {
    let last = dims.last_mut().filter(|last| **last == plan::Dim::whole(last.size));
    match last.filter(|last| last.size % elements == 0) {
        Some(last) => {
            *last = plan::Dim::whole(last.size / elements);
            Ok(())
        }
        None => Err(format!(
            "'{name}' is {ty}, and {elements} of its elements have one byte: a tile has all of the innermost dimension of the \
             call's layout (`*`), and {elements} divides its size"
        )),
    }
}
