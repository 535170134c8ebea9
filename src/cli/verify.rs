//! `phaseline verify`: compares with reference outputs in ONNX's test layout.

use super::{
    args::{DataArgs, InputArgs, VerifyArgs},
    print,
    run::{Preparation, prepare},
};
use crate::{
    Error, Result, Toolkit, io,
    package::Metadata,
    tensor::{Tensor, compare},
};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// Runs every test data set and reports the worst error; fails on a mismatch.
pub fn verify(toolkit: &Toolkit, args: &VerifyArgs) -> Result<()> {
    let folder = match (&args.data, args.model.model.parent()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(parent)) if parent != Path::new("") => parent.to_path_buf(),
        (None, _) => PathBuf::from("."),
    };
    let sets = data_sets(&folder)?;
    if args.model.model.is_dir() {
        // Loading looks at the start of large weights only.
        Metadata::read(&args.model.model)?.check_files(&args.model.model)?;
    }
    let mut failures = vec![];
    for set in &sets {
        let inputs = InputArgs { inputs: Some(set.clone()), random_inputs: None };
        let data = DataArgs { inputs, outputs: None };
        let ready = prepare(
            toolkit,
            &args.model,
            &args.target,
            &data,
            &Preparation::new(&args.cache, false),
        )?;
        let outputs = ready.executable.run_named(&ready.inputs)?;
        let set_name = set.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (name, got, want) in expected(set, &outputs)? {
            let comparison = compare(&got, &want, args.rtol, args.atol)?;
            print(&format!("{set_name} {name}: {comparison}\n"))?;
            if !comparison.passed() {
                failures.push(format!("{set_name} {name}"));
            }
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "outputs differ beyond --rtol {} and --atol {}: {}",
        args.rtol,
        args.atol,
        failures.join(", ")
    )))
}

fn data_sets(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| Error::io("cannot read", folder, e))?.flatten();
    let mut sets: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("test_data_set_") && path.is_dir()
        })
        .collect();
    sets.sort();
    if sets.is_empty() {
        return Err(Error::invalid(format!(
            "{} has no test_data_set_N directory; --data names the directory that does",
            folder.display()
        )));
    }
    Ok(sets)
}

/// Pairs each output with the reference of its number.
fn expected(
    set: &Path,
    outputs: &IndexMap<String, Tensor>,
) -> Result<Vec<(String, Tensor, Tensor)>> {
    let files = io::pb::numbered_files(set, "output")?;
    if files.is_empty() {
        return Err(Error::invalid(format!(
            "{} has no output_N.pb to compare with",
            set.display()
        )));
    }
    files
        .into_iter()
        .map(|(number, path)| {
            let (name, got) = outputs.get_index(number).ok_or_else(|| {
                Error::invalid(format!(
                    "{} is for output {number}, but the model has {} outputs",
                    path.display(),
                    outputs.len()
                ))
            })?;
            Ok((name.clone(), got.clone(), io::pb::read(&path)?.1))
        })
        .collect()
}
