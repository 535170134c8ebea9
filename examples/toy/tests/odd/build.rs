//! Makes the dialect of `Odd.td`, and has the library be a plugin.

fn main() -> phaseline_build::Result<()> {
    phaseline_build::Build::new()?.ods("Odd.td", "odd")?.plugin().compile("odd_dialect")
}
