//! The code generators, each a file beside the others in `generators`. Their table is in
//! `src/targets/codegen/kinds.rs`, as manifests name them.

use super::CodeGenerator;
use crate::targets::{CodegenKind, code_generators};

macro_rules! generators {
    ($($kind:ident $name:literal in $file:ident, $says:literal, $rules:expr;)*) => {
        $(mod $file;)*

        /// The code generator of a kind. A kind without one leaves all to its hook.
        pub fn generator(kind: CodegenKind) -> &'static dyn CodeGenerator {
            match kind {
                CodegenKind::Unset => &custom::Generator,
                $(CodegenKind::$kind => &$file::Generator,)*
            }
        }
    };
}
code_generators!(generators);
