//! `remove-unread`: files that are opened and closed, and that nothing reads between, are not opened. What compilers for
//! smart contracts do with drops of values that nothing uses: an operation with an effect goes where its counterpart is all
//! that sees it.

use crate::file;
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
    pass::{PassCx, PassResult, RunPass},
};

/// An open file whose uses are closes goes with them.
const UNREAD: Rule = Rule { name: "unread", root: file::Open::NAME, benefit: 1, apply: remove };

fn remove<'c>(rewriter: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(open) = file::Open::of(op) else { return Ok(false) };
    let uses = users(open.file());
    // Opening a file to write makes it, which is seen from outside.
    if !is_read(open) || !uses.iter().all(|user| file::Close::is(*user)) {
        return Ok(false);
    }
    for close in uses {
        rewriter.erase(close)?;
    }
    rewriter.erase(op)?;
    Ok(true)
}

fn is_read(open: file::Open<'_>) -> bool {
    open.mode().to_string().contains("read")
}

pub struct RemoveUnread;

impl RunPass for RemoveUnread {
    const NAME: &'static str = "remove-unread";
    const SUMMARY: &'static str =
        "Remove files that nothing reads, and warn of reads behind a close";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("removed", "Files not opened")];
    type Options = ();

    fn new((): (), _: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let removed = cx.rewrite(&[UNREAD])?;
        cx.count("removed", removed as usize);
        let dominance = cx.analysis::<Dominance>()?;
        for close in edit::walk(cx.op()).into_iter().filter_map(file::Close::of) {
            for read in users(close.file()).into_iter().filter(|user| file::Read::is(*user)) {
                if dominance.dominates(close.op(), read) {
                    cx.warn(read, "reads a file that is closed").note(close.op(), "here");
                }
            }
        }
        Ok(())
    }
}
