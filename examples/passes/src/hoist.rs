//! `hoist`: moves what is the same in each iteration in front of a loop. A rewrite of loops with dominance.

use phaseline_toolkit::{
    Context, Result,
    ir::{
        self, Op,
        analysis::Dominance,
        captured, edit,
        interface::{Loop, is_pure},
    },
    pass::{PassCx, PassResult, RunPass},
    pass_options,
};

pass_options! {
    /// Options of `hoist`.
    pub struct HoistOptions {
        most: i64 = "100", "Operations moved in front of one loop, at most";
        only: Vec<String> = "", "Names of the operations that are moved; all without effects if there are none";
    }
}

pub struct Hoist(HoistOptions);

impl Hoist {
    fn may_move(&self, op: Op<'_>) -> bool {
        let names = &self.0.only;
        is_pure(op) && (names.is_empty() || names.iter().any(|name| name == ir::op_name(op)))
    }
}

impl RunPass for Hoist {
    const NAME: &'static str = "hoist";
    const SUMMARY: &'static str = "Move what does not change in front of loops";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("moved", "Operations moved")];
    type Options = HoistOptions;

    fn new(options: HoistOptions, _: &Context) -> Result<Self> {
        Ok(Self(options))
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let dominance = cx.analysis::<Dominance>()?;
        // Inner loops first: what leaves one may leave the one around it.
        for around in edit::walk(cx.op()).into_iter().rev().filter_map(Loop::of) {
            let mut moved = 0;
            for op in ir::ops_of(around.op) {
                let mut uses = ir::operands(op).into_iter().chain(captured(op));
                let is_same = uses.all(|value| dominance.reaches(value, around.op));
                if is_same && moved < self.0.most && self.may_move(op) {
                    ir::move_before(op, around.op)?;
                    moved += 1;
                }
            }
            cx.count("moved", moved as usize);
        }
        // No block was made or went.
        cx.preserve::<Dominance>();
        Ok(())
    }
}
