//! Properties of a tile itself: an element type, and arguments of the function that loads or stores it.
//!
//! A device that adds up in 32 bits and stores 8 says so of the output's tile: `dtype = "i32"`, and
//! under `store` the numbers and arrays that the pool's `store` calls `given.NAME`, such as scales.
//! Inputs may be of another type in the pool in the same way, by `dtype` and `load`.

use super::{
    Binder, DimSpec, PoolSpec,
    check::{Checker, fault},
    parse,
};
use crate::{
    error::suggestion,
    expr::{Expr, ExprKind, PatternResult},
    pattern::{
        CallProto, Param,
        check::{check_scalar, check_values},
    },
    tensor::DType,
    tile::plan,
};

/// Properties of a tile itself, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnSpec {
    /// Its element type, if it is not that of the tensor.
    pub dtype: Option<String>,
    /// The loop along which a tile keeps what the next one needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<String>,
    /// Arguments of the function that loads it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<GivenSpec>,
    /// Arguments of the function that stores it.
    pub given: Vec<GivenSpec>,
}

/// An argument of a load or store, as texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GivenSpec {
    /// Its name in the prototype, after `given.`.
    pub name: String,
    /// A number, or the elements of an array.
    pub value: String,
    /// The loop whose positions the elements belong to.
    pub over: Option<String>,
}

/// Properties of a tile itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    pub dtype: Option<DType>,
    pub given: Vec<Given>,
}

impl Own {
    /// The expressions of what the load or store is given.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.given.iter().map(|given| &given.value)
    }
}

/// An argument of a store.
#[derive(Clone, Debug)]
pub(super) struct Given {
    name: String,
    value: Expr,
    /// The elements' type, of an array.
    array: Option<DType>,
    over: Option<String>,
}

/// The name of an argument that a pattern gives, if an expression is one.
pub fn given_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Field(base, name) => {
            matches!(&base.kind, ExprKind::Name(base) if base == "given").then_some(name)
        }
        _ => None,
    }
}

/// Arguments that a prototype takes from patterns: names, and the element types of arrays.
fn wanted_by(proto: &CallProto) -> Vec<(String, Option<DType>)> {
    let mut found: Vec<(String, Option<DType>)> = vec![];
    for param in proto.params.iter().flat_map(Param::flat) {
        let (expr, array) = match param {
            Param::Const { dtype, values, .. } => (values, Some(*dtype)),
            Param::Scalar { value, .. } | Param::Value(value) => (value, None),
            _ => continue,
        };
        expr.visit(&mut |part| {
            if let Some(name) = given_name(part)
                && found.iter().all(|(known, _)| known != name)
            {
                found.push((name.to_owned(), array));
            }
        });
    }
    found
}

impl Checker<'_> {
    /// Properties of the tiles of all tensors.
    pub(super) fn own(&self, call: &CallProto) -> PatternResult<Vec<Own>> {
        let params = call.params.iter().flat_map(Param::flat);
        let outputs: Vec<&str> = params
            .filter_map(|param| match param {
                Param::Out { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let tensors = self.spec.tensors.iter().zip(&self.spec.places).zip(&self.spec.own);
        let own = tensors.map(|(((name, _), pool), own)| {
            let is_output = outputs.contains(&name.as_str());
            if let (Some(dtype), None) = (&own.dtype, pool) {
                let reason = "is in no pool: it is a part of the tensor and has its dtype";
                return fault(dtype, format!("the tile of '{name}' {reason}"));
            }
            let dtype = own.dtype.as_deref().map(own_type);
            let pool = pool.map(|pool| &self.spec.pools[pool]);
            self.ring((name, own), pool, is_output)?;
            let (way, other) = if is_output { ("store", "load") } else { ("load", "store") };
            let (told, untold) = match is_output {
                true => (&own.given, &own.loaded),
                false => (&own.loaded, &own.given),
            };
            if let Some(spec) = untold.first() {
                let done = if is_output { "written" } else { "read" };
                let message = format!("'{name}' is {done}, and has no `{other}`: say `{way}`");
                return fault(&spec.name, message);
            }
            let text = pool.and_then(|pool| match is_output {
                true => pool.dma.store.as_deref(),
                false => pool.dma.load.as_deref(),
            });
            let mut wanted = match text {
                Some(text) => wanted_by(&CallProto::parse(text)?),
                None => vec![],
            };
            // What leaves a result in a pool may be told more than what stores it.
            if let Some(text) = pool.and_then(|pool| pool.dma.keep.as_deref()).filter(|_| is_output)
            {
                for (given, array) in wanted_by(&CallProto::parse(text)?) {
                    match wanted.iter().find(|(known, _)| *known == given) {
                        Some((_, known)) if *known != array => {
                            let message = format!(
                                "`keep` takes given.{given} otherwise than `store`: both take a number, or an array of one type"
                            );
                            return fault(text, message);
                        }
                        Some(_) => {}
                        None => wanted.push((given, array)),
                    }
                }
            }
            if let Some(spec) = told.iter().find(|g| wanted.iter().all(|w| w.0 != g.name)) {
                let hint = suggestion(&spec.name, wanted.iter().map(|(name, _)| name.as_str()));
                let message = format!("the {way} of '{name}' takes no given.{}{hint}", spec.name);
                return fault(&spec.name, message);
            }
            // A function that is told nothing of another type moves elements as they are.
            let converts = !wanted.is_empty() || text.is_some_and(|text| text.contains("tile_element"));
            if let (Some(dtype), false, false) = (&own.dtype, converts, is_output) {
                let message = format!(
                    "'{name}' is read: the load of its pool moves elements as they are, only one that takes \
                     tile_element or given.NAME makes {dtype} of them"
                );
                return fault(dtype, message);
            }
            let given = wanted.iter().map(|(given, array)| {
                let spec = told.iter().find(|spec| spec.name == *given);
                match spec {
                    Some(spec) => self.given(spec, *array),
                    None => fault(
                        name,
                        format!(
                            "the {way} of '{name}' wants given.{given}: write {name} = {{ dims = \
                             [...], {way} = {{ {given} = ... }} }}"
                        ),
                    ),
                }
            });
            Ok(Own { given: given.collect::<PatternResult<_>>()?, dtype: dtype.transpose()? })
        });
        own.collect()
    }

    /// A ring is along a loop over which a window of the tensor slides, in a pool that can shift its rows.
    fn ring(
        &self,
        (name, own): (&str, &OwnSpec),
        pool: Option<&PoolSpec>,
        is_output: bool,
    ) -> PatternResult<()> {
        let Some(ring) = &own.ring else { return Ok(()) };
        self.loop_place(ring)?;
        let dims = self.spec.tensors.iter().find(|(other, _)| other == name);
        let dims = dims.map(|(_, dims)| dims.as_slice()).unwrap_or_default();
        let slides = |dim: &DimSpec| matches!(dim, DimSpec::Window { over, .. } if over == ring);
        let steps = |dim: &DimSpec| matches!(dim, DimSpec::Loop(other) if other == ring);
        if is_output {
            return fault(ring, format!("'{name}' is written: a ring has what is read"));
        }
        if !dims.iter().any(slides) {
            let message = match dims.iter().any(steps) {
                true => format!(
                    "tiles of '{name}' along loop '{ring}' have nothing in common that a ring could keep"
                ),
                false => format!(
                    "the tile of '{name}' does not move along loop '{ring}': a ring is along a loop that a window of the tensor is `over`"
                ),
            };
            return fault(ring, message);
        }
        if own.dtype.is_some() || !own.loaded.is_empty() {
            return fault(
                ring,
                format!(
                    "'{name}' is converted by its load, and a ring has what is loaded as it is"
                ),
            );
        }
        match pool {
            None => fault(
                ring,
                format!("the tile of '{name}' is in no pool, so it keeps nothing for the next one"),
            ),
            Some(pool) if pool.dma.shift.is_none() => {
                let message = format!(
                    "pool '{}' of '{name}' cannot move rows: add shift = \"int ...\" to its [pool.dma]",
                    pool.name
                );
                fault(ring, message)
            }
            Some(_) => Ok(()),
        }
    }

    fn given(&self, spec: &GivenSpec, array: Option<DType>) -> PatternResult<Given> {
        let text = &spec.value;
        let value = parse(text)?;
        if let Some(name) = &spec.over {
            let l = &self.spec.loops[self.loop_place(name)?];
            if array.is_none() || l.reduce {
                let what = if l.reduce { "adds up its pieces" } else { "cuts arrays" };
                return fault(
                    name,
                    format!("loop '{name}' {what}, so {} is not over it", spec.name),
                );
            }
        }
        match array {
            Some(_) => check_values(text, &value, self.names)?,
            None => {
                let closed = super::Tile::closed(self.spec, text, &value)?;
                if check_scalar(text, &closed, self.names)? == crate::pattern::check::Ty::Str {
                    return fault(text, format!("given.{} is a number", spec.name));
                }
            }
        }
        Ok(Given { name: spec.name.clone(), value, array, over: spec.over.clone() })
    }
}

fn own_type(name: &str) -> PatternResult<DType> {
    let dtype = DType::from_name(name).filter(|dtype| *dtype != DType::Bool);
    dtype
        .map_or_else(|| fault(name, format!("'{name}' is no element type, such as i32 or f32")), Ok)
}

impl Binder<'_> {
    /// Arguments of the load or store of a tensor; arrays become tensors of the plan, and are noted.
    pub(super) fn given(&mut self, name: &str) -> Result<Vec<plan::Given>, String> {
        let place = self.tile.spec.tensors.iter().position(|(other, _)| other == name);
        let tile = self.tile;
        let given = place.map_or(&[][..], |place| &tile.own[place].given);
        let mut made = vec![];
        for Given { name, value, array, over } in given {
            let (text, table) = match array {
                Some(dtype) => {
                    let table = self.table(*dtype, value, over.as_deref())?;
                    self.plan.tensors.push(table);
                    self.arrays.push((*dtype, value.clone()));
                    (String::new(), self.plan.tensors.len() as i64 - 1)
                }
                None => {
                    let value = self.folded(value)?;
                    (value.map_or_else(|| "0".to_owned(), |value| value.to_string()), -1)
                }
            };
            made.push(plan::Given { name: name.clone(), value: text, table });
        }
        Ok(made)
    }

    /// The tile's own element type.
    pub(super) fn own_type(&self, tensor: usize) -> Option<DType> {
        self.tile.own.get(tensor).and_then(|own| own.dtype)
    }
}
