//! Tiles in a manifest: `[pattern.tile]` and `[pool.dma]`.

use super::{
    super::kind::{DmaDecl, PoolDecl, TileLines},
    Source,
    define::Definitions,
    raw::{RawDim, RawDma, RawPlaced, RawTensor, RawTile, RawWindow},
};
use crate::{
    Result,
    error::suggestion,
    pattern::{
        DimSpec, DmaSpec, GivenSpec, LoopSpec, OwnSpec, PoolSpec, TileSpec, tile::dma::MAX_DIMS,
    },
};
use std::{collections::BTreeMap, ops::Range};
use toml::{Spanned, Value};

/// The text of an expression that may be written as a number.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Checks the pool that results are kept in as a store would convert them.
pub fn check_keeping(
    source: &Source,
    span: &Range<usize>,
    name: &str,
    pools: &[PoolDecl],
) -> Result<()> {
    let Some(pool) = pools.iter().find(|pool| pool.name == name) else {
        let hint = suggestion(name, pools.iter().map(|pool| pool.name.as_str()));
        return Err(
            source.fault(span, format!("there is no pool '{name}' to keep results in{hint}"))
        );
    };
    match pool.dma.as_ref().is_none_or(|dma| dma.spec.keep_results == "false") {
        true => Err(source.fault(
            span,
            format!("results are kept in pool '{name}', which keeps none: add keep-results = true to its [pool.dma]"),
        )),
        false => Ok(()),
    }
}

/// Reads `[pool.dma]` of a pool.
pub fn dma(
    source: &Source,
    (raw, name): (RawDma, &str),
    definitions: &Definitions,
) -> Result<DmaDecl> {
    let mut reader = Reader { source, definitions, lines: vec![], line: 0 };
    let number = |given: Option<Spanned<i64>>, usual: i64, most: i64| match given {
        Some(number) if !(1..=most).contains(number.get_ref()) => {
            Err(source.fault(&number.span(), format!("a number from 1 to {most} is due")))
        }
        given => Ok(given.map_or(usual, Spanned::into_inner)),
    };
    if let Some(pool) = raw.keep_in.as_ref().filter(|_| raw.keep.is_none()) {
        let message = "`keep-in` is the pool that `keep` writes to: add keep = \"int ...\", a function that makes \
                       of a tile what `store` does";
        return Err(source.fault(&pool.span(), message));
    }
    if let Some(keep) = raw.keep.as_ref().filter(|_| raw.store.is_none()) {
        let message = "`keep` leaves on the device what `store` would move: add store = \"int ...\" for results \
                       that nothing on the device reads";
        return Err(source.fault(&keep.span(), message));
    }
    let keeps = raw.keep_results.as_ref().map(Spanned::get_ref);
    if let Some(shift) = raw.shift.as_ref()
        && keeps.is_none_or(|keeps| *keeps == Value::Boolean(false))
    {
        let message =
            "`shift` moves rows that stay in the pool for the next tile: add keep-results = true";
        return Err(source.fault(&shift.span(), message));
    }
    if let Some(cost) = raw.shift_cost.as_ref().filter(|_| raw.shift.is_none()) {
        let message = "the cost of a `shift` that the pool does not have: add shift = \"int ...\"";
        return Err(source.fault(&cost.span(), message));
    }
    let keep_in =
        raw.keep_in.map(Spanned::into_inner).or_else(|| raw.keep.as_ref().map(|_| name.to_owned()));
    let spec = DmaSpec {
        channels: number(raw.channels, 1, 1 << 16)?,
        dims: number(raw.dims, MAX_DIMS as i64, MAX_DIMS as i64)?,
        double_buffer: reader.expression(raw.double_buffer)?.unwrap_or_else(|| "true".to_owned()),
        overlap_stores: reader
            .expression(raw.overlap_stores)?
            .unwrap_or_else(|| "false".to_owned()),
        keep_results: reader.expression(raw.keep_results)?.unwrap_or_else(|| "false".to_owned()),
        load: raw.load.map(|text| reader.spanned(text)).transpose()?,
        store: raw.store.map(|text| reader.spanned(text)).transpose()?,
        keep: raw.keep.map(|text| reader.spanned(text)).transpose()?,
        keep_in,
        shift: raw.shift.map(|text| reader.spanned(text)).transpose()?,
        shift_cost: reader.expression(raw.shift_cost)?,
        wait: raw.wait.map(|text| reader.spanned(text)).transpose()?,
        cost: reader.expression(raw.cost)?.unwrap_or_else(|| "bytes".to_owned()),
    };
    Ok(DmaDecl { spec, lines: reader.lines })
}

/// Reads `[pattern.tile]` of the pattern on a line: the declaration, and the lines of its texts.
pub fn tile(
    source: &Source,
    (raw, line): (RawTile, usize),
    pools: &[PoolDecl],
    definitions: &Definitions,
) -> Result<(TileSpec, TileLines)> {
    let mut reader = Reader { source, definitions, lines: vec![], line: 0 };
    // Without a pool tiles stay where the tensors are.
    let mut used = vec![];
    let usual = raw.pool.as_ref().map(|pool| reader.place(pool, pools, &mut used)).transpose()?;
    let line = raw.pool.as_ref().map_or(line, |pool| source.line(&pool.span()));
    reader.lines.push(("tensors".to_owned(), line));
    let mut loops = vec![];
    for l in raw.loops {
        reader.line = source.line(&l.span());
        let l = l.into_inner();
        loops.push(LoopSpec {
            name: reader.note(l.name)?,
            extent: reader.note(text(l.extent))?,
            multiple: l.multiple.map(|value| reader.note(text(value))).transpose()?,
            max: l.max.map(|value| reader.note(text(value))).transpose()?,
            reduce: l.reduce,
        });
    }
    let (mut tensors, mut places, mut own) = (vec![], vec![], vec![]);
    for (name, tensor) in raw.tensors {
        reader.line = source.line(&name.span());
        let name = reader.note(name.into_inner())?;
        let span = tensor.span();
        let (dims, pool) = match tensor.into_inner() {
            RawTensor::Dims(dims) => {
                own.push(OwnSpec::default());
                (dims, None)
            }
            RawTensor::Placed(RawPlaced { dims, pool, dtype, ring, load, store }) => {
                let dtype = dtype.map(|name| reader.note(name)).transpose()?;
                let mut given = |table: BTreeMap<String, Value>| {
                    let given = table.into_iter().map(|(name, value)| reader.given(name, value));
                    given.collect::<Result<Vec<_>>>()
                };
                let (loaded, given) = (given(load)?, given(store)?);
                let ring = ring.map(|name| reader.note(name)).transpose()?;
                own.push(OwnSpec { loaded, given, dtype, ring });
                (dims, pool)
            }
        };
        places.push(match pool {
            Some(pool) => Some(reader.place(&Spanned::new(span, pool), pools, &mut used)?),
            None => usual,
        });
        let dims = dims.into_iter().map(|dim| reader.dim(dim));
        tensors.push((name, dims.collect::<Result<_>>()?));
    }
    let cost = reader.expression(raw.cost)?;
    let require = reader.all(raw.require)?;
    let order = reader.all(raw.order)?;
    let stationary = raw.stationary.map(|name| reader.spanned(name)).transpose()?;
    let pools = used;
    let spec = TileSpec { pools, loops, tensors, places, own, cost, require, order, stationary };
    Ok((spec, reader.lines))
}

struct Reader<'a> {
    source: &'a Source,
    definitions: &'a Definitions,
    lines: TileLines,
    line: usize,
}

impl Reader<'_> {
    /// Fills definitions into a text, and notes which line it is on.
    fn note(&mut self, text: String) -> Result<String> {
        let text = self.definitions.fill(self.source, self.line, &text)?;
        self.lines.push((text.clone(), self.line));
        Ok(text)
    }

    fn spanned(&mut self, text: Spanned<String>) -> Result<String> {
        self.line = self.source.line(&text.span());
        self.note(text.into_inner())
    }

    fn all(&mut self, texts: Vec<Spanned<String>>) -> Result<Vec<String>> {
        texts.into_iter().map(|text| self.spanned(text)).collect()
    }

    fn expression(&mut self, value: Option<Spanned<Value>>) -> Result<Option<String>> {
        let Some(value) = value else { return Ok(None) };
        self.line = self.source.line(&value.span());
        self.note(text(value.into_inner())).map(Some)
    }

    /// An argument of a store: an expression, which may end with `over` and a loop.
    fn given(&mut self, name: String, value: Value) -> Result<GivenSpec> {
        let name = self.note(name)?;
        let whole = self.note(text(value))?;
        let (value, over) = match whole.rsplit_once(" over ") {
            Some((value, over)) => (value.to_owned(), Some(over.trim().to_owned())),
            None => (whole, None),
        };
        for text in [Some(&value), over.as_ref()].into_iter().flatten() {
            self.lines.push((text.clone(), self.line));
        }
        Ok(GivenSpec { name, value, over })
    }

    fn dim(&mut self, dim: RawDim) -> Result<DimSpec> {
        Ok(match dim {
            RawDim::Loop(name) => DimSpec::Loop(self.note(name)?),
            RawDim::Window(RawWindow { over, kernel, stride, dilation, pad }) => {
                let mut number = |value: Option<Value>, usual: &str| {
                    self.note(value.map_or_else(|| usual.to_owned(), text))
                };
                DimSpec::Window {
                    numbers: [
                        number(Some(kernel), "1")?,
                        number(stride, "1")?,
                        number(dilation, "1")?,
                        number(pad, "0")?,
                    ],
                    over: self.note(over)?,
                }
            }
        })
    }

    /// The place of a pool among those that are used, of which it becomes one.
    fn place(
        &mut self,
        name: &Spanned<String>,
        pools: &[PoolDecl],
        used: &mut Vec<PoolSpec>,
    ) -> Result<usize> {
        if let Some(place) = used.iter().position(|pool| pool.name == *name.get_ref()) {
            return Ok(place);
        }
        used.push(self.pool(name, pools)?);
        let place = used.len() - 1;
        // What it converts is kept in a pool that may have no tile of the call.
        if let Some(keeps) = used.last().and_then(|pool| pool.dma.keep_in.clone()) {
            self.place(&Spanned::new(name.span(), keeps), pools, used)?;
        }
        Ok(place)
    }

    fn pool(&mut self, name: &Spanned<String>, pools: &[PoolDecl]) -> Result<PoolSpec> {
        let fault = |message: String| Err(self.source.fault(&name.span(), message));
        let Some(pool) = pools.iter().find(|pool| pool.name == *name.get_ref()) else {
            let known = pools.iter().map(|pool| pool.name.as_str());
            let hint = suggestion(name.get_ref(), known);
            return fault(format!("there is no pool '{}'{hint}", name.get_ref()));
        };
        let (Some(bytes), Some(dma)) = (&pool.bytes, &pool.dma) else {
            return fault(format!(
                "tiles in pool '{}' need its bytes, and [pool.dma] with functions that load and \
                 store",
                pool.name
            ));
        };
        self.lines.extend(dma.lines.clone());
        Ok(PoolSpec {
            name: pool.name.clone(),
            bytes: bytes.to_string(),
            alignment: pool.alignment,
            row: pool.row,
            dma: dma.spec.clone(),
        })
    }
}
