//! Makes the dialect of `dialect/Toy.td`: its C++, and typed views in Rust.

fn main() -> phaseline_build::Result<()> {
    phaseline_build::Build::new()?
        .ods("dialect/Toy.td", "toy")?
        .loads_rust_plugins("toy")
        .compile("toy_dialect")
}
