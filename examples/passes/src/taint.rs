//! `taint`: says which arguments of a function a value that is written depends on. A dataflow analysis with remarks.

use crate::file;
use phaseline_toolkit::{
    Context, Result,
    ir::{
        Op, Val,
        dataflow::{DataFlow, Direction, Flow, Lattice},
        edit,
        view::OpView,
    },
    pass::{PassCx, PassResult, RunPass},
};
use std::collections::BTreeSet;

/// Arguments, by their places.
#[derive(Clone, Debug, Default, PartialEq)]
struct Arguments(BTreeSet<usize>);

impl Lattice for Arguments {
    fn join(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }
}

#[derive(Default)]
struct Taint;

impl Flow for Taint {
    type State = Arguments;
    const DIRECTION: Direction = Direction::Forward;

    fn visit(&self, _: Op<'_>, from: &[&Arguments], to: &mut [Arguments]) {
        for state in to {
            from.iter().for_each(|other| state.join(other));
        }
    }

    fn border(&self, value: Option<Val<'_>>) -> Arguments {
        let place = value.and_then(edit::owner_block).map(|(_, place)| place);
        Arguments(place.into_iter().collect())
    }
}

pub struct FindTaint;

impl RunPass for FindTaint {
    const NAME: &'static str = "taint";
    const SUMMARY: &'static str = "Remark on writes of what depends on arguments";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("writes", "Writes remarked on")];
    type Options = ();

    fn new((): (), _: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let taint = cx.analysis::<DataFlow<Taint>>()?;
        for write in edit::walk(cx.op()).into_iter().filter_map(file::Write::of) {
            let Arguments(places) = taint.of(write.x());
            if !places.is_empty() {
                cx.remark(write.op(), format!("depends on arguments {places:?}"))
                    .note(cx.op(), "of this function");
                cx.count("writes", 1);
            }
        }
        cx.preserve_all();
        Ok(())
    }
}
