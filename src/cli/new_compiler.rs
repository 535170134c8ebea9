//! `phaseline new-compiler`.

use super::{args::NewCompilerArgs, print};
use crate::Result;
use phaseline_toolkit::scaffold;

/// Writes a crate for a compiler of one's own, which builds and passes its tests.
pub fn new_compiler(args: &NewCompilerArgs) -> Result<()> {
    let (name, folder) = (&args.name, &args.directory);
    let checkout = args.phaseline.clone().or_else(scaffold::own_checkout);
    scaffold::new_compiler(name, folder, checkout.as_deref())?;
    let shown = folder.display();
    print(&format!(
        "A compiler '{name}' is in {shown}: a dialect, two passes, phases, tools and tests.\n\
         Next:\n  \
         cd {shown}\n  \
         cargo test\n  \
         cargo run -- tests/lit/simplify.mlir\n\
         {shown}/README.md says what is where.\n"
    ))
}
