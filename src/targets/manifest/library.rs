//! `[[library]]`.

use super::{Source, raw::RawLibrary};
use crate::{
    Result,
    error::suggestion,
    targets::{
        file_name::{self, Use},
        instance::check_placeholders,
        library::LibraryDecl,
        options::{OptionDecl, OptionKind},
    },
};
use toml::Spanned;

/// Reads the libraries that packages carry.
pub fn declare(
    source: &Source,
    raw: Vec<RawLibrary>,
    options: &[OptionDecl],
) -> Result<Vec<LibraryDecl>> {
    let place = |name: &Spanned<String>| -> Result<()> {
        let fault = |reason: String| source.fault(&name.span(), reason);
        let text = name.get_ref();
        if text.starts_with("${option.") {
            return check_placeholders(text, options).map_err(fault);
        }
        file_name::check(text, Use::Pipeline).map_err(|reason| {
            fault(format!(
                "{reason}; a library of the machine is below a folder that an option names, as in \
                 \"${{option.vendor_path}}/lib/libvendor.so.2\""
            ))
        })
    };
    let library = |raw: RawLibrary| {
        place(&raw.file)?;
        place(&raw.licence)?;
        if let Some(when) = &raw.when {
            let bools = options.iter().filter(|option| option.kind == OptionKind::Bool);
            let names: Vec<&str> = bools.map(|option| option.name.as_str()).collect();
            if !names.contains(&when.get_ref().as_str()) {
                let hint = suggestion(when.get_ref(), names);
                let message = format!("'{}' is no option of type bool{hint}", when.get_ref());
                return Err(source.fault(&when.span(), message));
            }
        }
        Ok(LibraryDecl {
            file: raw.file.into_inner(),
            licence: raw.licence.into_inner(),
            when: raw.when.map(Spanned::into_inner),
        })
    };
    raw.into_iter().map(library).collect()
}
