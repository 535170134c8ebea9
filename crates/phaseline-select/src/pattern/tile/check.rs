//! Checks `[pattern.tile]` when a manifest is loaded.

use super::{Dim, DimSpec, Loop, PoolSpec, Tile, TileSpec, dma, parse};
use crate::{
    error::suggestion,
    expr::{Expr, ExprKind, PatternError, PatternResult, Span},
    pattern::{
        CallProto, Param,
        check::{Names, Ty, check_scalar},
    },
    tile::{
        TileRef,
        choose::transfer_variable,
        formula::{Condition, Formula},
    },
};

impl Tile {
    /// Reads a declaration and checks it against the names of the pattern and its call.
    pub(in crate::pattern) fn new(
        spec: TileSpec,
        call: &CallProto,
        names: &Names,
    ) -> PatternResult<Self> {
        let checker = Checker { spec: &spec, names };
        let loops = spec.loops.iter().map(|l| {
            Ok(Loop {
                extent: checker.integer(&l.extent)?,
                multiple: l.multiple.as_deref().map(|text| checker.integer(text)).transpose()?,
                max: l.max.as_deref().map(|text| checker.integer(text)).transpose()?,
            })
        });
        let loops = loops.collect::<PatternResult<_>>()?;
        let tensors: Vec<Vec<Dim>> = spec
            .tensors
            .iter()
            .map(|(_, dims)| dims.iter().map(|dim| checker.dim(dim)).collect())
            .collect::<PatternResult<_>>()?;
        checker.check_call(call)?;
        checker.check_outputs(call, &tensors)?;
        let cost = spec.cost.as_deref().map(|text| checker.cost(text)).transpose()?;
        let require = spec.require.iter().map(|text| checker.requirement(text));
        let require = require.collect::<PatternResult<_>>()?;
        checker.check_order(&tensors)?;
        let pools = spec.pools.iter().map(|pool| checker.pool(pool));
        let pools = pools.collect::<PatternResult<_>>()?;
        checker.check_moves(call)?;
        let own = checker.own(call)?;
        Ok(Self { pools, loops, tensors, own, cost, require, spec, keeps_start: vec![] })
    }

    /// An expression of the call with numbers in place of what differs from tile to tile, so that
    /// it can be checked like any other.
    pub(in crate::pattern) fn closed(
        spec: &TileSpec,
        text: &str,
        expr: &Expr,
    ) -> PatternResult<Expr> {
        let mut fault = None;
        if let Some(part) = TileRef::of(expr).is_none().then(|| stride_in(expr)).flatten() {
            let message = format!(
                "`{part}` is known when buffers are, after all else is computed: it is an argument of its own"
            );
            return Err(PatternError::new(text, part.span, message));
        }
        let closed = expr.replace(&mut |part| {
            let reference = TileRef::of(part)?;
            let unknown = |name: &str, known: Vec<&str>| {
                let message =
                    format!("the tile has no '{name}'{}", suggestion(name, known.iter().copied()));
                PatternError::new(text, part.span, message)
            };
            let loops: Vec<&str> = spec.loops.iter().map(|l| l.name.as_str()).collect();
            match &reference {
                TileRef::Size(name) | TileRef::First(name) | TileRef::Last(name) => {
                    if !loops.contains(&name.as_str()) {
                        fault = Some(unknown(name, loops));
                    }
                }
                TileRef::Shape(name, dim)
                | TileRef::Pad(name, dim)
                | TileRef::PadEnd(name, dim)
                | TileRef::Stride(name, dim) => {
                    let is_stride = matches!(reference, TileRef::Stride(..));
                    if let Some(pool) = spec.pool_of(name).filter(|_| is_stride) {
                        let message = format!(
                            "the tile of '{name}' is in pool '{pool}', where its elements are adjacent: \
                             strides are of tiles in no pool"
                        );
                        fault = Some(PatternError::new(text, part.span, message));
                    }
                    let dims = spec.tensors.iter().find(|(other, _)| other == name);
                    let has =
                        |dims: &Vec<DimSpec>| usize::try_from(*dim).is_ok_and(|d| d < dims.len());
                    if !dims.is_some_and(|(_, dims)| has(dims)) {
                        let known = spec.tensors.iter().map(|(name, _)| name.as_str()).collect();
                        fault = Some(unknown(&format!("{name}.shape[{dim}]"), known));
                    }
                }
            }
            Some(match reference {
                TileRef::First(_) | TileRef::Last(_) => ExprKind::Bool(true),
                _ => ExprKind::Int(1),
            })
        });
        fault.map_or(Ok(closed), Err)
    }
}

pub(super) struct Checker<'a> {
    pub(super) spec: &'a TileSpec,
    pub(super) names: &'a Names<'a>,
}

pub(super) fn fault<T>(text: &str, message: impl Into<String>) -> PatternResult<T> {
    Err(PatternError::new(text, Span { start: 0, end: text.len() }, message))
}

impl Checker<'_> {
    fn scalar(&self, text: &str, wanted: &[Ty], what: &str) -> PatternResult<Expr> {
        let expr = parse(text)?;
        match check_scalar(text, &expr, self.names)? {
            ty if wanted.contains(&ty) => Ok(expr),
            _ => fault(text, format!("expected {what}")),
        }
    }

    fn integer(&self, text: &str) -> PatternResult<Expr> {
        self.scalar(text, &[Ty::Int], "an integer")
    }

    /// The bytes of a pool, what goes on beside computation (loads, and stores), and whether results
    /// stay.
    fn pool(&self, pool: &PoolSpec) -> PatternResult<[Expr; 4]> {
        let dma = &pool.dma;
        let transfer = parse(&dma.cost)?;
        Formula::compile(&transfer, &transfer_variable)
            .map_err(|message| PatternError::new(&dma.cost, transfer.span, message))?;
        let ends = ["host", "tile"];
        let texts = [(&dma.load, true), (&dma.store, true), (&dma.wait, false)];
        for (text, may_be_given) in texts {
            let Some(text) = text else { continue };
            dma::check(text, may_be_given, ends)?;
        }
        if let Some(text) = &dma.keep {
            dma::check(text, true, ["kept", "tile"])?;
        }
        if let Some(text) = &dma.shift {
            dma::check_shift(text)?;
        }
        if let Some(text) = &dma.shift_cost {
            let cost = parse(text)?;
            Formula::compile(&cost, &transfer_variable)
                .map_err(|message| PatternError::new(text, cost.span, message))?;
        }
        let condition = |text| self.scalar(text, &[Ty::Bool], "a condition");
        let double_buffer = condition(&dma.double_buffer)?;
        let overlap_stores = condition(&dma.overlap_stores)?;
        let keep_results = condition(&dma.keep_results)?;
        Ok([self.integer(&pool.bytes)?, double_buffer, overlap_stores, keep_results])
    }

    /// Checks that pools can load the tensors that are read, and store those that are written.
    fn check_moves(&self, call: &CallProto) -> PatternResult<()> {
        for param in call.params.iter().flat_map(Param::flat) {
            let (name, way) = match param {
                Param::In { capture, .. } => (capture, "load"),
                Param::Out { name, .. } => (name, "store"),
                _ => continue,
            };
            let pool =
                self.spec.pools.iter().find(|p| Some(p.name.as_str()) == self.spec.pool_of(name));
            let Some(pool) = pool else { continue };
            let has = if way == "load" { &pool.dma.load } else { &pool.dma.store };
            if has.is_none() {
                let message = format!(
                    "the tile of '{name}' is in pool '{}', whose [pool.dma] has no function for \
                     that: add {way} = \"int ...\"",
                    pool.name
                );
                return fault(name, message);
            }
        }
        Ok(())
    }

    pub(super) fn loop_place(&self, name: &String) -> PatternResult<usize> {
        let place = self.spec.loops.iter().position(|l| l.name == *name);
        place.map_or_else(
            || {
                let known = self.spec.loops.iter().map(|l| l.name.as_str()).chain(["*"]);
                fault(name, format!("there is no loop '{name}'{}", suggestion(name, known)))
            },
            Ok,
        )
    }

    fn dim(&self, dim: &DimSpec) -> PatternResult<Dim> {
        Ok(match dim {
            DimSpec::Loop(name) if name == "*" => Dim::Whole,
            DimSpec::Loop(name) => Dim::Loop(self.loop_place(name)?),
            DimSpec::Window { over, numbers } => {
                let [kernel, stride, dilation, pad] = numbers;
                let numbers = [
                    self.integer(kernel)?,
                    self.integer(stride)?,
                    self.integer(dilation)?,
                    self.integer(pad)?,
                ];
                Dim::Window(self.loop_place(over)?, Box::new(numbers))
            }
        })
    }

    /// Each tensor of the call is declared, and nothing else.
    fn check_call(&self, call: &CallProto) -> PatternResult<()> {
        for (index, l) in self.spec.loops.iter().enumerate() {
            if self.spec.loops[..index].iter().any(|other| other.name == l.name) {
                return fault(&l.name, format!("two loops are called '{}'", l.name));
            }
        }
        let params: Vec<&Param> = call.params.iter().flat_map(Param::flat).collect();
        let names: Vec<&str> = params
            .iter()
            .filter_map(|param| match param {
                Param::In { capture: name, .. } | Param::Out { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        for (name, _) in &self.spec.tensors {
            if !names.contains(&name.as_str()) {
                let hint = suggestion(name, names.iter().copied());
                return fault(name, format!("'{}' takes no tensor '{name}'{hint}", call.symbol));
            }
        }
        for name in names {
            if !self.spec.tensors.iter().any(|(other, _)| other == name) {
                return fault(
                    "tensors",
                    format!(
                        "the tile does not say what it has of '{name}'; write {name} = [...] with \
                         a loop, a window or \"*\" for each dimension"
                    ),
                );
            }
        }
        for param in &params {
            if let Param::Const { over: Some(name), .. } = param {
                self.loop_place(name)?;
            }
        }
        let other = |param: &&&Param| matches!(param, Param::Scratch { .. });
        match params.iter().find(other) {
            Some(param) => {
                fault("tensors", format!("a call on tiles cannot pass '{param}' to the device"))
            }
            None => Ok(()),
        }
    }

    /// Outputs are cut by all loops but those that add up.
    fn check_outputs(&self, call: &CallProto, tensors: &[Vec<Dim>]) -> PatternResult<()> {
        let params = call.params.iter().flat_map(Param::flat);
        let outputs = params.filter_map(|param| match param {
            Param::Out { name, .. } => Some(name),
            _ => None,
        });
        if let Some(capture) = call.params.iter().flat_map(Param::flat).find_map(Param::over) {
            let message = format!(
                "the call writes over '{capture}', which is where it is and cannot be cut into tiles: \
                 leave out the tile"
            );
            return fault("tensors", message);
        }
        for output in outputs {
            let place = self.spec.tensors.iter().position(|(name, _)| name == output);
            let dims = place.map(|place| tensors[place].as_slice()).unwrap_or_default();
            for (index, l) in self.spec.loops.iter().enumerate() {
                let cut = dims.iter().any(|dim| matches!(dim, Dim::Loop(other) if *other == index));
                match (cut, l.reduce) {
                    (true, true) => {
                        let message = format!(
                            "loop '{}' adds up its pieces, so it cannot cut the output '{output}'",
                            l.name
                        );
                        return fault(&l.name, message);
                    }
                    (false, false) => {
                        let message = format!(
                            "loop '{}' does not cut the output '{output}': its pieces would write \
                             the same elements; write reduce = true if they are added up",
                            l.name
                        );
                        return fault(&l.name, message);
                    }
                    _ => {}
                }
            }
            if dims.iter().any(|dim| matches!(dim, Dim::Window(..))) {
                return fault(output, "windows of an output would overlap");
            }
        }
        Ok(())
    }

    fn cost(&self, text: &str) -> PatternResult<Expr> {
        let expr = parse(text)?;
        let closed = Tile::closed(self.spec, text, &expr)?;
        match check_scalar(text, &closed, self.names)? {
            Ty::Int | Ty::Number => {}
            _ => return fault(text, "a cost is a number"),
        }
        Formula::compile(&open(&expr), &variable)
            .map_err(|e| PatternError::new(text, expr.span, e))?;
        Ok(expr)
    }

    fn requirement(&self, text: &str) -> PatternResult<Expr> {
        let expr = parse(text)?;
        let closed = Tile::closed(self.spec, text, &expr)?;
        if check_scalar(text, &closed, self.names)? != Ty::Bool {
            return fault(text, "a requirement is a condition, such as tile.m * tile.n <= 256");
        }
        Condition::compile(&open(&expr), &variable)
            .map_err(|e| PatternError::new(text, expr.span, e))?;
        Ok(expr)
    }

    /// Loops of the order are some that do not reduce, and what it says does not contradict that a
    /// tile stays.
    fn check_order(&self, tensors: &[Vec<Dim>]) -> PatternResult<()> {
        let mut places = vec![];
        for name in &self.spec.order {
            let place = self.loop_place(name)?;
            if self.spec.loops[place].reduce {
                return fault(
                    name,
                    format!("loop '{name}' adds up its pieces, so it is inside of all others"),
                );
            }
            if places.contains(&place) {
                return fault(name, format!("loop '{name}' is in the order twice"));
            }
            places.push(place);
        }
        let Some(stays) = &self.spec.stationary else { return Ok(()) };
        let known = self.spec.tensors.iter().map(|(name, _)| name.as_str());
        let Some(tensor) = known.clone().position(|name| name == stays) else {
            let hint = suggestion(stays, known);
            return fault(stays, format!("the tile has no tensor '{stays}'{hint}"));
        };
        let cuts = |place: &usize| {
            tensors[tensor].iter().any(|dim| match dim {
                Dim::Loop(other) | Dim::Window(other, _) => other == place,
                Dim::Whole => false,
            })
        };
        if places.iter().map(|place| !cuts(place)).is_sorted() {
            return Ok(());
        }
        let message = format!("`order` has a loop inside that cuts '{stays}', whose tile stays");
        fault(stays, message)
    }
}

/// A stride in an expression.
fn stride_in(expr: &Expr) -> Option<Expr> {
    let mut found = None;
    expr.visit(&mut |part| {
        if let Some(TileRef::Stride(..)) = TileRef::of(part) {
            found.get_or_insert_with(|| part.clone());
        }
    });
    found
}

/// An expression over a tile with 1 for what becomes a number for each match; the rest is computed
/// for many tiles.
fn open(expr: &Expr) -> Expr {
    expr.replace(&mut |part| match (TileRef::of(part), &part.kind) {
        (Some(_), kind) => Some(kind.clone()),
        (None, ExprKind::Bool(_)) => None,
        (None, kind) if !TileRef::is_in(part) => Some(match kind {
            ExprKind::Compare(..) | ExprKind::In(..) | ExprKind::Not(_) => ExprKind::Bool(true),
            _ => ExprKind::Int(1),
        }),
        _ => None,
    })
}

fn variable(expr: &Expr) -> Option<usize> {
    match TileRef::of(expr)? {
        TileRef::Size(_) | TileRef::Shape(..) => Some(0),
        _ => None,
    }
}
