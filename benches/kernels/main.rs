//! Speed and exactness of the host kernels.
//!
//! `cargo bench --bench kernels -- [--bits N] [CASE]..` where a case is
//! `conv=H,W,C,F,K,STRIDE,PAD[,DILATION[,GROUPS]]`, `matmul=M,N,K`, `product=M,N,K` (neither
//! matrix is constant), or `depthwise=`, `max=`, `mean=H,W,C,K,STRIDE,PAD`. Without a case the
//! layers of ResNet-50, MobileNetV2 and BERT are measured. Times are the best of many runs.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod cases;
mod machine;
mod reference;

use cases::{Case, Spec};
use machine::Compiled;
use melior::ir::{Location, Module};
use phaseline::{
    Session,
    host::kernel::{Extensions, Isa, NoEpilogue},
    ir::Builder,
};
use std::{env, error::Error, time::Instant};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;
type Kernel2 = unsafe extern "C" fn(*const f32, *mut f32, i64, i64);
type Kernel3 = unsafe extern "C" fn(*const f32, *const f32, *mut f32, i64, i64);

fn main() -> Result<()> {
    let mut bits = 512;
    let mut given = vec![];
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--bits" {
            bits = arguments.next().ok_or("--bits needs a number")?.parse()?;
        } else {
            given.push(argument);
        }
    }
    let isa = Isa::of_vector_bits(bits, Extensions::default())
        .map_err(|_| "--bits is 512, 256 or 128")?;
    if given.is_empty() {
        given = cases::STANDARD.iter().map(ToString::to_string).collect();
    }
    println!("{:34} {:>8} {:>9} {:>8}  compile ms, code bytes", "case", "GFLOP/s", "us", "error");
    let session = Session::new();
    for text in &given {
        measure(&session, &Case::parse(text)?, isa)?;
    }
    Ok(())
}

fn measure(session: &Session, case: &Case, isa: Isa) -> Result<()> {
    let (compiled, tasks) = compile(session, case, isa)?;
    let (x, w) = (reference::random(case.x_len(), 1), reference::random(case.w_len(), 2));
    let packed = case.pack(isa, &w);
    let mut y = vec![f32::NAN; case.y_len()];
    let flops = case.flops();
    let runs = ((2e10 / flops) as usize).clamp(10, 2000);
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        call(&compiled, case, &x, &packed, &mut y, tasks)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{:34} {:8.1} {:9.1} {:8.0e}  {:.0} + {:.0}, {}",
        case.name,
        flops / best / 1e9,
        best * 1e6,
        reference::error(case, &x, &w, &y),
        compiled.mlir_ms,
        compiled.llvm_ms,
        compiled.code_bytes
    );
    Ok(())
}

fn compile(session: &Session, case: &Case, isa: Isa) -> Result<(Compiled, i64)> {
    let location = Location::unknown(session.context());
    let mut module = Module::new(location);
    let at = Builder::at_end(session.context(), module.body(), location);
    let buffers = case.buffers(isa);
    let tasks = match &case.spec {
        Spec::Contraction(spec) => {
            let blocking = spec.blocking(isa);
            spec.emit(at, isa, ("kernel", &buffers), &blocking, &NoEpilogue)?;
            spec.tasks(&blocking)
        }
        Spec::Depthwise(spec) => {
            let blocking = spec.blocking(isa);
            spec.emit(at, isa, ("kernel", &buffers), &blocking, &NoEpilogue)?;
            spec.tasks(&blocking)
        }
    };
    Ok((machine::compile(session, &mut module)?, tasks))
}

fn call(
    compiled: &Compiled,
    case: &Case,
    x: &[f32],
    w: &[f32],
    y: &mut [f32],
    tasks: i64,
) -> Result<()> {
    // SAFETY: the kernel has this type, and the buffers have the sizes that it was emitted for.
    unsafe {
        if w.is_empty() {
            let kernel: libloading::Symbol<'_, Kernel2> = compiled.library.get(b"kernel")?;
            kernel(x.as_ptr(), y.as_mut_ptr(), 0, tasks);
        } else {
            let kernel: libloading::Symbol<'_, Kernel3> = compiled.library.get(b"kernel")?;
            kernel(x.as_ptr(), w.as_ptr(), y.as_mut_ptr(), 0, tasks);
        }
    }
    debug_assert!(case.y_len() == y.len());
    Ok(())
}
