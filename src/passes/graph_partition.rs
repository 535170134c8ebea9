//! `graph-partition`: divides `@main`, and other functions of the network, between the targets of
//! the compile.
//!
//! ```text
//! @main: %0 = graph.conv ...; %1 = graph.relu %0; %2 = graph.softmax %1
//!   -->  @main: %1 = call @npu_0(...); %2 = graph.softmax %1
//!        @npu_0 {phl.target = "npu"}: graph.composite "npu.conv2d" { conv; relu }
//! ```
//! Matching, choosing and merging are in [`crate::partition`], the changes to the IR in
//! [`crate::outline`].

use crate::{
    Error,
    ir::{self, Op, edit, names::{APART, DECLINED, LAYOUT_CHANGES, TARGET_SPEC}, schedule::Schedule},
    hook::DryRuns,
    outline::{self, PartitionedFunction},
    partition::Placement,
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets::{
        Operators, Registry, TargetInstance, TargetSpec, check_compiler, of_context, read_profile,
    },
};
use melior::{
    Context,
    ir::{Attribute, attribute::{ArrayAttribute, StringAttribute}},
};
use std::path::Path;

crate::pass_options! {
    /// Options of `graph-partition`.
    pub struct Options {
        targets: String = "", "Target spec; empty: the module's phl.target_spec, or llvm";
        target_path: String = "", "Directories with targets as data, separated by colons";
        placement: String = "", "File with placements that take precedence over patterns";
        placement_search: bool = "false", "Search for the partition with the least cost";
        profile: String = "", "File with measured costs and tiles, in place of estimates";
        apart: bool = "false", "Make each match of a device a region of its own, and wait for it";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-partition",
    summary: "Divide the network between the targets",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["graph", "func"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let spec = match options.targets.trim() {
        "" => ir::attr_str(module, TARGET_SPEC).unwrap_or_else(|| "llvm".to_owned()),
        given => given.to_owned(),
    };
    let context = ir::context_of(module);
    let paths = std::env::split_paths(&options.target_path);
    let (targets, operators) = known_in(context, &spec, paths)?;
    let placement = match options.placement.as_str() {
        "" => None,
        path => Some(read_placement(Path::new(path))?),
    };
    let profile = match options.profile.as_str() {
        "" => None,
        path => Some(read_profile(Path::new(path))?),
    };
    let judge = DryRuns::default();
    let how = outline::DivideOptions {
        placement: placement.as_ref(),
        search: options.placement_search,
        profile: profile.as_ref(),
        apart: options.apart,
        judge: Some(&judge),
    };
    if options.apart {
        edit::set_attr(module, APART, Attribute::unit(context));
    }
    let partitioned_functions: Vec<(Op<'c>, PartitionedFunction<'c>)> = 
        outline::settle(module, &targets, &how, &operators)?;
    for (function, partitioned) in &partitioned_functions {
        outline::apply(module, *function, partitioned, &targets)?;
    }
    if partitioned_functions.is_empty() {
        return Ok(());
    }
    let declined: Vec<Attribute<'c>> = partitioned_functions
        .iter()
        .flat_map(|(_, partitioned)| partitioned.declined())
        .map(|text| StringAttribute::new(context, &text).into())
        .collect();
    if !declined.is_empty() {
        edit::set_attr(module, DECLINED, ArrayAttribute::new(context, &declined).into());
    }
    let layouts: Vec<Attribute<'c>> = partitioned_functions
        .iter()
        .filter_map(|(_, partitioned)| partitioned.report.layouts.as_ref())
        .map(|layouts| StringAttribute::new(context, &layouts.text()).into())
        .collect();
    if !layouts.is_empty() {
        edit::set_attr(module, LAYOUT_CHANGES, ArrayAttribute::new(context, &layouts).into());
    }
    let schedules = schedules(&targets, &partitioned_functions)?;
    if !schedules.is_empty() {
        Schedule::write(module, &schedules)?;
    }
    edit::set_attr(module, TARGET_SPEC, StringAttribute::new(context, &spec).into());
    Ok(())
}

/// Schedules of the divided functions.
fn schedules(
    targets: &[TargetInstance],
    partitioned_functions: &[(Op<'_>, PartitionedFunction<'_>)],
) -> crate::Result<Vec<Schedule>> {
    let regions = || partitioned_functions.iter().flat_map(|(_, partitioned)| &partitioned.partition.regions);
    let mut all = vec![];
    for target in targets.iter().filter(|target| !target.kind.schedules.is_empty()) {
        let own = regions().filter(|region| region.target == target.id);
        let matched = own.flat_map(|region| &region.composites).map(|found| found.name.as_str());
        all.extend(target.schedules(&matched.collect())?);
    }
    Ok(all)
}

/// The targets that a spec names, among the built-in kinds, those that the session of the context
/// has been given, and those below `paths`.
pub fn resolve_in(
    context: &Context,
    spec: &str,
    paths: impl Iterator<Item = std::path::PathBuf>,
) -> crate::Result<Vec<TargetInstance>> {
    known_in(context, spec, paths).map(|(targets, _)| targets)
}

/// The same with the operators of vendors that these and all known targets declare.
pub fn known_in(
    context: &Context,
    spec: &str,
    paths: impl Iterator<Item = std::path::PathBuf>,
) -> crate::Result<(Vec<TargetInstance>, Operators)> {
    let mut registry = Registry::builtin()?;
    for kind in of_context(context) {
        registry.add_shared(kind.clone())?;
    }
    for path in paths.filter(|path| !path.as_os_str().is_empty()) {
        registry.add_path(&path)?;
    }
    let targets = registry.resolve(&spec.parse::<TargetSpec>()?)?;
    check_compiler(&targets)?;
    let operators = Operators::new(&targets, registry.kinds())?;
    Ok((targets, operators))
}

/// Reads a placement file.
pub fn read_placement(path: &Path) -> crate::Result<Placement> {
    let text = crate::io::read_text(path).map_err(|e| Error::io("cannot read", path, e))?;
    Placement::from_json(&text, &path.to_string_lossy())
}
