//! Has the library be a plugin: MLIR is that of the program which loads it.

fn main() -> phaseline_build::Result<()> {
    phaseline_build::Build::new()?.plugin().compile("shifts")
}
