//! Peak arithmetic throughput of the machine, to set the speed of kernels beside.

use crate::{
    CompileOptions, Phase, Result, Session,
    artifact::machines,
    host::kernel::Isa,
    tensor::{DType, Tensor},
};
use std::{fmt::Write, time::Instant};

/// Passes of the loop: some milliseconds on any machine of today.
const STEPS: u64 = 400_000;
/// Measurements, of which the best counts.
const RUNS: usize = 8;

impl Session {
    /// Multiplications and additions of 32-bit floats that one thread of this machine does in a
    /// second: measured on a loop of fused multiply-adds that wait for nothing.
    pub fn peak_flops(&self) -> Result<f64> {
        let machine = machines::select("", "native", "")?;
        let isa = Isa::of_machine(&machine);
        // Some registers stay for what is multiplied.
        let chains = isa.registers - 4;
        let source = source(isa.lanes, chains);
        let module = self.parse(source.as_bytes(), "peak.mlir")?;
        let options = CompileOptions {
            after: Phase::PlanMemory,
            name: "peak".to_owned(),
            ..Default::default()
        };
        let network = self.compile(module, &options)?.load()?;
        let lanes = usize::try_from(isa.lanes).unwrap_or(1);
        let input = [Tensor::zeros(DType::F32, &[lanes])?];
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            let start = Instant::now();
            network.run(&input)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok((2 * isa.lanes * chains) as f64 * STEPS as f64 / best)
    }
}

/// The loop as IR on planned buffers.
fn source(lanes: i64, chains: i64) -> String {
    let vector = format!("vector<{lanes}xf32>");
    let buffer = format!("memref<{lanes}xf32>");
    let list = |item: &dyn Fn(i64) -> String| (0..chains).map(item).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "func.func @main(%x: {buffer} {{phl.io = \"input\", phl.name = \"x\"}}, \
         %y: {buffer} {{phl.io = \"output\", phl.name = \"y\"}}) {{\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n\
         %n = arith.constant {STEPS} : index\n\
         %v = vector.load %x[%c0] : {buffer}, {vector}\n\
         %r:{chains} = scf.for %i = %c0 to %n step %c1 iter_args({}) -> ({}) {{\n",
        list(&|i| format!("%a{i} = %v")),
        list(&|_| vector.clone()),
    );
    for chain in 0..chains {
        let _ = writeln!(text, "%b{chain} = vector.fma %v, %a{chain}, %v : {vector}");
    }
    let _ = writeln!(
        text,
        "scf.yield {} : {}\n}}",
        list(&|i| format!("%b{i}")),
        list(&|_| vector.clone())
    );
    let mut sum = "%r#0".to_owned();
    for chain in 1..chains {
        let _ = writeln!(text, "%s{chain} = arith.addf {sum}, %r#{chain} : {vector}");
        sum = format!("%s{chain}");
    }
    let _ = writeln!(text, "vector.store {sum}, %y[%c0] : {buffer}, {vector}\nreturn\n}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_this_machine_is_that_of_a_computer() {
        let peak = Session::new().peak_flops().unwrap_or(0.0);
        assert!((1e8..1e13).contains(&peak), "{peak}");
    }
}
