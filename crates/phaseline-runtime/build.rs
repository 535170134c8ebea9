//! Compiles the thread pool of the C runtime, on which models run.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=runtime-c/src/pool.c");
    println!("cargo:rerun-if-changed=runtime-c/include");
    cc::Build::new()
        .file("runtime-c/src/pool.c")
        .include("runtime-c/include")
        .std("c11")
        .opt_level(2)
        .compile("phaseline_pool");
}
