//! Misuse by programs in safe code: an error reports it, and nothing that is gone is read. Uses
//! that the compiler refuses are in the doc tests of `phaseline::ir`.

#![forbid(unsafe_code)]

use phaseline::{
    CompileOptions, Error, Session,
    ir::{
        self, Builder, Module, Op, OpSpec, Val, edit, elements, func, op_name, operands, ops_of,
        result0, type_of,
    },
    pass::{self, OptionValues, Pass, PassError, PassOp},
    session::Severity,
    targets::TargetKind,
};

const NET: &str = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}";

fn network(session: &Session) -> Module<'_> {
    session.parse(NET.as_bytes(), "net.mlir").expect("is valid")
}

fn find<'a>(module: &'a Module<'_>, name: &str) -> Op<'a> {
    let ops = edit::walk(ir::root(module));
    ops.into_iter().find(|op| op_name(*op) == name).expect("is there")
}

fn builder<'a>(module: &'a Module<'_>) -> Builder<'a> {
    Builder::before(find(module, "graph.relu")).expect("is in a block")
}

fn text<T>(outcome: phaseline::Result<T>) -> String {
    outcome.err().map(|error| error.to_string()).unwrap_or_default()
}

#[track_caller]
fn refused<T>(outcome: phaseline::Result<T>, words: &str) {
    let error = text(outcome);
    assert!(error.contains(words), "'{error}' does not say '{words}'");
    assert!(!error.contains("internal error"), "{error}");
}

#[test]
fn constants_have_types_of_constants() {
    let session = Session::new();
    let module = network(&session);
    let b = builder(&module);
    for name in ["f32", "!llvm.ptr", "tensor<?xf32>", "tensor<*xf32>", "tensor<2x!llvm.ptr>"] {
        let ty = b.parse_type(name).expect("is a type");
        refused(elements::dense(ty, &[0; 16]), "was given 16 bytes");
    }
    assert!(elements::dense(b.parse_type("tensor<4xf32>").expect("is one"), &[0; 16]).is_ok());
}

/// Operations of upstream that infer the types of their results; some trust what they are given.
const INFERRING: [&str; 40] = [
    "arith.addf",
    "arith.cmpf",
    "arith.constant",
    "arith.select",
    "complex.create",
    "complex.re",
    "linalg.index",
    "math.exp",
    "memref.dim",
    "memref.load",
    "quant.dcast",
    "scf.if",
    "scf.while",
    "shape.any",
    "shape.broadcast",
    "shape.concat",
    "shape.const_shape",
    "shape.dim",
    "shape.div",
    "shape.get_extent",
    "shape.min",
    "shape.shape_of",
    "shape.split_at",
    "tensor.dim",
    "tensor.extract",
    "tensor.extract_slice",
    "tensor.rank",
    "tosa.add",
    "tosa.argmax",
    "tosa.concat",
    "tosa.conv2d",
    "tosa.matmul",
    "tosa.pad",
    "tosa.reshape",
    "tosa.slice",
    "tosa.transpose",
    "vector.extract",
    "vector.insert",
    "vector.shuffle",
    "vector.shape_cast",
];

fn infer<'a>(b: &Builder<'a>, name: &str, operands: &[Val<'a>]) -> phaseline::Result<Op<'a>> {
    b.create(name, OpSpec { operands, infer: true, ..Default::default() })
}

#[test]
fn types_are_inferred_from_what_is_declared() {
    let session = Session::with_upstream();
    let module = network(&session);
    let b = builder(&module);
    let x = operands(find(&module, "graph.relu"))[0];
    let index = b.index(1).expect("a constant");
    for name in INFERRING {
        for operands in [&[][..], &[x], &[index], &[x, x], &[x, index], &[index, x], &[x, x, x]] {
            match infer(&b, name, operands) {
                Ok(op) => assert!(op.to_string().contains(name), "{op}"),
                Err(error) => assert!(error.to_string().contains(name), "{error}"),
            }
        }
    }
    let sum = infer(&b, "arith.addf", &[x, x]).expect("has what it takes");
    assert_eq!(type_of(result0(sum).expect("one")), type_of(x));
    let size = infer(&b, "tensor.dim", &[x, index]).expect("has what it takes");
    assert_eq!(type_of(result0(size).expect("one")), b.index_type());
    refused(infer(&b, "arith.addf", &[x]), "cannot be inferred");
    refused(infer(&b, "tosa.concat", &[]), "cannot be inferred");
    assert!(infer(&b, "graph.conv", &[]).is_err() && infer(&b, "tensor.empty", &[]).is_err());
}

#[test]
fn operations_have_names_that_the_session_knows() {
    let session = Session::new();
    let module = network(&session);
    for name in ["", "nope.nope", "nope", "graph.nope", "."] {
        refused(builder(&module).create(name, OpSpec::default()), "there is no operation");
    }
    refused(ir::set_attr(ir::root(&module), "", builder(&module).i64_attr(1)), "has no name");
}

#[test]
fn invalid_ir_is_verified_before_passes_see_it() {
    let session = Session::new();
    let mut module = network(&session);
    builder(&module).create("cf.cond_br", OpSpec::default()).expect("may be made");
    let outcome = session.run_pipeline(&mut module, "builtin.module(canonicalize)");
    refused(outcome, "net.mlir:2:8: 'cf.cond_br' op");
    let outcome = session.compile(module, &CompileOptions::default());
    refused(outcome.map(drop), "in the IR that was given");
}

#[test]
fn types_have_sizes_that_there_are() {
    let session = Session::new();
    let module = network(&session);
    let b = builder(&module);
    refused(b.int_type(1 << 30), "no integers of 1073741824 bits");
    refused(b.tensor_type(&[-5, 3], b.f32()), "no dimension of -5");
    let function = b.parse_type("() -> ()").expect("is a type");
    refused(b.tensor_type(&[2], function), "no tensors with elements of");
    assert_eq!(b.int_type(7).expect("is one").to_string(), "i7");
    let dims = [2, ir::DYNAMIC];
    assert_eq!(b.tensor_type(&dims, b.f32()).expect("is one").to_string(), "tensor<2x?xf32>");
}

#[test]
fn text_is_nested_as_deep_as_can_be_read() {
    let session = Session::new();
    let module = network(&session);
    let b = builder(&module);
    let deep = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(300_000), close.repeat(300_000))
    };
    refused(b.parse_attr(&deep("[", "1", "]")), "nested too deep");
    refused(b.parse_type(&deep("tuple<", "i32", ">")), "nested too deep");
    for inner in [deep("(", "d0", ")"), deep("d0 + ", "d0", ""), deep("-", "d0", "")] {
        let map = format!("affine_map<(d0) -> ({inner})>");
        refused(b.parse_attr(&map), "nested too deep");
    }
    refused(b.parse_attr("array<index: 1>"), "array of index");
    let aliases: String = (1..1000).map(|n| format!("!a{n} = tuple<!a{}>\n", n - 1)).collect();
    let text = format!("!a0 = i32\n{aliases}func.func private @g(!a999)");
    refused(session.parse(text.as_bytes(), "a.mlir"), "nested too deep");
}

#[test]
fn parts_are_of_one_session() {
    let session = Session::new();
    let mut module = network(&session);
    {
        let other = Session::new();
        let theirs = network(&other);
        let value = result0(find(&theirs, "graph.relu")).expect("one");
        let b = builder(&module);
        let c = builder(&theirs);
        let of_other = "is of another session";
        refused(b.binary("arith.addf", value, value), of_other);
        refused(b.empty(c.tensor_type(&[7], c.f32()).expect("is one")), of_other);
        refused(b.tensor_type(&[7], c.f32()), of_other);
        refused(b.with_location(c.location).create("graph.relu", OpSpec::default()), of_other);
        let inside = Builder::at_end(session.context(), c.block(), b.location);
        refused(inside.index(1), of_other);
        refused(b.copy(find(&theirs, "graph.relu")), of_other);
        let (relu, attribute) = (find(&module, "graph.relu"), c.str_attr("hello"));
        refused(ir::set_attr(relu, "x", attribute), of_other);
        let entries = [("x".to_owned(), attribute)];
        refused(ir::dictionary(session.context(), &entries), of_other);
        let attributes = vec![("x", attribute)];
        refused(b.create("tensor.empty", OpSpec { attributes, ..Default::default() }), of_other);
        let function = ops_of(ir::root(&module))[0];
        let mut signature = func::Signature::of(function).expect("has one");
        signature.results.push((c.f32(), vec![]));
        refused(signature.put(function), of_other);
        refused(func::add_argument(b.context, function, c.f32(), vec![]), of_other);
        let memref = c.parse_type("memref<2xf32>").expect("is a type");
        refused(ir::memref::with_space(b.context, memref, Some("sram")), of_other);
        let regions = vec![ir::region(&[(c.f32(), c.location)])];
        refused(b.create("scf.execute_region", OpSpec { regions, ..Default::default() }), of_other);
    }
    session.run_pipeline(&mut module, "builtin.module(canonicalize)").expect("is as it was");
    let other = Session::new();
    refused(other.run_pipeline(&mut module, "builtin.module(cse)"), "the module is of another");
    refused(
        other.compile(module, &CompileOptions::default()).map(drop),
        "the module is of another",
    );
}

#[test]
fn values_are_of_one_module() {
    let session = Session::new();
    let module = network(&session);
    let theirs = network(&session);
    let value = result0(find(&theirs, "graph.relu")).expect("one");
    let b = builder(&module);
    refused(b.unary("math.exp", value), "a value of another module");
    refused(b.copy(find(&theirs, "graph.relu")), "a value of another module");
    let constant = edit::defining_op(b.index(1).expect("a constant")).expect("an operation");
    let copy = b.copy(constant).expect("uses nothing");
    edit::remove(copy).expect("is not used");
    refused(b.unary("math.exp", result0(copy).expect("one")), "a value of another module");
    // What is around is seen from within.
    let regions = vec![ir::region(&[])];
    let outer = b.create("scf.execute_region", OpSpec { regions, ..Default::default() });
    let block = edit::entry_block(outer.expect("may be made")).expect("has a block");
    let inner = Builder::at_end(session.context(), block, b.location);
    assert!(inner.unary("math.exp", operands(find(&module, "graph.relu"))[0]).is_ok());
    drop(theirs);
    assert!(ir::root(&module).to_string().contains("math.exp"));
}

#[test]
fn clearing_a_session_keeps_what_it_was_given() {
    let mut session = Session::new();
    let kind = TargetKind::device("quiet", "Takes nothing").expect("is a kind");
    session.add_target(kind).expect("is new");
    session.context().set_allow_unregistered_dialects(true);
    session.on_diagnostic(|_| panic!("on purpose"));
    for _ in 0..2 {
        session.clear();
        let unknown = session.parse(b"\"not.known\"() : () -> ()", "x.mlir");
        assert!(unknown.is_ok());
        drop(unknown);
        let options = CompileOptions { targets: "quiet, llvm".into(), ..Default::default() };
        let text = NET.replace("@f", "@main");
        let module = session.parse(text.as_bytes(), "net.mlir").expect("is valid");
        session.compile(module, &options).expect("knows the kind");
        assert!(session.parse(b"nope", "n.mlir").is_err());
        let said = session.take_diagnostics();
        assert!(said.iter().any(|d| d.text.contains("panicked: on purpose")), "{said:?}");
    }
}

fn speaks<'c>(function: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    pass::warn(function, "takes long");
    for op in ops_of(function) {
        pass::remark(op, "was seen");
    }
    Ok(())
}

static SPEAKS: Pass = Pass {
    name: "test-speaks",
    summary: "Say something of each function",
    anchor: "func.func",
    options: &[],
    dialects: &[],
    run: speaks,
};

#[test]
fn warnings_and_remarks_are_kept() {
    phaseline::passes::register(&SPEAKS).expect("is new");
    let session = Session::new();
    let mut module = network(&session);
    let pipeline = "builtin.module(func.func(test-speaks))";
    session.run_pipeline(&mut module, pipeline).expect("runs");
    let said = session.take_diagnostics();
    let shown: Vec<_> = said.iter().map(|d| (d.severity, d.to_string())).collect();
    assert_eq!(
        shown,
        [
            (Severity::Warning, "net.mlir:1:1: 'func.func' op takes long".to_owned()),
            (Severity::Remark, "net.mlir:2:8: 'graph.relu' op was seen".to_owned()),
            (Severity::Remark, "net.mlir:3:3: 'func.return' op was seen".to_owned()),
        ]
    );
    assert!(session.take_diagnostics().is_empty());
    // An error takes the errors only.
    session.run_pipeline(&mut module, pipeline).expect("runs");
    assert!(session.parse(b"nope", "n.mlir").is_err());
    assert_eq!(session.take_diagnostics(), said);
}

#[test]
fn a_wrong_word_in_a_pipeline_is_an_error() {
    let session = Session::new();
    let run = |pipeline: &str| {
        let outcome = session.run_pipeline(&mut network(&session), pipeline);
        assert!(!matches!(outcome, Err(Error::Internal(_))));
        text(outcome)
    };
    let typo = run("builtin.module(for-target{target=vanila pipeline={func.func(cse)}})");
    assert!(typo.contains("there is no target 'vanila'"), "{typo}");
    assert!(typo.contains("did you mean 'vanilla'?"), "{typo}");
    assert_eq!(run("builtin.module(for-target{target=vanilla pipeline={func.func(cse)}})"), "");
    let when = run("builtin.module(assign-sessions{target=vanilla activate=f when=allways})");
    assert!(when.contains("'allways' is none of inference, region"), "{when}");
    let hook = run("builtin.module(apply-hook{target=vanilla hook=graph-to-tri})");
    assert!(hook.contains("graph-to-tir"), "{hook}");
}
