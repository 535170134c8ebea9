//! Makes the dialect of `dialect/File.td`: its C++, and typed views in Rust.

fn main() -> phaseline_build::Result<()> {
    phaseline_build::Build::new()?.ods("dialect/File.td", "file")?.compile("file_dialect")
}
