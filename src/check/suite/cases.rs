//! Finds the cases of a suite in a folder.

use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Greatest depth of cases below the suite's folder.
const DEPTH: usize = 6;

/// A model with the data that it is run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Path below the suite's folder, without `model.onnx` or the ending.
    pub name: String,
    /// The model.
    pub model: PathBuf,
    /// Folders `test_data_set_N`; without any the case is compared with the host on random inputs.
    pub sets: Vec<PathBuf>,
}

/// The cases of a folder in the order of their names: `NAME/model.onnx` with `test_data_set_N`
/// beside it, as ONNX has them, and other models.
///
/// # Errors
/// The folder cannot be read, or has no model.
pub fn find(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = vec![];
    look(folder, folder, DEPTH, &mut cases)?;
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    if cases.is_empty() {
        return Err(Error::invalid(format!(
            "{} has no case: --suite takes a folder with NAME/model.onnx and \
             NAME/test_data_set_0/input_0.pb, output_0.pb, or with models as plain .onnx files",
            folder.display()
        )));
    }
    Ok(cases)
}

fn look(root: &Path, folder: &Path, depth: usize, cases: &mut Vec<Case>) -> Result<()> {
    let failure = |error| Error::io("cannot read", folder, error);
    let (mut models, mut folders) = (vec![], vec![]);
    for entry in std::fs::read_dir(folder).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let path = entry.path();
        // A link to a folder may lead back.
        if entry.file_type().map_err(failure)?.is_dir() {
            folders.push(path);
        } else if path.extension().is_some_and(|ending| ending == "onnx") && path.is_file() {
            models.push(path);
        }
    }
    let is_set = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("test_data_set_")
    };
    let (mut sets, others): (Vec<_>, Vec<_>) = folders.into_iter().partition(is_set);
    sets.sort();
    let only = models.len() == 1;
    for model in models {
        let is_case = model.file_name().is_some_and(|name| name == "model.onnx");
        let named =
            if is_case && folder != root { folder.to_owned() } else { model.with_extension("") };
        let name = named.strip_prefix(root).unwrap_or(&named).to_string_lossy().into_owned();
        let sets = if is_case || only { sets.clone() } else { vec![] };
        cases.push(Case { name, model, sets });
    }
    for other in others.iter().filter(|_| depth > 0) {
        look(root, other, depth - 1, cases)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn cases_are_folders_and_plain_models() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            "b/model.onnx",
            "b/test_data_set_1/input_0.pb",
            "b/test_data_set_0/input_0.pb",
            "a/net.onnx",
            "a/test_data_set_0/input_0.pb",
            "c.onnx",
            "deep/er/model.onnx",
            "notes.txt",
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root, root.join("deep/back")).unwrap();
        let cases = find(root).unwrap();
        let found: Vec<_> =
            cases.iter().map(|case| (case.name.as_str(), case.sets.len())).collect();
        assert_eq!(found, [("a/net", 1), ("b", 2), ("c", 0), ("deep/er", 0)]);
        assert!(cases[1].sets[0].ends_with("test_data_set_0"));
    }

    #[test]
    fn a_folder_without_models_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let message = find(folder.path()).unwrap_err().to_string();
        assert!(message.contains("has no case: --suite takes"), "{message}");
        let message = find(&folder.path().join("none")).unwrap_err().to_string();
        assert!(message.contains("cannot read"), "{message}");
    }
}
