//! `phaseline partition` and `phaseline targets`: who does what, and what there is.

use super::{
    args::{PartitionArgs, TargetsArgs},
    data::target_path,
    model::{Source, compile_options, model_name},
    print,
};
use crate::{
    Phase, Result, Session,
    ir::{self, func},
    outline,
    passes::graph_partition,
    profile::Profile,
    target::Registry,
};

/// Shows the division of a model between targets.
pub fn partition(args: &PartitionArgs) -> Result<()> {
    let session = Session::new();
    let source = Source::open(&args.model.model)?;
    let module = source.import(&session, &args.model, None)?;
    let name = model_name(&args.model.model);
    let options = compile_options(&args.target, name, Phase::Import, None)?;
    // What is divided is what pre-partition leaves.
    session.run_phases(&module, &options, Phase::PrePartition)?;
    let targets = options.resolve()?;
    let placement =
        options.placement.as_deref().map(graph_partition::read_placement).transpose()?;
    let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
    let profile = options.profile.as_deref().map(Profile::read).transpose()?;
    let how = outline::DivideOptions {
        placement: placement.as_ref(),
        search: options.placement_search,
        profile: profile.as_ref(),
    };
    let division = outline::divide_with(main, &targets, &how)?;
    if let Some(path) = &args.html {
        let title = format!("{} for {}", args.model.model.display(), args.target.target);
        let page = division.report.picture(&title)?;
        std::fs::write(path, page).map_err(|e| crate::Error::io("cannot write", path, e))?;
    }
    if let Some(path) = &args.save_placement {
        let text = division.placement.to_json()?;
        std::fs::write(path, text).map_err(|e| crate::Error::io("cannot write", path, e))?;
    }
    let report = &division.report;
    let mut text = match (args.json, args.explain) {
        (true, _) => return print(&(report.to_json()?.trim_end().to_owned() + "\n")),
        (false, true) => report.explanation(),
        (false, false) => report.table(),
    };
    if options.placement_search && !args.explain {
        text += &report.cost_text();
    }
    print(&text)
}

/// Lists target kinds, or shows one.
pub fn targets(args: &TargetsArgs) -> Result<()> {
    let mut registry = Registry::builtin()?;
    for path in target_path(&args.target_path) {
        registry.add_path(&path)?;
    }
    let text = match (&args.name, args.json) {
        (Some(name), true) => registry.get(name)?.to_json()? + "\n",
        (Some(name), false) => registry.get(name)?.describe(),
        (None, true) => registry.to_json()? + "\n",
        (None, false) => registry.describe(),
    };
    print(&format!("{}\n", text.trim_end()))
}
