//! Reads a manifest with what it includes and extends.

use super::{Source, VERSION, check_name, files, merge::Merged, raw::RawManifest};
use crate::{
    Result,
    targets::{
        file_name::Use,
        kind::{Files, Layer, Role, TargetKind},
    },
};
use std::{borrow::Cow, path::Path};
use toml::Spanned;

/// Prefix of shared parts that come with the program.
const COMMON: &str = "common/";

// The files of `targets/common`: `PARTS`, which build.rs writes.
include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// The kinds that a manifest may extend.
pub type Known<'a> = &'a dyn Fn(&str) -> std::result::Result<&'a TargetKind, String>;

/// Reads a manifest, and what it includes and extends. Gives the layers that it is made of, too.
pub fn load(
    source: &mut Source,
    text: &str,
    name: &str,
    files: &Files,
    known: Known<'_>,
) -> Result<(Merged, Vec<Layer>)> {
    let raw = Reader { source, files, included: vec![] }.file(text, name)?;
    let Some(target) = &raw.target else {
        return Err(source.fault_at(1, "a manifest needs [target] with name, role and doc"));
    };
    check_name(source, &target.name, "a target kind")?;
    let role = target.role;
    let mut layers = vec![Layer {
        kind: target.name.get_ref().clone(),
        manifest: name.to_owned(),
        text: text.to_owned(),
        files: files.clone(),
    }];
    let mut merged = Merged::new(raw);
    let Some(extends) = merged.extends() else {
        merged.check_without(source)?;
        return Ok((merged, layers));
    };
    let fault = |reason: String| source.fault(&extends.span(), reason);
    let base = known(extends.get_ref()).map_err(fault)?;
    if base.layers.is_empty() {
        let reason = format!("target kind '{}' has no manifest to extend", base.name);
        return Err(fault(reason));
    }
    if role.is_some_and(|role| role != base.role) {
        let is = if base.role == Role::Host { "host" } else { "device" };
        return Err(fault(format!("'{}' is a {is}: leave `role` out, or say the same", base.name)));
    }
    for layer in &base.layers {
        let mut reader = Reader { source, files: &layer.files, included: vec![] };
        let mut raw = reader.file(&layer.text, &layer.manifest)?;
        raw.settle(layer)?;
        merged.extend(raw);
    }
    merged.check_without(source)?;
    layers.extend(base.layers.iter().cloned());
    Ok((merged, layers))
}

/// A manifest and its parts.
struct Reader<'a> {
    source: &'a mut Source,
    files: &'a Files,
    /// The parts that have been read, each with those that led to it.
    included: Vec<String>,
}

impl Reader<'_> {
    fn file(&mut self, text: &str, name: &str) -> Result<RawManifest> {
        let padded = self.source.add(name, text);
        let raw: RawManifest = self.source.parse(&padded)?;
        if let Some(version) = raw.version.as_ref().filter(|v| *v.get_ref() != VERSION) {
            let message =
                format!("manifest version {}, but this program reads {VERSION}", version.get_ref());
            return Err(self.source.fault(&version.span(), message));
        }
        files::check(self.source, &padded, self.files)?;
        self.parts(raw.include.clone(), name, &mut vec![]).map(|parts| raw.include(parts))
    }

    /// The parts that a file names, and those that these name, in order.
    fn parts(
        &mut self,
        names: Vec<Spanned<String>>,
        manifest: &str,
        within: &mut Vec<String>,
    ) -> Result<Vec<RawManifest>> {
        let mut parts = vec![];
        for name in names {
            let text = name.get_ref();
            files::file(self.source, self.files, &name.span(), text, Use::Pipeline)?;
            if within.contains(text) {
                let message =
                    format!("'{text}' includes itself: {} -> {text}", within.join(" -> "));
                return Err(self.source.fault(&name.span(), message));
            }
            if self.included.contains(text) {
                continue;
            }
            self.included.push(text.clone());
            let (read, shown) = self.read(&name, manifest)?;
            let padded = self.source.add(&shown, &read);
            let part: RawManifest = self.source.parse(&padded)?;
            if let Some(target) = &part.target {
                let message = "a part that manifests include has no [target]; a kind that refines \
                               another one says extends = \"NAME\"";
                return Err(self.source.fault(&target.name.span(), message));
            }
            files::check(self.source, &padded, self.files)?;
            within.push(text.clone());
            parts.extend(self.parts(part.include.clone(), manifest, within)?);
            within.pop();
            parts.push(part);
        }
        Ok(parts)
    }

    /// The text of a part, and what messages call it.
    fn read(&self, name: &Spanned<String>, manifest: &str) -> Result<(Cow<'static, str>, String)> {
        let text = name.get_ref();
        let in_folder = self.files.has(text);
        let common = text.strip_prefix(COMMON).filter(|_| !in_folder);
        if let Some((_, found)) = PARTS.iter().find(|(known, _)| Some(*known) == common) {
            return Ok((Cow::Borrowed(found), format!("targets/{text}")));
        }
        if !in_folder {
            let names: Vec<String> =
                PARTS.iter().map(|(known, _)| format!("'{COMMON}{known}'")).collect();
            let message = format!(
                "there is no file '{text}' in the target's folder; parts that come with the program \
                 are {}",
                names.join(", ")
            );
            return Err(self.source.fault(&name.span(), message));
        }
        let shown = Path::new(manifest).with_file_name(text);
        Ok((self.files.read(text)?, shown.display().to_string()))
    }
}
