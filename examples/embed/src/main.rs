//! Phaseline inside another tool: adds a pass written here, runs a textual pipeline with it,
//! compiles a model and runs it, and adds a target with a hook in Rust.

mod count_ops;
mod mirror;

use phaseline::{CompileOptions, Session, Tensor};

const MODEL: &str = include_str!("../net.mlir");

const ABS: &str = "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = graph.abs %x : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}";

fn main() -> phaseline::Result<()> {
    phaseline::passes::register(&count_ops::PASS)?;
    let session = Session::new();
    let mut module = session.parse(MODEL.as_bytes(), "net.mlir")?;

    // Our pass works by name, with its option, next to upstream's.
    session.run_pipeline(
        &mut module,
        "builtin.module(canonicalize,func.func(count-ops{dialect=graph}))",
    )?;
    println!("after count-ops: graph operations = {}", count_ops::counted(&module));

    let options = CompileOptions { targets: "vanilla, llvm".into(), ..Default::default() };
    let compiled = session.compile(module, &options)?;
    let network = compiled.load()?;
    let input = Tensor::from_slice(&[1, 1, 4, 4], &[1.0_f32; 16])?;
    let outputs = network.run(&[input])?;
    let values = outputs[0].to_f64();
    println!("output = {values:?}");
    // A corner sees four ones, an edge six, the middle nine; the second channel subtracts 5.5.
    assert_eq!(values[0], 4.5);
    assert_eq!(values[5], 9.5);
    assert_eq!(values[16], 0.0);
    with_own_target()
}

/// Compiles for a target kind that only this session knows.
fn with_own_target() -> phaseline::Result<()> {
    let mut session = Session::new();
    session.add_target(mirror::kind()?)?;
    let module = session.parse(ABS.as_bytes(), "abs.mlir")?;
    let options = CompileOptions { targets: "mirror, llvm".into(), ..Default::default() };
    let compiled = session.compile(module, &options)?;
    let input = Tensor::from_slice(&[2, 2], &[-1.0_f32, 2.0, -3.0, 4.0])?;
    let values = compiled.load()?.run(&[input])?[0].to_f64();
    println!("mirrored = {values:?}");
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}
