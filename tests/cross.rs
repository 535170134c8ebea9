//! Packages for other compilers and machines: of the host `c`, compiled with warnings as errors,
//! and of the host `llvm`.
//!
//! Several of them are linked into one program, run under sanitizers or an emulator, and compared
//! with this machine's results. A machine whose tools are not installed is left out with a message.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use phaseline::{Tensor, io};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A model, and the targets that it is compiled for before the host.
struct Model {
    name: &'static str,
    file: &'static str,
    devices: &'static str,
}

/// Models that fit a microcontroller. Two have a device of the same kind, and so the same C of it.
const MODELS: [Model; 4] = [
    Model { name: "lenet", file: "models/lenet", devices: "" },
    Model { name: "speech", file: "models/ds_cnn", devices: "" },
    Model { name: "fixed", file: "quantized/lenet", devices: "cmsis-nn, " },
    Model { name: "mixed", file: "quantized/lenet", devices: "npu -sram=8k, cmsis-nn, " },
];

/// The same without devices, for code of LLVM.
const PLAIN_MODELS: [Model; 3] = [
    Model { name: "lenet", file: "models/lenet", devices: "" },
    Model { name: "speech", file: "models/ds_cnn", devices: "" },
    Model { name: "fixed", file: "quantized/lenet", devices: "" },
];

/// A machine with its tools.
struct Machine<'t> {
    /// The C compiler with what says which machine it is.
    compiler: &'t str,
    /// The host if it is not C of that compiler.
    host: Option<&'t str>,
    /// Start of the triple of its packages.
    triple: &'t str,
    /// More arguments for linking, in tests/cross.
    link: &'t str,
    /// Command that runs a program; empty for this machine.
    run: &'t str,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).chars().take(3000).collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", text(&output));
    text(&output)
}

fn phaseline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_phaseline"))
}

fn model_file(model: &Model) -> PathBuf {
    let path = root().join("build/test-data").join(model.file);
    assert!(path.is_dir(), "{} is missing: run `make data`", path.display());
    path.join("model.onnx")
}

/// A C array of numbers.
fn array(name: &str, tensor: &Tensor) -> String {
    let values = tensor.as_slice::<f32>().expect("floats");
    let mut text = format!("static const float {name}[] = {{");
    for value in values {
        write!(text, "{value:?}f, ").expect("a string");
    }
    text + "};\n"
}

/// Data on the packages in `folder` for tests/cross/check.c: the answers of this machine.
fn data(models: &[Model], folder: &Path) -> String {
    let mut text = String::new();
    let mut cases = "#define CASES(X)".to_owned();
    for model in models {
        let name = model.name;
        let file = model_file(model);
        let set = file.with_file_name("test_data_set_0");
        let answers = folder.join(format!("{name}.npz"));
        let target = format!("{}c", model.devices);
        run(phaseline()
            .arg("run")
            .arg(&file)
            .args(["-t", &target, "--inputs"])
            .arg(&set)
            .arg("--outputs")
            .arg(&answers));
        let (_, input) = io::pb::read(&set.join("input_0.pb")).expect("an input");
        let answers = io::npz::read(&answers).expect("answers");
        let (_, wanted) = answers.first().expect("an output");
        text += &format!("#include \"{name}.h\"\n");
        text += &array(&format!("{name}_input"), &input);
        text += &array(&format!("{name}_wanted"), wanted);
        text += &devices(&folder.join(name), name);
        write!(cases, " X({name}, {})", name.to_uppercase()).expect("a string");
    }
    text + &cases + "\n"
}

/// C functions that open and close the devices of a package in their order.
fn devices(package: &Path, name: &str) -> String {
    let metadata = phaseline::package::Metadata::read(package).expect("a package");
    let (mut prototypes, mut opens, mut closes) = (String::new(), String::new(), String::new());
    for (index, device) in metadata.signature.devices.iter().enumerate() {
        if let Some(open) = &device.open {
            prototypes += &format!("extern int {open}(void **out_device);\n");
            opens += &format!("  if (!failed)\n    failed = {open}(devices + {index});\n");
        }
        if let Some(close) = &device.close {
            prototypes += &format!("extern int {close}(void *device);\n");
            closes += &format!("  {close}(devices[{index}]);\n");
        }
    }
    format!(
        "{prototypes}static int {name}_open(void **devices) {{\n  int failed = 0;\n  (void)devices;\n{opens}  \
         return failed;\n}}\nstatic void {name}_close(void **devices) {{\n  (void)devices;\n{closes}}}\n"
    )
}

fn compile(machine: &Machine<'_>, model: &Model, package: &Path) {
    let host = match machine.host {
        Some(host) => host.to_owned(),
        None => format!("c -compiler=\"{}\"", machine.compiler),
    };
    let target = model.devices.to_owned() + &host;
    let file = model_file(model);
    let mut command = phaseline();
    command.arg("compile").arg(file).args(["-t", &target, "--name", model.name, "-o"]).arg(package);
    if machine.host.is_some() {
        // What links the shared object.
        command.env("CC", machine.compiler);
    }
    run(&mut command);
    let metadata = phaseline::package::Metadata::read(package).expect("a package");
    let triple = &metadata.machine.triple;
    assert!(triple.starts_with(machine.triple), "{triple} is not {}", machine.triple);
    // Nothing of a package may be of another machine than the rest.
    let shared = package.join(format!("lib{}.so", model.name));
    assert_eq!(shared.is_file(), triple.contains("linux"), "{triple}");
}

/// The program whose name is first, if it is installed.
fn missing(command: &str) -> bool {
    let Some(program) = command.split_whitespace().next() else { return false };
    Command::new(program).arg("--version").output().is_err()
}

/// Compiles the models for a machine, links them into one program, and runs it.
fn check(machine: &Machine<'_>) {
    for tool in [machine.compiler, machine.run] {
        if missing(tool) {
            eprintln!("left out, because it is not installed: {tool}");
            return;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let mut words = machine.compiler.split_whitespace();
    let mut linker = Command::new(words.next().expect("a compiler"));
    linker.args(words).current_dir(root().join("tests/cross"));
    linker.args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "check.c"]);
    linker.args(machine.link.split_whitespace()).arg("-I").arg(folder.path());
    let mut libraries = vec![];
    let models = if machine.host.is_some() { &PLAIN_MODELS[..] } else { &MODELS };
    for model in models {
        let package = folder.path().join(model.name);
        compile(machine, model, &package);
        linker.arg("-I").arg(&package);
        libraries.push(package.join(format!("lib{}.a", model.name)));
    }
    fs::write(folder.path().join("data.h"), data(models, folder.path())).expect("a file");
    run(linker.args(libraries).arg("-lm").arg("-o").arg(&program));
    let mut emulator = machine.run.split_whitespace();
    let mut command = emulator.next().map_or_else(|| Command::new(&program), Command::new);
    if !machine.run.is_empty() {
        command.args(emulator).arg(&program);
    }
    let said = run(&mut command);
    assert!(said.contains("PASSED") && !said.contains("runtime error"), "{said}");
}

#[test]
fn packages_run_under_sanitizers() {
    let sanitized = "-fsanitize=address,undefined -fno-sanitize-recover=all";
    let compiler = format!("gcc {sanitized}");
    check(&Machine { compiler: &compiler, host: None, triple: "x86_64", link: "", run: "" });
}

#[test]
fn packages_of_clang_run() {
    let compiler = "/usr/lib/llvm-22/bin/clang";
    check(&Machine { compiler, host: None, triple: "x86_64", link: "", run: "" });
}

#[test]
fn packages_for_32_bits_run() {
    let compiler = "gcc -m32 -msse2 -mfpmath=sse";
    check(&Machine { compiler, host: None, triple: "i386", link: "", run: "" });
}

#[test]
fn packages_for_aarch64_run() {
    check(&Machine {
        compiler: "aarch64-linux-gnu-gcc",
        host: None,
        triple: "aarch64",
        link: "",
        run: AARCH64,
    });
}

/// Emulator for programs of AArch64, with the dot product of integers.
const AARCH64: &str = "qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu neoverse-n1";

/// Integers are multiplied one by one, or by the dot product.
#[test]
fn code_of_llvm_for_aarch64_runs() {
    for cpu in ["generic", "neoverse-n1"] {
        check(&Machine {
            compiler: "aarch64-linux-gnu-gcc",
            host: Some(&format!("llvm -mtriple=aarch64-linux-gnu -mcpu={cpu}")),
            triple: "aarch64",
            link: "",
            run: AARCH64,
        });
    }
}

const BARE: &str = "--specs=rdimon.specs -Wl,--no-warn-execstack -Wl,-T,mps2.ld cortex_m.c";

#[test]
fn packages_for_cortex_m4_run() {
    check(&Machine {
        compiler: "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        host: None,
        triple: "arm",
        link: BARE,
        run: "qemu-system-arm -M mps2-an386 -nographic -semihosting -kernel",
    });
}

#[test]
fn packages_for_cortex_m3_run() {
    check(&Machine {
        compiler: "arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb",
        host: None,
        triple: "arm",
        link: &format!("{BARE} -DNO_FPU"),
        run: "qemu-system-arm -M mps2-an385 -nographic -semihosting -kernel",
    });
}

/// Weights of each size of a word, one of bytes, and positions.
const WEIGHTS: &str = "
!x = tensor<40xf32>
func.func @main(%x: !x) -> !x {
  %f = graph.constant dense<\"0xSINGLE\"> : !x
  %d = graph.constant dense<\"0xDOUBLE\"> : tensor<40xf64>
  %b = graph.constant dense<\"0xBRAIN\"> : tensor<40xbf16>
  %n = graph.constant dense<\"0xLONG\"> : tensor<40xi64>
  %w = graph.constant dense<\"0xWORD\"> : tensor<40xi32>
  %s = graph.constant dense<\"0xSHORT\"> : tensor<40xi16>
  %c = graph.constant dense<\"0xBYTE\"> : tensor<80xi8>
  %0 = graph.mul %x, %f : !x
  %1 = graph.gather %0, %n axis = 0 : (!x, tensor<40xi64>) -> !x
  %2 = graph.cast %1 : !x to tensor<40xf64>
  %3 = graph.add %2, %d : tensor<40xf64>
  %4 = graph.cast %3 : tensor<40xf64> to tensor<40xbf16>
  %5 = graph.mul %4, %b : tensor<40xbf16>
  %6 = graph.cast %5 : tensor<40xbf16> to tensor<40xi32>
  %7 = graph.add %6, %w : tensor<40xi32>
  %8 = graph.cast %7 : tensor<40xi32> to tensor<40xi16>
  %9 = graph.sub %8, %s : tensor<40xi16>
  %10 = graph.concat %9, %9 axis = 0 : (tensor<40xi16>, tensor<40xi16>) -> tensor<80xi16>
  %11 = graph.cast %10 : tensor<80xi16> to tensor<80xi8>
  %12 = graph.add %11, %c : tensor<80xi8>
  %starts = graph.constant dense<20> : tensor<1xi64>
  %ends = graph.constant dense<60> : tensor<1xi64>
  %13 = graph.slice %12, %starts, %ends : (tensor<80xi8>, tensor<1xi64>, tensor<1xi64>) -> tensor<40xi8>
  %y = graph.cast %13 : tensor<40xi8> to !x
  return %y : !x
}
";

/// The text of the network, with little-endian weights as text has them.
fn weights() -> String {
    fn hex<const N: usize>(count: usize, bytes: impl Fn(usize) -> [u8; N]) -> String {
        (0..count).flat_map(bytes).map(|byte| format!("{byte:02X}")).collect()
    }
    let numbers = [
        ("SINGLE", hex(40, |i| (i as f32 / 2.0 - 7.5).to_le_bytes())),
        ("DOUBLE", hex(40, |i| (i as f64 * 3.0 - 50.0).to_le_bytes())),
        ("BRAIN", hex(40, |i| half::bf16::from_f32(i as f32 / 4.0).to_le_bytes())),
        ("LONG", hex(40, |i| (i as i64 * 7 % 40).to_le_bytes())),
        ("WORD", hex(40, |i| (i as i32 * 1000 - 9).to_le_bytes())),
        ("SHORT", hex(40, |i| (i as i16 * 300 + 1).to_le_bytes())),
        ("BYTE", hex(80, |i| [i as u8])),
    ];
    numbers.iter().fold(WEIGHTS.to_owned(), |text, (name, hex)| text.replace(name, hex))
}

fn compile_weights(target: &str, pools: Option<PathBuf>) -> phaseline::Compiled {
    let session = phaseline::Session::new();
    let module = session.parse(weights().as_bytes(), "swapped.mlir").expect("a module");
    let targets = target.to_owned();
    let options =
        phaseline::CompileOptions { targets, pools, name: "swapped".into(), ..Default::default() };
    session.compile(module, &options).expect("compiles")
}

/// Never skipped: its tools are among the packages without which nothing is built.
#[test]
fn packages_for_big_endian_machines_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| fs::write(path(name), text).expect("a file");
    // What the generated C has of the standard library, where there is none.
    fs::create_dir(path("include")).expect("a folder");
    write("include/math.h", "#define isnan(x) ((x) != (x))\n");
    let functions = "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n";
    write("include/string.h", &format!("{functions}void *memset(void *, int, size_t);\n"));
    let compiler = format!(
        "clang-22 --target=aarch64_be-none-elf -ffreestanding -isystem {}",
        path("include").display()
    );
    let target = format!("c -compiler=\"{compiler}\"");
    let compiled = compile_weights(&target, None);
    compiled.write_package(&path("package")).expect("a package");

    let x: Vec<f32> = (0..40).map(|i| (i % 9) as f32 - 4.0).collect();
    let input = Tensor::from_slice(&[40], &x).expect("a tensor");
    let here = compile_weights("llvm", None);
    let wanted = here.load().expect("loads").run(&[input]).expect("runs").remove(0);
    let list = |values: &[f32]| values.iter().map(|x| format!("{x:?}f, ")).collect::<String>();
    let (x, wanted) = (list(&x), list(wanted.as_slice::<f32>().expect("floats")));
    write("wanted.h", &format!("#define INPUT {x}\n#define WANTED {wanted}\n"));

    let mut words = compiler.split_whitespace();
    let mut linker = Command::new(words.next().expect("a compiler"));
    linker.args(words).args(["-O1", "-nostdlib", "-static", "-fno-builtin"]);
    linker.arg("-fuse-ld=/usr/lib/llvm-22/bin/ld.lld");
    linker.arg(root().join("tests/cross/big_endian.c")).arg("-I").arg(folder.path());
    linker.arg("-I").arg(path("package")).arg(path("package/libswapped.a"));
    run(linker.arg("-o").arg(path("program")));
    let said = run(Command::new("qemu-aarch64_be").arg(path("program")));
    assert!(said.contains("PASSED"), "{said}");
}

/// The emulator of a Cortex-M4.
const BARE_RUN: &str = "qemu-system-arm -M mps2-an386 -nographic -semihosting -kernel";

/// The model on this machine, of which a folder gets input.bin and input.h, and its numbers here.
fn bare_data(model: &str, folder: &Path) -> Vec<f32> {
    let file = root().join("build/test-data").join(model).join("model.onnx");
    assert!(file.is_file(), "{} is missing: run `make data`", file.display());
    let set = file.with_file_name("test_data_set_0");
    let answers = folder.join("answers.npz");
    let mut here = phaseline();
    here.arg("run").arg(&file).args(["-t", "c", "--inputs"]).arg(&set);
    run(here.arg("--outputs").arg(&answers));
    let (_, input) = io::pb::read(&set.join("input_0.pb")).expect("an input");
    let input = input.as_slice::<f32>().expect("floats");
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.join("input.bin"), bytes).expect("a file");
    let list: String = input.iter().map(|x| format!("{x:?}f, ")).collect();
    fs::write(folder.join("input.h"), format!("#define INPUT {list}\n")).expect("a file");
    // What the generated C has of the standard library, where there is none.
    let include = folder.join("include");
    fs::create_dir(&include).expect("a folder");
    let math = "#define INFINITY __builtin_inff()\n#define isnan(x) __builtin_isnan(x)\nfloat rintf(float);\n";
    fs::write(include.join("math.h"), math).expect("a file");
    let string = "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n\
                  void *memset(void *, int, size_t);\n";
    fs::write(include.join("string.h"), string).expect("a file");
    let answers = io::npz::read(&answers).expect("answers");
    answers[0].as_slice::<f32>().expect("floats").to_vec()
}

/// Compiles a model as `net` for a bare Cortex-M4 with Clang's arguments for its floats.
fn bare_package(model: &str, floats: &str, folder: &Path, more: &[&str]) -> (String, PathBuf) {
    let compiler = format!(
        "clang-22 --target=thumbv7em-none-eabi -mcpu=cortex-m4 {floats} -ffreestanding -isystem {}",
        folder.join("include").display()
    );
    let package = folder.join("net");
    let target = format!("c -compiler=\"{compiler}\"");
    let mut command = phaseline();
    command.arg("compile").arg(root().join("build/test-data").join(model).join("model.onnx"));
    run(command.args(["-t", &target, "--name", "net", "-o"]).arg(&package).args(more));
    (compiler, package)
}

/// Runs a program on a Cortex-M4, and compares what it says with the numbers of this machine.
fn bare_check(program: &Path, wanted: &[f32]) {
    let mut words = BARE_RUN.split_whitespace();
    let said = run(Command::new(words.next().expect("a program")).args(words).arg(program));
    let (numbers, _) = said.split_once("END").unwrap_or_else(|| panic!("it says: {said}"));
    let found: Vec<_> = numbers
        .split_whitespace()
        .map(|bits| u32::from_str_radix(bits, 16).map(f32::from_bits))
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(found.len(), wanted.len(), "{said}");
    for (found, wanted) in found.iter().zip(wanted) {
        let far = (found - wanted).abs();
        assert!(far <= 1e-4 * wanted.abs().max(1.0), "{found} is not {wanted}");
    }
}

/// Models with an input `input` of `[1, 1, 28, 28]` and an output `gemm_11_0` of `[1, 10]`.
const BARE_MODELS: [&str; 2] = ["models/lenet", "quantized/lenet"];

/// The C package alone, linked by LLVM, without a library for C.
#[test]
fn packages_run_on_a_bare_cortex_m4() {
    if missing(BARE_RUN) {
        eprintln!("left out, because it is not installed: {BARE_RUN}");
        return;
    }
    for model in BARE_MODELS {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = bare_data(model, folder.path());
        let floats = "-mfloat-abi=hard -mfpu=fpv4-sp-d16";
        let (compiler, package) = bare_package(model, floats, folder.path(), &[]);
        let program = folder.path().join("program");
        let mut words = compiler.split_whitespace();
        let mut linker = Command::new(words.next().expect("a compiler"));
        linker.args(words).args(["-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin"]);
        linker.args(["-nostdlib", "-static", "--ld-path=/usr/lib/llvm-22/bin/ld.lld"]);
        linker.args(["-Wl,-T,mps2.ld", "cortex_m.c", "semihosting.c"]);
        linker.current_dir(root().join("tests/cross")).arg("-I").arg(folder.path());
        linker.arg("-I").arg(&package).arg(package.join("libnet.a"));
        run(linker.arg("-o").arg(&program));
        bare_check(&program, &wanted);
    }
}

/// The machine of Rust that the crate below is built for.
const BARE_RUST: &str = "thumbv7em-none-eabi";

#[test]
fn crates_run_on_a_bare_cortex_m4() {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", BARE_RUST]);
    let library = String::from_utf8(rustc.output().expect("rustc runs").stdout).expect("text");
    let has_target = Path::new(library.trim()).is_dir();
    if missing(BARE_RUN) || !has_target {
        eprintln!("left out, because it is not installed: {BARE_RUN}, or rustup's {BARE_RUST}");
        return;
    }
    for model in BARE_MODELS {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = bare_data(model, folder.path());
        bare_package(model, "-mfloat-abi=soft", folder.path(), &["--emit-crate"]);
        let script = root().join("tests/cross/mps2.ld");
        let main = root().join("tests/cross/cortex_m.rs");
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
             [dependencies]\nnet = {{ path = \"net\" }}\n[profile.release]\npanic = \"abort\"\n\
             [[bin]]\nname = \"program\"\npath = {main:?}\n"
        );
        fs::write(folder.path().join("Cargo.toml"), manifest).expect("a file");
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--offline", "--target", BARE_RUST]);
        // Those of the environment are of this machine.
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
        cargo.env("RUSTFLAGS", format!("-D warnings -C link-arg=-T{}", script.display()));
        run(cargo.current_dir(folder.path()));
        bare_check(&folder.path().join(format!("target/{BARE_RUST}/release/program")), &wanted);
    }
}

/// As Arduino's builder builds a library that is `precompiled=full`: it compiles no source, finds headers in `src`, and
/// the static library in the folder of the processor.
#[test]
fn libraries_of_arduino_are_built_without_an_edit() {
    let folder = tempfile::tempdir().expect("a folder");
    bare_data("models/lenet", folder.path());
    let floats = "-mfloat-abi=hard -mfpu=fpv4-sp-d16";
    let layout = ["--layout=arduino"];
    let (compiler, package) = bare_package("models/lenet", floats, folder.path(), &layout);
    let text = fs::read_to_string(package.join("library.properties")).expect("properties");
    let property = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    assert_eq!(property("precompiled"), "full");
    let library = package.join("src/cortex-m4");
    assert!(library.join("libnet.a").is_file());
    // A sketch is C++, and has what `includes` says at its head.
    let sketch = folder.path().join("sketch.cpp");
    let body = "static unsigned char arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGNMENT)));\n\
                static float x[NET_INPUT_0_ELEMENTS], y[NET_OUTPUT_0_ELEMENTS];\n\
                extern \"C\" void *memcpy(void *to, const void *, __SIZE_TYPE__) { return to; }\n\
                extern \"C\" void *memset(void *to, int, __SIZE_TYPE__) { return to; }\n\
                extern \"C\" void _start(void) { if (net_run(x, y, arena) != 0) for (;;) {} }\n";
    let sketch_text = format!("#include <{}>\n{body}", property("includes"));
    fs::write(&sketch, sketch_text).expect("a file");
    let mut words = compiler.split_whitespace();
    let mut linker = Command::new(words.next().expect("a compiler"));
    linker.args(words).args(["-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]);
    linker.args(["-nostdlib", "-static", "-fno-builtin", "-fno-exceptions"]);
    linker.arg("--ld-path=/usr/lib/llvm-22/bin/ld.lld").arg("-I").arg(package.join("src"));
    linker.arg(&sketch).arg("-L").arg(&library);
    linker.args(property("ldflags").split_whitespace());
    run(linker.arg("-o").arg(folder.path().join("sketch")));
}
