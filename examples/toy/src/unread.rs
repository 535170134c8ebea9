//! `toy-remove-unread`: files that are opened and closed, and that nothing reads between, are not opened. What compilers for
//! smart contracts do with drops of values that nothing uses: an operation with an effect goes where its counterpart is all
//! that sees it.

use crate::toy;
use phaseline_toolkit::{
    Context, Result,
    ir::{
        Op,
        analysis::Dominance,
        edit,
        rewrite::{Rewriter, Rule},
        users,
        view::OpView,
    },
    pass::{NoOptions, PassCx, PassResult, RunPass},
};

/// An open file whose uses are closes goes with them.
const UNREAD: Rule = Rule { name: "unread", root: toy::Open::NAME, benefit: 1, apply: remove };

fn remove<'c>(rewriter: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(open) = toy::Open::of(op) else { return Ok(false) };
    let uses = users(open.file());
    // Opening a file to write makes it, which is seen from outside.
    if !is_read(open) || !uses.iter().all(|user| toy::Close::is(*user)) {
        return Ok(false);
    }
    for close in uses {
        rewriter.erase(close)?;
    }
    rewriter.erase(op)?;
    Ok(true)
}

fn is_read(open: toy::Open<'_>) -> bool {
    open.mode().to_string().contains("read")
}

pub struct RemoveUnread;

impl RunPass for RemoveUnread {
    const NAME: &'static str = "toy-remove-unread";
    const SUMMARY: &'static str =
        "Remove files that nothing reads, and warn of reads behind a close";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("removed", "Files not opened")];
    type Options = NoOptions;

    fn new(_: NoOptions, _: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let removed = cx.rewrite(&[UNREAD])?;
        cx.count("removed", removed as usize);
        let dominance = cx.analysis::<Dominance>()?;
        for close in edit::walk(cx.op()).into_iter().filter_map(toy::Close::of) {
            for read in users(close.file()).into_iter().filter(|user| toy::Read::is(*user)) {
                if dominance.dominates(close.op(), read) {
                    cx.warn(read, "reads a file that is closed").note(close.op(), "here");
                }
            }
        }
        Ok(())
    }
}
