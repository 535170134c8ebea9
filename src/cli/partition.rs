//! `phaseline partition` and `phaseline targets`: who does what, and what there is.

use super::{
    args::{PartitionArgs, TargetsArgs},
    model::{compile_options, import, model_name},
    print,
    registry::Known,
};
use crate::{
    CompileOptions, Error, Phase, Result, Session, Toolkit,
    hook::DryRuns,
    io,
    ir::{self, func},
    outline::{self, PartitionedFunction},
    partition::{FunctionReport, Report, StayReport},
    passes::{cascade_calls, graph_partition, keep_results},
    targets::read_profile,
    tile::told,
};
use melior::ir::Module;

/// Shows the partition of a model between targets.
pub fn partition(toolkit: &Toolkit, args: &PartitionArgs) -> Result<()> {
    let session = super::new_session(toolkit);
    let source = super::bytecode::open(&args.model.model)?;
    let name = model_name(&args.model.model);
    let after = toolkit.phases.placed(args.from.unwrap_or(Phase::Import))?;
    if after > Phase::PrePartition {
        return Err(Error::invalid(format!(
            "--from={after} is after the partition; it is import or pre-partition"
        )));
    }
    let mut options = compile_options(toolkit, &args.target, name.clone(), after, None)?;
    let model = args.model.trusted_if(args.from.is_some());
    let mut module = import(&*source, &session, &model, &options)?;
    // What is divided is what pre-partition leaves.
    session.run_phases(&mut module, &options, Phase::PrePartition)?;
    session.run_pipeline(&mut module, "builtin.module(graph-outline-loops)")?;
    let tiles = args.json || args.html.is_some() || args.svg.is_some() || args.explain.is_some();
    let partitioned = divided(&session, &module, &options, tiles)?;
    if let Some(path) = &args.html {
        let title = format!("{} for {}", args.model.model.display(), args.target.target);
        let page = partitioned.report.picture(&title)?;
        io::write_bytes(path, page)?;
    }
    if let Some(path) = &args.svg {
        let title = format!("{name} for {}", args.target.target);
        io::write_bytes(path, partitioned.report.svg(&title))?;
    }
    if let Some(path) = &args.save_placement {
        let text = partitioned.placement.to_json()?;
        io::write_bytes(path, text)?;
    }
    let mut report = partitioned.report;
    if args.json || args.explain.is_some() {
        // What cannot be compiled is divided all the same.
        match stays(&session, &mut module, &mut options) {
            Ok(stays) => report.stays = stays,
            Err(error) => report.stays_unknown = Some(error.to_string()),
        }
    }
    let report = &report;
    if args.json {
        return print(&(report.to_json()?.trim_end().to_owned() + "\n"));
    }
    let text = |report: &Report| match args.explain.as_deref() {
        Some(which) => report.explanation(which == "all"),
        None if options.placement_search => report.table() + &report.cost_text(),
        None => report.table(),
    };
    let others = report.functions.iter();
    let others =
        others.map(|other| format!("\nfunction @{}:\n{}", other.name, text(&other.report)));
    print(&(text(report) + &others.collect::<String>() + &report.stays_text()))
}

/// The partition of a model's main function, whose report has those of the others; with `tiles` also
/// how the work of matches is cut.
pub(super) fn divided<'s>(
    session: &Session,
    module: &'s Module<'_>,
    options: &CompileOptions<'_>,
    tiles: bool,
) -> Result<PartitionedFunction<'s>> {
    let targets = options.resolve(session)?;
    let placement =
        options.placement.as_deref().map(graph_partition::read_placement).transpose()?;
    let profile = options.profile.as_deref().map(read_profile).transpose()?;
    let judge = DryRuns::default();
    let how = outline::DivideOptions {
        placement: placement.as_ref(),
        search: options.placement_search,
        profile: profile.as_ref(),
        apart: options.apart,
        judge: Some(&judge),
    };
    let operators = options.operators(session)?;
    let mut partitioned_functions = outline::settle(ir::root(module), &targets, &how, &operators)?;
    if partitioned_functions.is_empty() {
        return Err(func::no_main());
    }
    if tiles {
        partitioned_functions
            .iter_mut()
            .try_for_each(|(_, partitioned)| partitioned.account_for_tiles())?;
    }
    let (_, mut partitioned) = partitioned_functions.remove(0);
    for (function, other) in partitioned_functions {
        let (name, report) = (func::symbol(function), other.report);
        partitioned.report.functions.push(FunctionReport { name, report });
    }
    Ok(partitioned)
}

/// Results that passes leave in pools: compiles as far as these passes, if a target has them.
pub(super) fn stays(
    session: &Session,
    module: &mut Module<'_>,
    options: &mut CompileOptions<'_>,
) -> Result<Vec<StayReport>> {
    let pipeline = session.pipeline(options)?;
    let section = pipeline.section(Phase::TirSchedule).unwrap_or_default();
    if ![cascade_calls::PASS.name, keep_results::PASS.name]
        .iter()
        .any(|name| section.contains(name))
    {
        return Ok(vec![]);
    }
    options.after = options.after.max(Phase::PrePartition);
    session.run_phases(module, options, Phase::TirSchedule)?;
    let functions = func::functions(ir::root(module)).into_iter();
    let told = functions.map(|function| {
        let region = func::symbol(function);
        let report = move |stay| StayReport { region: region.clone(), stay };
        Ok(told::told(function)?.into_iter().map(report).collect::<Vec<_>>())
    });
    Ok(told.collect::<Result<Vec<_>>>()?.concat())
}

/// Lists target kinds, or shows one.
pub fn targets(toolkit: &Toolkit, args: &TargetsArgs) -> Result<()> {
    if args.kernels {
        return print(&format!("{}\n", super::kernels::list(toolkit, args)?.trim_end()));
    }
    let registry = Known::of(toolkit, &args.known)?.registry;
    let text = match (&args.name, args.json) {
        (Some(name), true) => registry.one_to_json(name)? + "\n",
        (Some(name), false) => registry.describe_one(name)?,
        (None, true) => registry.to_json()? + "\n",
        (None, false) => registry.describe(),
    };
    print(&format!("{}\n", text.trim_end()))
}
