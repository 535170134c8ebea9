//! `[pattern.tile]`: tiling of the work of a match for a device's own memory.
//!
//! The loops of the work have an extent. Each dimension of a tensor of the call names the loop that
//! cuts it, or the window of a loop that slides over it, or `*` for all of it.
//!
//! Arguments of the call may use `tile.oc`, the positions of a loop that the tile has, `first(ic)`
//! and `last(ic)`. `tile.x.shape[2]` is the number of positions of a dimension that the tile has.
//! `tile.x.pad[2]` and `tile.x.pad_end[2]` are the zeros before and after them at the borders of
//! the tensor. If the tile of a tensor is in no pool, `tile.x.stride[2]` is the number of elements
//! from one position of a dimension to the next.

mod bind;
mod check;
mod dims;
pub mod dma;
mod fold;
mod store;

pub(super) use bind::Binder;
pub use store::{GivenSpec, OwnSpec, given_name};

use crate::expr::{Expr, PatternResult};

/// The declaration, as texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TileSpec {
    /// The memories that tiles are in.
    pub pools: Vec<PoolSpec>,
    /// The loops.
    pub loops: Vec<LoopSpec>,
    /// The tensors of the call by name, with the cut of each of their dimensions.
    pub tensors: Vec<(String, Vec<DimSpec>)>,
    /// For each tensor, the place of the pool that its tile is in; none if the tile stays where the
    /// tensor is.
    pub places: Vec<Option<usize>>,
    /// For each tensor, the properties of its tile itself.
    pub own: Vec<OwnSpec>,
    /// Cost of the computation of a tile.
    pub cost: Option<String>,
    /// Conditions on the sizes of a tile.
    pub require: Vec<String>,
    /// Loops by name, outermost first.
    pub order: Vec<String>,
    /// The tensor whose tile stays as long as possible.
    pub stationary: Option<String>,
}

impl TileSpec {
    /// The name of the pool that the tile of a tensor is in, if it is in any.
    pub fn pool_of(&self, tensor: &str) -> Option<&str> {
        let index = self.tensors.iter().position(|(name, _)| name == tensor)?;
        Some(self.pools.get((*self.places.get(index)?)?)?.name.as_str())
    }
}

/// A memory and its DMA, as texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct PoolSpec {
    /// Its name.
    pub name: String,
    /// Its size in bytes, over options.
    pub bytes: String,
    /// Alignment of buffers in it, in bytes.
    pub alignment: i64,
    /// Bytes that the innermost dimension of a tile is filled up to a multiple of.
    pub row: i64,
    /// Its DMA.
    pub dma: DmaSpec,
}

/// DMA of a pool, as texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DmaSpec {
    /// Number of channels.
    pub channels: i64,
    /// The most dimensions of a transfer.
    pub dims: i64,
    /// Condition of double buffering, over options: the next tile is loaded while one is computed
    /// on.
    pub double_buffer: String,
    /// Condition of overlapped stores, over options: the next tile is computed while one is stored.
    pub overlap_stores: String,
    /// Condition, over options, under which results stay for the calls that read them.
    pub keep_results: String,
    /// Prototype of the function that starts a transfer into the pool, if there is one.
    pub load: Option<String>,
    /// Prototype of the function that starts a transfer out of it, if there is one.
    pub store: Option<String>,
    /// Prototype of the function that leaves what a store would make of a tile in `keep_in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// The pool that `keep` writes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_in: Option<String>,
    /// Prototype of the function that moves the end of a tile to its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<String>,
    /// Its cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_cost: Option<String>,
    /// Prototype of the function that waits for a transfer.
    pub wait: Option<String>,
    /// Cost of a transfer.
    pub cost: String,
}

/// A loop, as texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoopSpec {
    /// Its name.
    pub name: String,
    /// Number of positions.
    pub extent: String,
    /// Number that pieces are multiples of.
    pub multiple: Option<String>,
    /// The most positions of a piece.
    pub max: Option<String>,
    /// True for a reduction: results of its pieces are added up.
    pub reduce: bool,
}

/// Cut of a dimension of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum DimSpec {
    /// The loop of this name; `*` for none.
    Loop(String),
    /// A window that slides along a loop.
    Window {
        /// The loop.
        over: String,
        /// Taps, stride, dilation and zeros before the first position.
        numbers: [String; 4],
    },
}

/// A declaration that has been read and checked.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The declaration.
    pub spec: TileSpec,
    /// For each pool, its bytes, and the conditions of double buffering, of overlapped stores, and
    /// of results that stay.
    pools: Vec<[Expr; 4]>,
    loops: Vec<Loop>,
    /// For each tensor of the declaration, its dimensions.
    tensors: Vec<Vec<Dim>>,
    /// For each tensor of the declaration, the properties of its tile itself.
    own: Vec<store::Own>,
    cost: Option<Expr>,
    require: Vec<Expr>,
    /// The pools at whose start nothing may be, as its offset stands for an absent operand.
    pub keeps_start: Vec<String>,
}

#[derive(Clone, Debug)]
struct Loop {
    extent: Expr,
    multiple: Option<Expr>,
    max: Option<Expr>,
}

#[derive(Clone, Debug)]
enum Dim {
    Whole,
    Loop(usize),
    Window(usize, Box<[Expr; 4]>),
}

impl Tile {
    /// All expressions of the declaration.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let windows = self.tensors.iter().flatten().filter_map(|dim| match dim {
            Dim::Window(_, numbers) => Some(numbers.iter()),
            _ => None,
        });
        let pools = self.pools.iter().flatten();
        let loops = self.loops.iter();
        let loops = loops.flat_map(|one| one.multiple.iter().chain(&one.max).chain([&one.extent]));
        let given = self.own.iter().flat_map(store::Own::exprs);
        pools
            .chain(loops)
            .chain(windows.flatten())
            .chain(given)
            .chain(&self.cost)
            .chain(&self.require)
    }

    /// The loops by name: their extents, what tiles are multiples of, and the most that they are.
    pub fn extents(&self) -> impl Iterator<Item = (&str, &Expr, [Option<&Expr>; 2])> {
        let names = self.spec.loops.iter().map(|one| one.name.as_str());
        names
            .zip(&self.loops)
            .map(|(name, one)| (name, &one.extent, [one.multiple.as_ref(), one.max.as_ref()]))
    }

    /// Bytes of the rows of pools that may keep results; none if none does.
    pub fn kept_row(&self) -> Option<i64> {
        let keeping = self.spec.pools.iter().filter(|pool| pool.dma.keep_results != "false");
        keeping.map(|pool| pool.row).max()
    }

    /// The numbers that sizes of tiles are multiples of, and the most that they are.
    pub fn blocks(&self) -> Vec<i64> {
        let mut found = vec![];
        for expr in self.loops.iter().flat_map(|one| [&one.multiple, &one.max]).flatten() {
            expr.visit(&mut |expr: &Expr| found.extend(expr.as_int()));
        }
        found
    }
}

fn parse(text: &str) -> PatternResult<Expr> {
    Expr::parse(text)
}
