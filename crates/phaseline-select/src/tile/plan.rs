//! Plan of a call that is computed tile by tile: its loops, and the tiles of its tensors.
//!
//! A plan is made for a match (`crate::pattern`), travels with the call as the attribute
//! `phl.tile`, and is carried out by the pass `tile-calls`.

use super::{Tiles, pool::Pool};
use serde::{Deserialize, Serialize};

/// The greatest size of anything, so that no product of two is too large.
const MAX_SIZE: i64 = i32::MAX as i64;

/// A call that is computed tile by tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The memories that tiles are in.
    pub pools: Vec<Pool>,
    /// The loops. Those that reduce are innermost; the order of the others is chosen.
    pub loops: Vec<Loop>,
    /// The tensors that the call reads, then those that it writes, in the order of its operands.
    pub tensors: Vec<Tensor>,
    /// The arguments that differ from tile to tile.
    pub args: Vec<Argument>,
    /// Cost of the computation of a tile: an expression over sizes of the tile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Conditions on the sizes of a tile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<String>,
    /// Loops by name, outermost first; others may be anywhere between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// The tensor whose tile stays as long as possible: loops that cut it are outside of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stationary: Option<String>,
    /// The tiles to take in place of those that cost least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiles: Option<Tiles>,
}

/// A dimension of the work that is cut into pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// Its name.
    pub name: String,
    /// Number of positions.
    pub extent: i64,
    /// Pieces are multiples of this, or all positions.
    pub multiple: i64,
    /// The most positions of a piece; 0 for no limit.
    pub max: i64,
    /// True for a reduction: the results of its pieces are added up in the output.
    pub reduce: bool,
    /// The windows that slide along it.
    pub windows: Vec<Window>,
}

/// A sliding window: the positions of a tensor's dimension that positions of a loop read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The tensor's name.
    pub tensor: String,
    /// Its dimension, as the pattern counts.
    pub dim: i64,
    /// Positions of the dimension.
    pub input: i64,
    /// Taps of the kernel.
    pub kernel: i64,
    /// Input positions from one position of the loop to the next.
    pub stride: i64,
    /// Input positions from one tap to the next.
    pub dilation: i64,
    /// Zeros before the input.
    pub pad: i64,
}

/// A tensor of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name in the prototype.
    pub name: String,
    /// Bytes of an element of its tile.
    pub element: i64,
    /// Bytes of an element of the tensor; 0 if they are those of the tile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outside: i64,
    /// The element type of its tile, if that is not the tensor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// Arguments of the function that loads or stores its tile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// The memory that its tile is in, by its place among the pools; -1 for a part of the tensor that
    /// stays where it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pool: i64,
    /// True if all of it is in a pool. Tiles are parts of it and nothing is moved, unless the tensor is
    /// converted: then its tiles are moved to where it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// The loop along which tiles keep what the next one needs, by its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<i64>,
    /// Its dimensions, in the layout of the call.
    pub dims: Vec<Dim>,
}

/// Arguments of a function that loads or stores a tile, besides the transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Its name in the prototype, after `given.`.
    pub name: String,
    /// A number: an expression over the tile.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The tensor that is the array, by its place; -1 for a number.
    pub table: i64,
}

/// The part of a dimension that a tile has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dim {
    /// Positions of the whole dimension.
    pub size: i64,
    /// The loop that cuts it, by its place; -1 for none.
    pub cut: i64,
    /// Positions of the loop that are one position of the dimension.
    pub divisor: i64,
    /// The window of the loop, by its place; -1 for positions of the loop themselves.
    pub window: i64,
}

/// An argument that differs from tile to tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its place among the arguments of the call.
    pub place: i64,
    /// The field, if the argument is a struct; else empty.
    pub field: String,
    /// Its value: an expression over the tile.
    pub value: String,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

impl Dim {
    /// A dimension of which each tile has all.
    pub fn whole(size: i64) -> Self {
        Self { size, cut: -1, divisor: 1, window: -1 }
    }

    /// The place of the loop that cuts it.
    pub fn loop_place(&self) -> Option<usize> {
        usize::try_from(self.cut).ok()
    }

    /// The place of its window among those of the loop.
    pub fn window_place(&self) -> Option<usize> {
        usize::try_from(self.window).ok()
    }
}

impl Tensor {
    /// A tensor with bytes of an element, the pool of its tile, and dimensions; its tile has the same
    /// elements.
    pub fn plain(name: String, (element, pool): (i64, i64), dims: Vec<Dim>) -> Self {
        Self {
            name,
            element,
            outside: 0,
            dtype: None,
            given: vec![],
            pool,
            kept: false,
            ring: None,
            dims,
        }
    }

    /// Bytes of an element where it is moved to or from.
    pub fn moved_element(&self) -> i64 {
        if self.outside > 0 { self.outside } else { self.element }
    }

    /// True if the function that loads or stores its tile is given arrays.
    pub fn has_arrays(&self) -> bool {
        self.given.iter().any(|given| given.table >= 0)
    }

    /// True if its tile is loaded or stored by more than a copy.
    pub fn is_converted(&self) -> bool {
        self.dtype.is_some() || !self.given.is_empty()
    }

    /// The place of the pool that its tile is in, if it is in any.
    pub fn pool_place(&self) -> Option<usize> {
        usize::try_from(self.pool).ok()
    }

    /// The place of the pool that its tiles are moved to or from, if they are moved.
    pub fn moved_pool(&self) -> Option<usize> {
        self.pool_place().filter(|_| !self.is_part())
    }

    /// True if its tiles are parts of what is kept in their pool.
    pub fn is_part(&self) -> bool {
        self.kept && !self.is_converted()
    }

    /// Bytes of an element where all of it is kept.
    pub fn kept_element(&self) -> i64 {
        if self.is_converted() { self.moved_element() } else { self.element }
    }

    /// Bytes of all of it in the pool that keeps it, rows filled up.
    pub fn bytes_in(&self, pool: &Pool) -> i64 {
        let mut dims = self.dims.iter().rev().map(|dim| dim.size);
        let element = self.kept_element();
        let row = pool.filled(dims.next().unwrap_or(1), element).saturating_mul(element);
        pool.aligned(dims.fold(row, i64::saturating_mul))
    }

    /// True if its tile depends on a loop.
    pub fn depends_on(&self, place: usize) -> bool {
        self.dims.iter().any(|dim| dim.loop_place() == Some(place))
    }
}

impl Plan {
    /// Checks numbers and names; the error tells the first fault.
    pub fn check(&self) -> Result<(), String> {
        self.check_pools()?;
        self.check_tensors()?;
        self.check_sizes()?;
        self.check_dims()?;
        if let Some(name) = self.order.iter().find(|name| self.loop_named(name).is_none()) {
            return Err(format!("whose order has '{name}', which is no loop"));
        }
        let has = |name: &&String| self.tensors.iter().any(|tensor| tensor.name == **name);
        if let Some(name) = self.stationary.as_ref().filter(|name| !has(name)) {
            return Err(format!("that keeps '{name}', which is no tensor"));
        }
        Ok(())
    }

    fn check_pools(&self) -> Result<(), String> {
        for (place, Pool { name, bytes, alignment, .. }) in self.pools.iter().enumerate() {
            if crate::identifier::c_identifier(name) != *name {
                return Err(format!("whose pool is called '{name}', which is no identifier"));
            }
            if self.pools[..place].iter().any(|other| other.name == *name) {
                return Err(format!("with two pools that are called '{name}'"));
            }
            if *bytes < 1 || *alignment < 1 {
                return Err(format!("whose pool '{name}' has no size or alignment"));
            }
            let dma = &self.pools[place].dma;
            let known = |keeps: &String| self.pools.iter().any(|pool| pool.name == *keeps);
            if dma.keep.is_some() != dma.keep_in.as_ref().is_some_and(known) {
                return Err(format!("whose pool '{name}' keeps results in none of its pools"));
            }
        }
        Ok(())
    }

    fn check_tensors(&self) -> Result<(), String> {
        if let Some(tensor) = self
            .tensors
            .iter()
            .find(|t| t.pool_place().is_some_and(|place| place >= self.pools.len()))
        {
            let (name, pool, count) = (&tensor.name, tensor.pool, self.pools.len());
            return Err(format!("whose tensor '{name}' is in pool {pool} of {count}"));
        }
        for tensor in &self.tensors {
            let is_table = |given: &Given| given.table < 0 || self.is_table(given.table);
            if let Some(given) = tensor.given.iter().find(|given| !is_table(given)) {
                return Err(format!("that gives '{}' what is no array", given.name));
            }
            if tensor.element < 1 || tensor.outside < 0 {
                return Err(format!("whose tensor '{}' has elements of no size", tensor.name));
            }
        }
        Ok(())
    }

    /// Sizes are none too large, and those of loops none too small.
    fn check_sizes(&self) -> Result<(), String> {
        let sizes = self.loops.iter().flat_map(|l| {
            let windows =
                l.windows.iter().flat_map(|w| [w.input, w.kernel, w.stride, w.dilation, w.pad]);
            [l.extent, l.multiple, l.max].into_iter().chain(windows)
        });
        let dims = self.tensors.iter().flat_map(|tensor| &tensor.dims);
        let dims = dims.flat_map(|dim| [dim.size, dim.divisor]);
        if let Some(large) = sizes.chain(dims).find(|size| *size > MAX_SIZE) {
            return Err(format!("with the size {large}, which is more than {MAX_SIZE}"));
        }
        let positive = |l: &Loop| {
            let windows = l.windows.iter();
            l.extent > 0
                && l.multiple > 0
                && windows.clone().all(|w| w.input > 0 && w.kernel > 0 && w.pad >= 0)
                && windows.clone().all(|w| w.stride > 0 && w.dilation > 0)
        };
        if let Some(wrong) = self.loops.iter().find(|l| !positive(l)) {
            return Err(format!("whose loop '{}' has a number that is not positive", wrong.name));
        }
        Ok(())
    }

    fn check_dims(&self) -> Result<(), String> {
        for dim in self.tensors.iter().flat_map(|tensor| &tensor.dims) {
            let found = dim.loop_place().map(|place| self.loops.get(place));
            let window = |l: &Loop| dim.window_place().is_none_or(|w| w < l.windows.len());
            if dim.size < 1 || dim.divisor < 1 || !found.is_none_or(|l| l.is_some_and(window)) {
                return Err("whose tensors have dimensions without size or loop".to_owned());
            }
        }
        Ok(())
    }

    /// True for an array, which stays where it is.
    fn is_table(&self, place: i64) -> bool {
        let tensor = usize::try_from(place).ok().and_then(|place| self.tensors.get(place));
        tensor.is_some_and(|tensor| tensor.pool < 0)
    }

    /// Number of tensors that are read when so many are written.
    pub fn reads(&self, written: usize) -> usize {
        self.tensors.len().saturating_sub(written)
    }

    /// The place of the pool that all of a tensor is kept in, or would be: its own, or that which its own
    /// pool converts results for.
    pub fn keeping(&self, tensor: &Tensor) -> Option<usize> {
        let own = tensor.pool_place()?;
        if !tensor.is_converted() {
            return Some(own);
        }
        let name = self.pools.get(own)?.dma.keep_in.as_ref()?;
        self.pools.iter().position(|pool| pool.name == *name)
    }

    /// The names of the loops.
    pub fn loop_names(&self) -> Vec<String> {
        self.loops.iter().map(|l| l.name.clone()).collect()
    }

    /// The place of a loop.
    pub fn loop_named(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|other| other.name == name)
    }

    /// The loop and the window that a dimension of a tensor is read through.
    pub fn window(&self, tensor: &str, dim: i64) -> Option<(usize, usize)> {
        self.loops.iter().enumerate().find_map(|(place, l)| {
            let is = |w: &Window| w.tensor == tensor && w.dim == dim;
            l.windows.iter().position(is).map(|window| (place, window))
        })
    }
}
