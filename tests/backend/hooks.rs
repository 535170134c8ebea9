//! Hooks in Rust: a target kind that an embedder adds to its session.

use phaseline::{
    CompileOptions, Error, Result, Session, Tensor,
    hook::{Artifact, ArtifactKind, Constant, HookPoint, Hooks, Lowered, Request, Update},
    ir::{self, edit, func},
    pattern::PatternSpec,
    targets::{CodegenKind, TargetKind},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const MODEL: &str = r#"
func.func private @body(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.neg %x : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.abs %x : tensor<2x4xf32>
  %c = graph.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %1 = graph.mul %0, %c : tensor<2x4xf32>
  %2 = call @body(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
"#;

/// Behaviour of the hooks of a test.
#[derive(Default)]
struct Tester {
    points: Vec<HookPoint>,
    way: &'static str,
    asked: AtomicUsize,
}

/// The C of the device; hooks add what is missing.
fn sources(extra: &str) -> Artifact {
    let text = format!("#include <stdint.h>\n#include <stddef.h>\n#include <math.h>\n{extra}");
    Artifact::new("tester.c", ArtifactKind::CSource, text)
}

const ABS: &str = "void tester_abs(const float *x, float *y);
void tester_abs(const float *x, float *y) { for (int i = 0; i < 8; ++i) y[i] = fabsf(x[i]); }
";

impl Tester {
    fn lower<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let is_abs = |op: &ir::Op<'_>| ir::op_name(*op) == "graph.abs";
        if !edit::walk(request.subject).iter().any(is_abs) {
            return Ok(None);
        }
        let ty = "tensor<2x4xf32>";
        let name = func::symbol(request.subject);
        // The helper is called as a function of the model is.
        let text = format!(
            "func.func @entry(%x: {ty}) -> {ty} {{
               %0 = call @body(%x) : ({ty}) -> {ty}
               return %0 : {ty}
             }}
             func.func @body(%x: {ty}) -> {ty} {{
               %e = tensor.empty() : {ty}
               %0 = tir.call_extern @tester_abs ins(%x : {ty}) outs(%e : {ty})
                   args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> {ty}
               return %0 : {ty}
             }}"
        );
        match self.way {
            "error" => return Err(Error::unsupported("no abs on Sundays")),
            "panic" => panic!("out of paint"),
            // What a hook does to its copy of the IR stays without effect.
            "vandal" => {
                edit::walk(request.module).into_iter().for_each(|op| {
                    let unit = ir::Attribute::unit(request.context);
                    ir::set_attr(op, "vandal", unit).expect("is of this session");
                });
                return Ok(None);
            }
            _ => {}
        }
        let mut lowered = Lowered::parse(request, &text, "tester", "entry")?;
        if self.way == "unverified" {
            for op in edit::walk(ir::root(&lowered.module)) {
                edit::remove_attr(op, "args");
            }
        }
        let header = "void tester_abs(const float *x, float *y);\n";
        lowered.artifacts = vec![
            sources(ABS),
            Artifact::new("tester.h", ArtifactKind::Header, header),
            Artifact::new(format!("{name}.map"), ArtifactKind::Text, name),
        ];
        Ok(Some(lowered))
    }
}

impl Hooks for Tester {
    fn points(&self) -> &[HookPoint] {
        &self.points
    }

    fn graph_to_tir<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        self.lower(request)
    }

    fn graph_to_runtime<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        self.lower(request)
    }

    /// Reverses the elements, and widens them.
    fn update_constant(&self, _: &Request<'_, '_>, constant: &Constant) -> Result<Option<Tensor>> {
        assert_eq!((constant.callee.as_str(), constant.input), ("tester_scale", 1));
        let mut values = constant.value.to_f64();
        values.reverse();
        values.push(0.0);
        Ok(Some(Tensor::from_slice(&[9], &values)?))
    }

    fn update_constants(
        &self,
        request: &Request<'_, '_>,
        constants: &[Constant],
    ) -> Result<Option<Vec<Update>>> {
        let [constant] = constants else { panic!("{} constants", constants.len()) };
        Ok(match self.way {
            "together" => {
                self.update_constant(request, constant)?.map(|c| vec![Update::Replace(c)])
            }
            "too-few" => Some(vec![]),
            _ => None,
        })
    }

    fn tir_to_runtime(&self, request: &Request<'_, '_>) -> Result<Option<Vec<Artifact>>> {
        let mut text = String::new();
        for function in func::functions(request.subject) {
            let name = func::symbol(function);
            let signature = format!("int32_t {name}(void *device, const float *x, float *y)");
            text += &format!(
                "{signature};\n{signature} {{ (void)device; for (int i = 0; i < 8; ++i) y[i] = fabsf(x[i]); \
                 return 0; }}\n"
            );
        }
        Ok(Some(vec![sources(&text)]))
    }
}

fn kind(hooks: Arc<Tester>, codegen: CodegenKind) -> Result<TargetKind> {
    let spec = PatternSpec::new("abs", "abs(x)").clause("x.is_static").lower("tester.abs");
    let kind = TargetKind::device("tester", "Hooks in Rust")?.with_pattern(spec);
    Ok(kind.with_codegen(codegen).with_hooks(hooks))
}

fn run(hooks: Arc<Tester>, codegen: CodegenKind) -> Result<(Vec<f64>, Vec<String>)> {
    let mut session = Session::new();
    session.add_target(kind(hooks, codegen)?)?;
    let module = session.parse(MODEL.as_bytes(), "model.mlir")?;
    let options = CompileOptions { targets: "tester, llvm".into(), ..Default::default() };
    let compiled = session.compile(module, &options)?;
    let files = compiled.files.iter().map(|file| format!("{} {}", file.path, file.kind)).collect();
    let input = Tensor::from_slice(&[2, 4], &[-1.0_f32, 2.0, -3.0, 4.0, -5.0, 6.0, -7.0, 8.0])?;
    Ok((compiled.load()?.run(&[input])?[0].to_f64(), files))
}

const WANTED: [f64; 8] = [-1.0, -4.0, -9.0, -16.0, -25.0, -36.0, -49.0, -64.0];

fn tester(points: &[HookPoint], way: &'static str) -> Arc<Tester> {
    Arc::new(Tester { points: points.to_vec(), way, ..Default::default() })
}

#[test]
fn functions_and_artifacts_of_hooks_become_part_of_the_model() {
    for point in [HookPoint::GraphToTir, HookPoint::GraphToRuntime] {
        let hooks = tester(&[point], "");
        let (values, files) = run(hooks.clone(), CodegenKind::C).expect("compiles and runs");
        assert_eq!(values, WANTED);
        assert_eq!(hooks.asked.load(Ordering::Relaxed), 1, "one region, asked once");
        for file in [
            "artifacts/tester/tester.c c-source",
            "artifacts/tester/tester.h header",
            "artifacts/tester/tester_0.map text",
        ] {
            assert!(files.iter().any(|other| other == file), "{file} in {files:?}");
        }
    }
}

fn with_updated_constants(way: &'static str) -> Result<Vec<f64>> {
    let hooks = tester(&[HookPoint::ConstantUpdater], way);
    const FILES: &[(&str, &str)] = &[
        (
            "tester.h",
            "#include <stdint.h>\nvoid tester_scale(const float *x, const double *c, float *y, int32_t n);\n",
        ),
        (
            "tester.c",
            "#include \"tester.h\"\nvoid tester_scale(const float *x, const double *c, float *y, int32_t n) { for (int32_t i = 0; i < n; ++i) y[i] = (float)(x[i] * c[n - 1 - i]); }\n",
        ),
    ];
    let mut session = Session::new();
    let scale = "void tester_scale(in x, in c, out y, i32 x.size)";
    let kind = TargetKind::device("tester", "Hooks in Rust")?
        .with_pattern(PatternSpec::new("scale", "mul(x, c: const)").call(scale))
        .with_files(phaseline::targets::Files::Embedded(FILES))
        .with_headers(["tester.h"])
        .with_sources(["tester.c"])
        .with_hooks(hooks);
    session.add_target(kind).expect("is new");
    let module = session.parse(MODEL.as_bytes(), "model.mlir").expect("parses");
    let options = CompileOptions { targets: "tester, llvm".into(), ..Default::default() };
    let compiled = session.compile(module, &options)?;
    let input = Tensor::from_slice(&[2, 4], &[-1.0_f32, 2.0, -3.0, 4.0, -5.0, 6.0, -7.0, 8.0]);
    Ok(compiled.load()?.run(&[input?])?[0].to_f64())
}

#[test]
fn constants_change_their_type_and_order_for_the_device() {
    for way in ["", "together"] {
        assert_eq!(with_updated_constants(way).expect("compiles and runs"), WANTED, "{way}");
    }
    let error = with_updated_constants("too-few").expect_err("one is missing").to_string();
    assert!(error.contains("said what becomes of 0 of the 1 constants of tester_scale"), "{error}");
}

#[test]
fn a_target_may_generate_its_code_itself() {
    let hooks = tester(&[HookPoint::TirToRuntime], "");
    let (values, files) = run(hooks, CodegenKind::Custom).expect("compiles and runs");
    assert_eq!(values, WANTED);
    assert!(!files.iter().any(|file| file.starts_with("src/")), "{files:?}");
}

#[test]
fn hooks_that_fail_are_named_with_target_and_operation() {
    let place = "model.mlir:7:8: target 'tester': hook graph-to-tir on @tester_0 (tester.abs): ";
    for (way, wanted) in [
        ("error", "no abs on Sundays"),
        ("panic", "panicked: out of paint"),
        ("unverified", "returned IR that is not valid; the messages before say where"),
    ] {
        let error =
            run(tester(&[HookPoint::GraphToTir], way), CodegenKind::C).expect_err(way).to_string();
        assert!(error.contains(&format!("{place}{wanted}")), "{way}: {error}");
    }
    // A hook that declines leaves the function to the default; its copy of the IR is its own.
    let mut session = Session::new();
    let hooks = tester(&[HookPoint::GraphToTir], "vandal");
    session.add_target(kind(hooks, CodegenKind::C).expect("a kind")).expect("is new");
    let mut module = session.parse(MODEL.as_bytes(), "model.mlir").expect("parses");
    let options = CompileOptions { targets: "tester, llvm".into(), ..Default::default() };
    session.run_phases(&mut module, &options, phaseline::Phase::Lower).expect("lowers");
    let touched =
        edit::walk(ir::root(&module)).into_iter().any(|op| ir::attr(op, "vandal").is_some());
    assert!(!touched);
}

#[test]
fn target_kinds_belong_to_their_session() {
    let hooks = tester(&[HookPoint::GraphToTir], "");
    let mut session = Session::new();
    session.add_target(kind(hooks.clone(), CodegenKind::C).expect("a kind")).expect("is new");
    let again = session.add_target(kind(hooks, CodegenKind::C).expect("a kind"));
    assert!(
        again.expect_err("is not new").to_string().contains("two target kinds are called 'tester'")
    );
    let other = Session::new();
    let options = CompileOptions { targets: "tester, llvm".into(), ..Default::default() };
    assert!(options.resolve(&session).is_ok());
    let error = options.resolve(&other).expect_err("is unknown there").to_string();
    assert!(error.contains("there is no target 'tester'"), "{error}");
    let mut third = Session::new();
    third.add_target(kind(tester(&[], ""), CodegenKind::Custom).expect("a kind")).expect("is new");
    let error = options.resolve(&third).expect_err("has no hook").to_string();
    assert!(error.contains("needs the hook tir-to-runtime"), "{error}");
}

#[test]
fn what_rust_declines_is_left_to_the_manifest() {
    const MANIFEST: &str = r#"
        version = 1
        [target]
        name = "tester"
        role = "device"
        doc = "Pads what it is given"
        [[op]]
        op = "abs"
        [hooks]
        graph-to-tir = "canonicalize"
    "#;
    let files = phaseline::targets::Files::Embedded(&[]);
    let kind = TargetKind::parse(MANIFEST, "m", files).expect("is right");
    let mut session = Session::new();
    session
        .add_target(kind.with_hooks(tester(&[HookPoint::GraphToTir], "vandal")))
        .expect("is new");
    let options = CompileOptions { targets: "tester, llvm".into(), ..Default::default() };
    let text = session.pipeline(&options).expect("a pipeline").to_string();
    let code = text.find("apply-hook{target=tester hook=graph-to-tir}").expect("Rust is asked");
    let data = text.find("for-target{target=tester pipeline={func.func(canonicalize)}}");
    assert!(data.expect("the manifest's pipeline runs") > code, "{text}");
}
