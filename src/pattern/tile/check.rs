//! Checks `[pattern.tile]` when a manifest is loaded.

use super::{Dim, DimSpec, Loop, Tile, TileSpec, dma, parse};
use crate::{
    error::suggestion,
    expr::{Expr, ExprKind, PatternError, PatternResult, Span},
    pattern::{
        CallProto, Param,
        check::{Names, Ty, check_scalar},
    },
    tile::{TileRef, choose::transfer_variable, formula::Formula},
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
        let dma = &spec.pool.dma;
        let transfer = parse(&dma.cost)?;
        Formula::compile(&transfer, &transfer_variable)
            .map_err(|message| PatternError::new(&dma.cost, transfer.span, message))?;
        for text in [Some(&dma.load), Some(&dma.store), dma.wait.as_ref()].into_iter().flatten() {
            dma::check(text)?;
        }
        let double_buffer = checker.scalar(&dma.double_buffer, &[Ty::Bool], "a condition")?;
        let pool_bytes = checker.integer(&spec.pool.bytes)?;
        Ok(Self { pool_bytes, double_buffer, loops, tensors, cost, spec, keeps_start: false })
    }

    /// An expression of the call with numbers in place of what differs from tile to tile, so that
    /// it can be checked like any other.
    pub(in crate::pattern) fn closed(
        spec: &TileSpec,
        text: &str,
        expr: &Expr,
    ) -> PatternResult<Expr> {
        let mut fault = None;
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
                | TileRef::PadEnd(name, dim) => {
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

struct Checker<'a> {
    spec: &'a TileSpec,
    names: &'a Names<'a>,
}

fn fault<T>(text: &str, message: impl Into<String>) -> PatternResult<T> {
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

    fn loop_place(&self, name: &String) -> PatternResult<usize> {
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
        let other = |param: &&&Param| matches!(param, Param::Const { .. } | Param::Scratch { .. });
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
        // Captures become numbers for each match; the rest is computed for many tiles.
        let open = expr.replace(&mut |part| match TileRef::of(part) {
            Some(_) => Some(part.kind.clone()),
            None => (!TileRef::is_in(part)).then_some(ExprKind::Int(1)),
        });
        let variable = |expr: &Expr| match TileRef::of(expr)? {
            TileRef::Size(_) | TileRef::Shape(..) => Some(0),
            _ => None,
        };
        Formula::compile(&open, &variable).map_err(|e| PatternError::new(text, expr.span, e))?;
        Ok(expr)
    }
}
