//! The arguments of a call for one match.

use super::{
    BlockPart, BoundArg, BoundCall, BoundLayout, CType, CallProto, Layout, Param, Returns,
};
use crate::{
    expr::{Expr, Val},
    graph::{Evaluator, Facts, ValueId},
    pattern::{
        Pattern,
        found::{Match, MatchScope},
        tile,
    },
    tensor::{DType, ElementType},
};

impl CallProto {
    /// Computes the arguments for a match; `Err` says what cannot be computed, and why.
    pub fn bind(
        &self,
        pattern: &Pattern,
        found: &Match,
        facts: Facts,
    ) -> Result<BoundCall, String> {
        let tile = pattern.tile.as_ref();
        let tile = tile.map(|tile| tile::Binder::new(tile, pattern, (found, facts), self));
        let mut binder = Binder {
            pattern,
            found,
            facts,
            taken: vec![],
            scratch: 0,
            tile: tile.transpose()?,
            place: (0, String::new()),
        };
        let device = self.params.first() == Some(&Param::Device);
        let params = self.params.iter().filter(|param| **param != Param::Device);
        let mut args = vec![];
        for (place, param) in params.enumerate() {
            binder.place = (place, String::new());
            args.push(binder.argument(param)?);
        }
        if binder.taken.len() != found.outputs.len() {
            return Err(format!(
                "{} makes {} outputs, the match has {}",
                self.symbol,
                binder.taken.len(),
                found.outputs.len()
            ));
        }
        let given = binder.tile.as_ref().map(|tile| tile.arrays.clone()).unwrap_or_default();
        let arrays = given.iter().map(|(dtype, values)| binder.array(*dtype, values));
        let arrays = arrays.collect::<Result<_, _>>()?;
        Ok(BoundCall {
            symbol: self.symbol.clone(),
            status: self.returns == Returns::Status,
            device,
            args,
            scratch: binder.scratch,
            prototype: self.prototype(found, facts, pattern.tile.as_ref()),
            tile: binder.tile.map(tile::Binder::finish).transpose()?,
            arrays,
        })
    }
}

impl CallProto {
    /// The declaration of the function in C.
    fn prototype(&self, found: &Match, facts: Facts, tile: Option<&tile::Tile>) -> Option<String> {
        let element = |value: Option<ValueId>| {
            let dtype = value.and_then(|value| facts.graph.value(value).ty.dtype);
            dtype.and_then(ElementType::plain).and_then(c_name).unwrap_or("void")
        };
        let mut outputs = found.outputs.iter().copied();
        let mut params = vec![];
        for param in &self.params {
            params.push(match param {
                // Tiles are passed by their place in the pool.
                Param::In { capture: name, .. } | Param::Out { name, .. }
                    if tile.is_some_and(|tile| tile.spec.pool_of(name).is_some()) =>
                {
                    "uint32_t".to_owned()
                }
                // One declaration serves all calls, whether the operand is there or not.
                Param::In { optional: true, .. } => "const void *".to_owned(),
                Param::In { capture, .. } => {
                    let bound = found.capture(capture).and_then(|bound| bound.value);
                    format!("const {} *", element(bound))
                }
                Param::Out { name, .. } => {
                    let captured = found.capture(name).and_then(|bound| bound.value);
                    format!("{} *", element(captured.or_else(|| outputs.next())))
                }
                Param::Scalar { ty: CType::Size, .. } => "size_t".to_owned(),
                Param::Scalar { ty: CType::Scalar(dtype), .. } => c_name(*dtype)?.to_owned(),
                Param::Const { dtype, .. } => format!("const {} *", c_name(*dtype)?),
                Param::Scratch { .. } | Param::Device => "void *".to_owned(),
                Param::Struct { .. } | Param::Name(_) | Param::Value(_) => return None,
            });
        }
        let returns = if self.returns == Returns::Status { "int" } else { "void" };
        Some(format!("{returns} {}({});", self.symbol, params.join(", ")))
    }
}

/// The C type of an element.
fn c_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F32 => "float",
        DType::F64 => "double",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        DType::U8 => "uint8_t",
        DType::U16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::Bool => "bool",
        _ => return None,
    })
}

struct Binder<'a> {
    pattern: &'a Pattern,
    found: &'a Match,
    facts: Facts<'a>,
    /// Outputs that parameters have taken.
    taken: Vec<usize>,
    scratch: i64,
    tile: Option<tile::Binder<'a>>,
    /// The argument that is computed: its place and, in a struct, its field.
    place: (usize, String),
}

impl Binder<'_> {
    fn argument(&mut self, param: &Param) -> Result<BoundArg, String> {
        Ok(match param {
            Param::In { capture, layout, .. } => self.input(capture, layout)?,
            Param::Out { name, layout, over } => self.output(name, layout, over.as_deref())?,
            Param::Scalar { ty, value } => self.scalar(*ty, value)?,
            Param::Value(value) => match self.eval_argument(value)? {
                Val::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                    BoundArg::Int(None, number as i64)
                }
                Val::Float(number) => BoundArg::Float(None, number),
                other => BoundArg::Int(None, integer(value, &other)?),
            },
            Param::Name(name) => BoundArg::Name(name.clone()),
            Param::Const { dtype, values, .. } => self.array(*dtype, values)?,
            Param::Struct { ty, fields } => BoundArg::Struct(
                ty.clone(),
                fields
                    .iter()
                    .map(|(name, field)| {
                        self.place.1.clone_from(name);
                        Ok((name.clone(), self.argument(field)?))
                    })
                    .collect::<Result<_, String>>()?,
            ),
            Param::Scratch { bytes } => {
                self.scratch = integer(bytes, &self.eval(bytes)?)?;
                match self.scratch {
                    0 => BoundArg::In(None, None),
                    1.. => BoundArg::Scratch,
                    _ => return Err(format!("scratch `{bytes}` is {} bytes", self.scratch)),
                }
            }
            Param::Device => return Err("the device is not the first argument".to_owned()),
        })
    }

    fn input(&self, capture: &str, layout: &Option<Layout>) -> Result<BoundArg, String> {
        let Some(value) = self.found.capture(capture).and_then(|bound| bound.value) else {
            // A tile is passed by its place in a pool, where 0 is none.
            let tile = self.pattern.tile.as_ref();
            let in_pool = tile.is_some_and(|tile| tile.spec.pool_of(capture).is_some());
            return Ok(if in_pool { BoundArg::Int(None, 0) } else { BoundArg::In(None, None) });
        };
        if !self.found.inputs.contains(&value) {
            return Err(format!("'{capture}' is computed inside of the match"));
        }
        self.check_rank(capture, value, layout)?;
        if !self.facts.graph.is_constant(value) {
            self.check_bytes(capture, value)?;
        }
        let layout = layout.as_ref().map(|layout| self.layout((capture, value), layout));
        Ok(BoundArg::In(Some(value), layout.transpose()?))
    }

    /// Operands that are passed as given are in one layout, and of one shape.
    fn given(&self, name: &str, value: ValueId) -> Result<BoundLayout, String> {
        let graph = self.facts.graph;
        let first = self.found.given_value(self.pattern).unwrap_or(value);
        let (ty, other) = (&graph.value(value).ty, &graph.value(first).ty);
        if ty.shape != other.shape {
            return Err(format!(
                "'{name}' is {ty}, and another tensor as given {other}: those of a call have one shape"
            ));
        }
        Ok(match &self.found.given {
            Some(given) => {
                let layout = Box::new(given.of(value));
                BoundLayout::Given { layout, padding: given.padding }
            }
            None => BoundLayout::Flat,
        })
    }

    fn layout(
        &self,
        (name, value): (&str, ValueId),
        layout: &Layout,
    ) -> Result<BoundLayout, String> {
        let parts = match layout {
            Layout::Given => return self.given(name, value),
            Layout::Permuted(permutation) => return Ok(BoundLayout::Permuted(permutation.clone())),
            Layout::Flat => return Ok(BoundLayout::Flat),
            Layout::Blocked(parts) => parts,
        };
        let mut bound = vec![];
        for part in parts {
            let block = part.block().map_or(Ok(1), |block| integer(block, &self.eval(block)?))?;
            if !(1..=4096).contains(&block) {
                return Err(format!("'{name}' cannot be in blocks of {block}"));
            }
            bound.push((part.dim(), block, matches!(part, BlockPart::Inner(..))));
        }
        let plan = self.tile.as_ref().map(|tile| &tile.plan);
        let tensor = plan.and_then(|plan| plan.tensors.iter().find(|tensor| tensor.name == name));
        let shape = tensor.map(|tensor| tensor.dims.iter().map(|dim| dim.size).collect());
        Ok(BoundLayout::Blocked { parts: bound, shape })
    }

    /// The value of an expression that may differ from tile to tile.
    fn eval_argument(&mut self, expr: &Expr) -> Result<Val, String> {
        match &mut self.tile {
            Some(tile) => match tile.argument((self.place.0, &self.place.1), expr)? {
                Val::Absent => Ok(Val::Int(0)),
                value => Ok(value),
            },
            None => self.eval(expr),
        }
    }

    fn output(
        &mut self,
        name: &str,
        layout: &Option<Layout>,
        over: Option<&str>,
    ) -> Result<BoundArg, String> {
        let captured = self.found.capture(name).and_then(|bound| bound.value);
        let outputs = &self.found.outputs;
        let place = match captured {
            Some(value) => outputs.iter().position(|output| *output == value),
            None => (0..outputs.len()).find(|place| !self.taken.contains(place)),
        };
        let place = place.ok_or_else(|| format!("'{name}' is no output of the match"))?;
        self.check_rank(name, outputs[place], layout)?;
        self.check_bytes(name, outputs[place])?;
        self.taken.push(place);
        let value = outputs[place];
        let layout = layout.as_ref().map(|layout| self.layout((name, value), layout));
        let layout = layout.transpose()?;
        Ok(match over {
            Some(capture) => BoundArg::Over(place, self.written_over(capture, place)?, layout),
            None => BoundArg::Out(place, layout),
        })
    }

    /// The input that an output is written over, which has its type.
    fn written_over(&self, capture: &str, place: usize) -> Result<ValueId, String> {
        let value = self.found.capture(capture).and_then(|bound| bound.value);
        let value = value.filter(|value| self.found.inputs.contains(value));
        let value = value.ok_or_else(|| format!("'{capture}' is no input of the match"))?;
        let ty = |value: ValueId| &self.facts.graph.value(value).ty;
        let (old, new) = (ty(value), ty(self.found.outputs[place]));
        if old != new {
            return Err(format!("'{capture}' is {old}, and what is written over it {new}"));
        }
        Ok(value)
    }

    /// Elements of less than a byte are packed in constants; where they are computed each has a byte
    /// of its own, which is no form that a function would expect.
    fn check_bytes(&self, name: &str, value: ValueId) -> Result<(), String> {
        let ty = &self.facts.graph.value(value).ty;
        match ty.dtype {
            Some(element) if element.bits() < 8 => Err(format!(
                "'{name}' is {ty}, and no constant: elements of less than a byte are passed in \
                 constants only"
            )),
            _ => Ok(()),
        }
    }

    fn check_rank(
        &self,
        name: &str,
        value: ValueId,
        layout: &Option<Layout>,
    ) -> Result<(), String> {
        let shape = &self.facts.graph.value(value).ty.shape;
        if shape.iter().any(Option::is_none) {
            return Err(format!("'{name}' has a dynamic shape"));
        }
        match layout {
            None | Some(Layout::Flat | Layout::Given) => Ok(()),
            Some(layout) => {
                let rank = match layout {
                    Layout::Permuted(permutation) => permutation.permutation.len(),
                    Layout::Blocked(parts) => {
                        parts.iter().map(|part| part.dim() + 1).max().unwrap_or(0)
                    }
                    Layout::Flat | Layout::Given => shape.len(),
                };
                if rank == shape.len() {
                    return Ok(());
                }
                Err(format!("'{name}' has rank {}, which has no layout {layout}", shape.len()))
            }
        }
    }

    fn eval(&self, expr: &Expr) -> Result<Val, String> {
        let scope = MatchScope { pattern: self.pattern, found: self.found };
        match Evaluator::new(self.facts, &scope).eval(expr) {
            Val::Unknown(reason) => Err(format!("argument `{expr}` is not known: {reason}")),
            Val::Absent => Ok(Val::Int(0)),
            value => Ok(value),
        }
    }

    fn scalar(&mut self, ty: CType, expr: &Expr) -> Result<BoundArg, String> {
        let value = self.eval_argument(expr)?;
        if let CType::Scalar(dtype) = ty
            && dtype.is_float()
        {
            let number = value.as_f64().ok_or_else(|| format!("argument `{expr}` is {value}"))?;
            return Ok(BoundArg::Float(Some(ty), number));
        }
        let number = integer(expr, &value)?;
        let fits = match ty {
            CType::Scalar(dtype) => fits(dtype, number as f64),
            CType::Size => number >= 0,
        };
        if !fits {
            return Err(format!("argument `{expr}` is {number}, which {ty} cannot hold"));
        }
        Ok(BoundArg::Int(Some(ty), number))
    }

    fn array(&self, dtype: DType, expr: &Expr) -> Result<BoundArg, String> {
        let items = match self.eval(expr)? {
            Val::List(items) => items,
            // One number would stand for as many as the function reads.
            Val::Absent => {
                return Err(format!(
                    "`{expr}` is about a part that the match does not have: `select(present(part), ..., ...)` says what is \
                     passed then"
                ));
            }
            one => vec![one],
        };
        let numbers = items.iter().map(|item| match item {
            Val::Unknown(reason) => Err(format!("argument `{expr}` is not known: {reason}")),
            item if dtype.is_float() => {
                item.as_f64().ok_or_else(|| format!("`{expr}` holds {item}"))
            }
            item => {
                let number = integer(expr, item)? as f64;
                let message = || format!("`{expr}` holds {number}, which {dtype} cannot hold");
                fits(dtype, number).then_some(number).ok_or_else(message)
            }
        });
        Ok(BoundArg::Const(dtype, numbers.collect::<Result<_, _>>()?))
    }
}

fn integer(expr: &Expr, value: &Val) -> Result<i64, String> {
    match value {
        Val::Int(value) => Ok(*value),
        Val::Bool(value) => Ok(i64::from(*value)),
        Val::Absent => Ok(0),
        Val::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Ok(*value as i64),
        other => Err(format!("argument `{expr}` is {other}, which is no integer")),
    }
}

/// True if a number is in the range of an integer type.
fn fits(dtype: DType, number: f64) -> bool {
    let bits = dtype.size() as i32 * 8;
    let (least, most) = match dtype {
        DType::Bool => (0.0, 1.0),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0.0, 2f64.powi(bits) - 1.0),
        _ => (-2f64.powi(bits - 1), 2f64.powi(bits - 1) - 1.0),
    };
    (least..=most).contains(&number)
}
