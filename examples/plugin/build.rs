//! Makes the dialect of `dialect/Bits.td`, and has the library be a plugin: MLIR is that of the program which loads it.

fn main() -> phaseline_build::Result<()> {
    phaseline_build::Build::new()?.ods("dialect/Bits.td", "bits")?.plugin().compile("bits_dialect")
}
