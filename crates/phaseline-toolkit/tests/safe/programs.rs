//! Programs that try to crash what they use, each in a few lines: all are refused, or do no harm, and the session goes on.

use super::toolkit;
use phaseline_toolkit::{
    Phases, Session, ThreadPool,
    ir::{
        self, Attribute, Builder, Module, Op, OpSpec, Val, alias, analysis, attribute,
        constant::Elements, dims, edit, effects, elements, func, interface, memref, op_name,
        operands, ops_of, print, result0, size, types,
    },
    upstream,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

const TEXT: &str = "func.func @f(%x: tensor<2xf32>, %i: i1) -> tensor<2xf32> {
  %0 = arith.negf %x : tensor<2xf32>
  %1 = arith.addf %0, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @g(%m: memref<4xf32>, %n: index) {
  %0 = arith.constant 1.0 : f32
  scf.for %i = %n to %n step %n {
    memref.store %0, %m[%i] : memref<4xf32>
  }
  return
}";

/// A session with a module, and what is asked of them most.
#[derive(Clone, Copy)]
struct At<'a> {
    session: &'a Session,
    module: &'a Module<'a>,
}

impl<'a> At<'a> {
    fn find(self, name: &str) -> Op<'a> {
        let mut all = edit::walk(ir::root(self.module)).into_iter();
        all.find(|op| op_name(*op) == name).unwrap_or_else(|| panic!("has {name}"))
    }
    fn b(self) -> Builder<'a> {
        Builder::before(self.find("func.return")).expect("is in a block")
    }
    fn x(self) -> Val<'a> {
        operands(self.find("arith.negf"))[0]
    }
    fn function(self) -> Op<'a> {
        ops_of(ir::root(self.module))[0]
    }
    fn attr(self, text: &str) -> Attribute<'a> {
        self.b().parse_attr(text).expect("is one")
    }
    fn bare(self, name: &str) -> Op<'a> {
        self.b().create(name, OpSpec::default()).expect("has a name")
    }
    /// Calls everything that reads an operation.
    fn read(self, op: Op<'a>) {
        let _ = (op.to_string(), ops_of(op).len(), operands(op).len(), ir::results(op).len());
        let _ = (effects::of(op), effects::view_source(op), effects::destinations(op));
        let _ = (effects::viewed(op), effects::copied(op), effects::is_reshape(op));
        let _ = (
            effects::repeats(op),
            effects::runs(op, 0),
            effects::runs(op, 99),
            effects::hands_on(op),
        );
        let _ = (effects::is_unwritten(op), effects::copied(op), effects::only_reads(op));
        let _ = (effects::carried_places(op), effects::overwritable_places(op));
        let _ = (interface::call(op), interface::is_pure(op), interface::Loop::of(op).is_some());
        let _ = (interface::branch_operands(op, 0), edit::fold(op), func::argument(op, 0));
        let _ = (memref::is_view(op), memref::is_alias(op), func::symbol(op), effects::is_free(op));
        let _ = (
            alias::behind(op).len(),
            print::place(op_location(op)),
            print::print_apart(op, print::Weights::Print),
        );
        let _ = (
            func::Signature::of(op).is_ok(),
            ir::linalg::indexing_maps(op).len(),
            ir::linalg::is_parallel(op),
        );
        self.session.clear_diagnostics();
    }
    /// Checks that nothing runs on invalid IR.
    fn refuses(self) {
        assert!(!ir::verify(ir::root(self.module)));
        self.session.clear_diagnostics();
    }
}

/// Declares a private function of any name.
fn declare<'c>(b: &Builder<'c>, name: &str) -> phaseline_toolkit::Result<Op<'c>> {
    let attributes = vec![
        ("sym_name", b.str_attr(name)),
        ("function_type", b.parse_attr("() -> ()")?),
        ("sym_visibility", b.str_attr("private")),
    ];
    b.create(
        "func.func",
        OpSpec { attributes, regions: vec![ir::region(&[])], ..OpSpec::default() },
    )
}

fn op_location(op: Op<'_>) -> ir::Location<'_> {
    ir::location(op)
}

type Program = for<'a> fn(At<'a>);

macro_rules! programs {
    ($($name:literal => |$at:pat_param| $body:block)*) => {
        const PROGRAMS: &[(&str, Program)] = &[$(($name, |$at| $body)),*];
    };
}

programs! {
    // Removal.
    "remove what is used" => |at| { edit::remove(at.find("arith.negf")).expect_err("is used"); }
    "build where something was removed" => |at| {
        let op = at.find("func.return");
        let b = Builder::before(op).expect("is in a block");
        edit::remove(op).expect("nothing uses it");
        let _ = b.create("func.return", OpSpec { operands: &[at.x()], ..OpSpec::default() });
        at.read(ir::root(at.module));
    }
    "remove a terminator, and go on" => |at| { edit::remove(at.find("func.return")).expect("nothing uses it"); at.refuses(); }
    "remove many" => |at| {
        let b = at.b();
        for number in 0..20_000 {
            let value = b.index(number).expect("is made");
            edit::remove(edit::defining_op(value).expect("is a result")).expect("nothing uses it");
        }
    }
    "remove the module" => |at| { let _ = edit::remove(ir::root(at.module)); at.read(ir::root(at.module)); }
    "remove a loop, read what was in it" => |at| {
        let store = at.find("memref.store");
        edit::remove(at.find("scf.for")).expect("nothing uses it");
        at.read(store);
        ir::set_operand(store, 0, at.x()).map_or_else(|_| (), |()| at.read(store));
    }
    "move what was removed back" => |at| {
        let op = at.find("scf.for");
        edit::remove(op).expect("nothing uses it");
        let _ = ir::move_before(op, at.find("arith.negf"));
        at.read(op);
    }
    // Operations that lack parts.
    "a result that there is not" => |at| { result0(at.find("func.return")).expect_err("has none"); }
    "a branch to nowhere" => |at| { at.read(at.bare("cf.br")); }
    "a switch to nowhere" => |at| { at.read(at.bare("cf.switch")); at.refuses(); }
    "a function without parts" => |at| { let op = at.bare("func.func"); at.read(op); func::Signature::of(op).map(drop).expect_err("has none"); }
    "a structured operation without parts" => |at| { at.read(at.bare("linalg.generic")); }
    "a loop without region" => |at| { at.read(at.bare("scf.for")); at.read(at.bare("scf.while")); at.read(at.bare("scf.forall")); at.read(at.bare("scf.parallel")); }
    "calls of nothing" => |at| { for name in ["llvm.call", "llvm.func", "llvm.getelementptr", "llvm.load", "func.call", "func.call_indirect"] { at.read(at.bare(name)); } }
    "views of nothing" => |at| { for name in ["memref.subview", "memref.view", "memref.cast", "memref.reinterpret_cast", "memref.expand_shape", "memref.collapse_shape", "memref.copy", "memref.load", "memref.store", "memref.global", "memref.get_global", "memref.dealloc", "memref.alloc"] { at.read(at.bare(name)); } }
    "slices of nothing" => |at| { for name in ["tensor.extract_slice", "tensor.insert_slice", "tensor.pad", "tensor.empty", "tensor.reshape", "tensor.generate", "tensor.collapse_shape", "tensor.expand_shape", "tensor.from_elements", "tensor.dim"] { at.read(at.bare(name)); } }
    "vectors of nothing" => |at| { for name in ["vector.transfer_read", "vector.transfer_write", "vector.shuffle", "vector.extract", "vector.broadcast", "vector.contract", "vector.mask", "vector.constant_mask"] { at.read(at.bare(name)); } }
    "kernels of nothing" => |at| { for name in ["linalg.matmul", "linalg.fill", "linalg.conv_2d", "linalg.pack", "linalg.softmax", "linalg.index", "linalg.yield", "linalg.map", "linalg.reduce", "linalg.broadcast"] { if let Ok(op) = at.b().create(name, OpSpec::default()) { at.read(op); } } }
    "buffers of nothing" => |at| { for name in ["bufferization.to_tensor", "bufferization.to_buffer", "bufferization.alloc_tensor", "bufferization.materialize_in_destination", "bufferization.dealloc"] { at.read(at.bare(name)); } }
    "arithmetic of nothing" => |at| { for name in ["arith.constant", "arith.cmpi", "arith.select", "arith.addui_extended", "math.fma", "arith.index_cast", "index.add", "index.constant"] { at.read(at.bare(name)); } }
    "infer from nothing" => |at| {
        for name in ["arith.addf", "tensor.dim", "arith.constant", "tensor.extract_slice", "scf.if", "vector.shuffle", "vector.extract", "arith.cmpi", "arith.select", "memref.dim", "linalg.index", "index.constant", "vector.broadcast", "tensor.rank", "memref.extract_strided_metadata"] {
            let _ = at.b().create(name, OpSpec { infer: true, ..OpSpec::default() }).map(|op| at.read(op));
        }
    }
    "infer from wrong operands" => |at| {
        for name in ["arith.select", "tensor.dim", "vector.extract", "vector.shuffle", "memref.dim", "arith.cmpf", "tensor.extract", "memref.load", "vector.multi_reduction"] {
            for list in [&[at.x()][..], &[at.x(), at.x()], &[at.x(), at.x(), at.x()]] {
                let _ = at.b().create(name, OpSpec { infer: true, operands: list, ..OpSpec::default() }).map(|op| at.read(op));
            }
        }
    }
    "many results" => |at| {
        let f32 = at.b().f32();
        let op = at.b().create("arith.addf", OpSpec { results: &[f32; 5000], ..OpSpec::default() }).expect("is made");
        at.read(op);
        at.refuses();
    }
    // Attributes of other kinds than they are to be.
    "a function without type" => |at| { ir::set_attr(at.function(), "function_type", at.attr("3 : i64")).map_or_else(drop, |()| at.read(at.function())); }
    "a function with a number for a name" => |at| { ir::set_attr(at.function(), "sym_name", at.attr("3 : i64")).map_or_else(drop, |()| at.read(at.function())); let _ = ir::verify(ir::root(at.module)); at.session.clear_diagnostics(); }
    "segments that do not come out" => |at| {
        let op = at.b().create("linalg.generic", OpSpec { operands: &[at.x()], ..OpSpec::default() }).expect("is made");
        ir::set_attr(op, "operandSegmentSizes", at.attr("array<i32: 500, 900>")).map_or_else(drop, drop);
        at.read(op);
    }
    "negative segments" => |at| {
        let sizes = vec![("operandSegmentSizes", at.attr("array<i32: -5, 6>"))];
        let op = at.b().create("linalg.generic", OpSpec { operands: &[at.x()], attributes: sizes, ..OpSpec::default() });
        let _ = op.map(|op| at.read(op));
    }
    "segments of another type" => |at| {
        let sizes = vec![("operandSegmentSizes", at.attr("\"x\""))];
        let _ = at.b().create("memref.subview", OpSpec { attributes: sizes, ..OpSpec::default() }).map(|op| at.read(op));
    }
    "a predicate that there is not" => |at| {
        at.b().cmpf("nope", at.x(), at.x()).map(drop).expect_err("is none");
        at.b().cmpi("olt", at.x(), at.x()).map(drop).expect_err("is none");
        let predicate = vec![("predicate", at.attr("99 : i64"))];
        let i1 = at.b().i1();
        let op = at.b().create("arith.cmpf", OpSpec { operands: &[at.x(), at.x()], results: &[i1], attributes: predicate, ..OpSpec::default() });
        let _ = op.map(|op| at.read(op));
    }
    "an attribute twice" => |at| {
        let twice = vec![("value", at.attr("1 : i32")), ("value", at.attr("2 : i32"))];
        let _ = at.b().create("arith.constant", OpSpec { results: &[at.b().int(32)], attributes: twice, ..OpSpec::default() }).map(|op| at.read(op));
        let twice = [("a".to_owned(), at.attr("1 : i32")), ("a".to_owned(), at.attr("2 : i32"))];
        let _ = ir::dictionary(at.b().context, &twice).map(|made| made.to_string());
    }
    "an attribute with any name" => |at| {
        for name in ["", "\0", "a\0b", "\"", "\n", "ü", "builtin.x", "phl."] {
            let _ = ir::set_attr(at.function(), name, at.attr("unit"));
        }
        let text = at.function().to_string();
        at.session.parse(text.as_bytes(), "again").map_or_else(drop, drop);
        at.session.clear_diagnostics();
    }
    "text with zeros" => |at| {
        let _ = (at.b().str_attr("a\0b").to_string(), at.b().str_attr("").to_string());
        at.b().parse_attr("1 : i32 2").map(drop).expect_err("has more behind it");
        let _ = at.b().parse_attr("\"a\0b\"");
        at.b().parse_type("i32\0f32").map(drop).expect_err("has more behind it");
        at.b().parse_attr("").map(drop).expect_err("is none");
        at.session.clear_diagnostics();
    }
    // Types.
    "integers without bits" => |at| { let ty = at.b().int(0); let _ = at.b().constant_int(ty, 5).map(|v| v.to_string()); at.b().int_type(u32::MAX).map(drop).expect_err("is too wide"); }
    "a tensor of all there is" => |at| {
        if let Ok(ty) = at.b().tensor_type(&[i64::MAX, i64::MAX], at.b().f32()) {
            let _ = (size::bytes(ty), at.b().empty(ty).is_ok(), dims(ty), elements::dense(ty, &[0; 4]).is_ok());
        }
    }
    "a vector of tensors" => |at| { let ty = at.b().parse_type("vector<4xf32>").expect("is one"); let _ = at.b().like(ty, ir::type_of(at.x())).to_string(); }
    "a vector without a fixed size" => |at| { let ty = at.b().parse_type("vector<[4]xf32>").expect("is one"); let _ = at.b().constant(ty, 1.0).map(|v| v.to_string()); }
    "numbers of any type" => |at| {
        for text in ["f8E4M3FN", "f4E2M1FN", "i128", "i4096", "si8", "ui8", "none", "complex<f32>", "!llvm.ptr", "tensor<f32>", "bf16", "f128", "vector<2xi1>", "tensor<?xf32>", "tensor<*xf32>", "memref<2xf32>", "index", "() -> ()", "tuple<>", "f80", "tf32", "tensor<2x!llvm.ptr>", "vector<[2]xi1>"] {
            let Ok(ty) = at.b().parse_type(text) else { continue };
            let _ = at.b().constant(ty, -1e300).map(|v| v.to_string());
            let _ = at.b().constant(ty, f64::NAN).map(|v| v.to_string());
            let _ = at.b().constant_int(ty, i64::MIN).map(|v| v.to_string());
            let _ = (types::bits(ty), types::dtype_name(ty), size::bytes(ty), size::element_bytes(ty), ir::element_type(ty).to_string());
            let _ = (memref::strides(ty), func::memref_like(ty).to_string(), types::is_unsigned(ty), dims(ty));
            let _ = (types::signless(at.b().context, ty).to_string(), ir::integer_width(ty), types::keeps_buffer(ty));
            let _ = (elements::dense(ty, &[1; 8]).map(|made| made.to_string()), elements::resource(ty, "x", vec![1_u8; 8], 1).is_ok());
        }
        at.session.clear_diagnostics();
    }
    "elements of another type" => |at| {
        for element in ["() -> ()", "tensor<2xf32>", "none", "tuple<i32>"] {
            let element = at.b().parse_type(element).expect("is one");
            let _ = catch_unwind(AssertUnwindSafe(|| types::with_element(ir::type_of(at.x()), element).to_string()));
            let _ = catch_unwind(AssertUnwindSafe(|| at.b().like(ir::type_of(at.x()), element).to_string()));
        }
    }
    "buffers of any size" => |at| {
        let _ = (memref::bytes(at.b().context, u64::MAX).map(|ty| ty.to_string()), memref::bytes(at.b().context, 0).is_ok());
        let _ = memref::row_major(&[i64::MAX, i64::MAX, -1]);
        let _ = memref::extent(at.x());
        let _ = memref::base(at.x());
    }
    // Data.
    "data of another length" => |at| {
        let ty = at.b().tensor_type(&[4], at.b().f32()).expect("is one");
        for length in [0, 3, 15, 17, 64] { elements::dense(ty, &vec![0; length]).map(drop).expect_err("is another length"); }
        let ty = at.b().tensor_type(&[9], at.b().i1()).expect("is one");
        for length in [0, 1, 2, 9, 10] { let _ = elements::dense(ty, &vec![255; length]).map(|made| elements::bytes(made).map(|data| data.len())); }
    }
    "data of no fixed size" => |at| {
        for text in ["tensor<?xf32>", "tensor<*xf32>"] { elements::dense(at.b().parse_type(text).expect("is one"), &[0; 4]).map(drop).expect_err("has none"); }
        for text in ["tensor<2xindex>", "memref<2xf32>", "tensor<2x!llvm.ptr>", "tensor<0xf32>"] { let _ = elements::dense(at.b().parse_type(text).expect("is one"), &[0; 16]).map(|made| made.to_string()); }
    }
    "data with any alignment" => |at| {
        let ty = at.b().tensor_type(&[4], at.b().f32()).expect("is one");
        for align in [0, 1, 3, 64, usize::MAX] {
            for length in [0, 7, 16, 1000] {
                if let Ok(made) = elements::resource(ty, "w", vec![0_u8; length], align) {
                    let _ = (elements::bytes(made).map(|data| data.len()), Elements::new(made).map(|all| (all.len(), all.floats().len())), made.to_string().len());
                }
            }
        }
    }
    "bytes of any attribute" => |at| {
        for text in ["1 : i32", "\"x\"", "[1, 2]", "dense<[true, false]> : tensor<2xi1>", "sparse<[[0]], [1]> : tensor<3xi32>", "dense<1> : tensor<2xi3>", "dense<(1.0,2.0)> : tensor<2xcomplex<f32>>", "dense<1> : tensor<9223372036854775807xi64>", "dense<1> : tensor<4294967296x4294967296xi8>", "dense_resource<nope> : tensor<4xf32>", "dense<[]> : tensor<0xf32>", "unit", "@a::@b", "affine_map<(d0) -> (d0)>", "#builtin.int<3> : i3", "strided<[?], offset: ?>", "dense<\"x\"> : tensor<2x!llvm.ptr>", "array<i8: 1>"] {
            let Ok(made) = at.b().parse_attr(text) else { continue };
            let _ = (elements::bytes(made).map(|data| data.len()), elements::splat(made).map(|one| one.to_string()), attribute::int(made), attribute::float(made), attribute::i32s(made));
            let _ = (edit::array(made).len(), edit::string(made), edit::dictionary(made).len(), ir::i64s(made), attribute::held_type(made).map(|ty| ty.to_string()));
            let _ = (attribute::int_like(made, 3).map(|one| one.to_string()), attribute::float_like(made, 3.0).map(|one| one.to_string()));
        }
        at.session.clear_diagnostics();
    }
    "numbers behind the last one" => |at| {
        let made = at.attr("dense<[1, 2]> : tensor<2xi32>");
        let all = Elements::new(made).expect("are elements");
        let far = catch_unwind(AssertUnwindSafe(|| (all.int(99), all.float(usize::MAX))));
        assert!(far.is_err() || all.len() == 2);
        assert!(all.numbers::<f64>().is_none());
    }
    // Values out of place.
    "use before it is there" => |at| {
        let late = result0(at.find("arith.addf")).expect("has one");
        Builder::before(at.find("arith.negf")).and_then(|b| b.unary("arith.negf", late)).expect("is made");
        at.refuses();
    }
    "a value that is its own operand" => |at| { let op = at.find("arith.negf"); let _ = ir::set_operand(op, 0, result0(op).expect("has one")); at.read(op); let _ = ir::verify(ir::root(at.module)); at.session.clear_diagnostics(); }
    "a value of a loop outside of it" => |at| {
        let inside = func::argument(at.find("scf.for"), 0);
        let inside = inside.or_else(|| edit::arguments(edit::entry_block(at.find("scf.for"))?).first().copied()).expect("has one");
        at.b().unary("arith.index_castui", inside).map_or_else(drop, |_| at.refuses());
    }
    "a value of another function" => |at| {
        let other = func::argument(ops_of(ir::root(at.module))[1], 1).expect("has it");
        at.b().binary("arith.addi", other, other).map_or_else(drop, |_| at.refuses());
    }
    "replace a value by what uses it" => |at| {
        let (of, with) = (result0(at.find("arith.negf")).expect("has"), result0(at.find("arith.addf")).expect("has"));
        ir::replace_uses(of, with).map_or_else(drop, |()| at.refuses());
    }
    "replace by another type" => |at| {
        let condition = func::argument(at.function(), 1).expect("has it");
        ir::replace_uses(result0(at.find("arith.negf")).expect("has"), condition).map(drop).map_or_else(drop, |()| at.refuses());
    }
    "copy a function into itself" => |at| {
        let inside = Builder::at_end(at.session.context(), edit::entry_block(at.function()).expect("has"), at.b().location);
        for _ in 0..3 { let _ = inside.copy(at.function()); }
        let _ = (at.function().to_string(), ir::verify(ir::root(at.module)));
        at.session.clear_diagnostics();
    }
    "copy the module into itself" => |at| { let _ = at.b().copy(ir::root(at.module)); let _ = ir::verify(ir::root(at.module)); at.session.clear_diagnostics(); }
    "move a loop into itself" => |at| { let op = at.find("scf.for"); ir::move_before(op, at.find("memref.store")).expect_err("is in it"); ir::move_before(op, op).map_or_else(drop, drop); at.read(op); }
    "move the module" => |at| { ir::move_before(ir::root(at.module), at.find("arith.negf")).expect_err("is around it"); ir::move_before(at.find("arith.negf"), ir::root(at.module)).expect_err("is in no block"); Builder::before(ir::root(at.module)).map(drop).expect_err("is in no block"); }
    "operations behind a terminator" => |at| { let b = Builder::at_end(at.session.context(), edit::entry_block(at.function()).expect("has"), at.b().location); b.index(3).expect("is made"); at.refuses(); }
    "operands that there are not" => |at| { let op = at.find("arith.negf"); for index in [1, 99, usize::MAX] { ir::set_operand(op, index, at.x()).expect_err("has one operand"); } }
    "a condition that is a tensor" => |at| { let _ = at.b().select(at.x(), at.x(), at.x()).map(|v| v.to_string()); let _ = at.b().cmpf("olt", at.x(), at.x()).map(|v| v.to_string()); let _ = at.b().binary("scf.if", at.x(), at.x()); let _ = ir::verify(ir::root(at.module)); at.session.clear_diagnostics(); }
    // Functions.
    "arguments of no function" => |at| { let ty = at.b().f32(); for op in [at.find("arith.negf"), ir::root(at.module), at.find("scf.for")] { func::add_argument(at.session.context(), op, ty, vec![]).map(drop).expect_err("is no function"); } }
    "a signature that does not fit" => |at| {
        let mut signature = func::Signature::of(at.function()).expect("has one");
        signature.arguments.clear();
        let _ = signature.put(at.function());
        at.read(at.function());
        signature.put(at.find("arith.negf")).expect_err("is no function");
        let _ = ir::verify(ir::root(at.module));
        at.session.clear_diagnostics();
    }
    "functions with any name" => |at| {
        let b = Builder::before(at.function()).expect("is in a block");
        for name in ["", "f", "a\0b", "\"", "ü\n", "@"] { let _ = declare(&b, name).map(|op| op.to_string()); }
        let _ = at.session.parse(ir::root(at.module).to_string().as_bytes(), "again").map(drop);
        at.session.clear_diagnostics();
    }
    "a function in a function" => |at| { let _ = declare(&at.b(), "h"); let _ = ir::verify(ir::root(at.module)); at.session.clear_diagnostics(); }
    "memory of what is none" => |at| { let _ = analysis::alias(at.x(), at.x()); let condition = func::argument(at.function(), 1).expect("has it"); let _ = analysis::alias(condition, at.x()); let _ = alias::is_apart(at.x()); }
    // The session.
    "text that is none" => |at| {
        for bytes in [&b"\0\0\0"[..], &[0xff; 64], b"ML\xefR", b"module", b"\"", b"%", b"func.func @f() { return } \0", b"#loc = loc(", b"!a = !a", b"module { module { "] {
            let _ = at.session.parse(bytes, "t.mlir").map(drop);
        }
        for name in ["", "\0", "a\nb", "\u{202e}"] { let _ = at.session.parse(b"nope", name).map(drop); }
        at.session.clear_diagnostics();
    }
    "pipelines that are none" => |at| {
        let mut module = at.session.parse(b"", "t.mlir").expect("parses");
        for text in ["", "builtin.module", "builtin.module(", "builtin.module(\0)", "builtin.module(cse{})", "builtin.module(canonicalize{max-iterations=99999999999999999999})", "func.func(cse)", "builtin.module(a(b(c(d))))", "\u{fffd}(cse)", "builtin.module(cse,)", "builtin.module(canonicalize{enable-patterns={{{})"] {
            let _ = at.session.run_pipeline(&mut module, text);
        }
        at.session.clear_diagnostics();
    }
    "phases with any name" => |_| {
        for name in ["", ".", "..", "a/b", "a\0b", "a b", "ü"] { Phases::new().then(name, "builtin.module()").map(drop).expect_err("is no name"); }
        Phases::new().then("a", "builtin.module(").and_then(|phases| phases.sections()).map(drop).map_or_else(drop, drop);
    }
    "pools without threads" => |_| { for threads in [0, usize::MAX] { drop(ThreadPool::new(threads)); } }
    "handlers that panic or start sessions" => |at| {
        at.session.on_diagnostic(|_| {
            let other = toolkit().session();
            let _ = other.parse(b"nope", "inner.mlir").map(drop);
            panic!("in a handler");
        });
        at.session.parse(b"nope", "t.mlir").map(drop).expect_err("is none");
        at.session.on_diagnostic(|_| ());
        at.session.take_diagnostics();
    }
    "print what is not valid" => |at| {
        let op = at.bare("scf.for");
        let _ = (print::print_op(op, print::Weights::Print), print::print_alone(op), print::node_name(op));
        let mut length = 0;
        print::bytecode(ir::root(at.module), &mut |bytes| length += bytes.len());
        assert!(length > 0);
        let _ = edit::clone_module(ir::root(at.module)).map(|copy| copy.as_operation().to_string());
        assert!(edit::clone_module(at.find("arith.negf")).is_none());
    }
}

#[test]
fn nothing_that_safe_programs_do_crashes() {
    let parts = [upstream::linalg(), upstream::tensor(), upstream::vector(), upstream::llvm()];
    let kit = toolkit().upstream(parts).upstream([upstream::math(), upstream::index()]);
    let session = kit.upstream([upstream::bufferization()]).session();
    for (name, program) in PROGRAMS {
        println!("{name}");
        let module = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
        program(At { session: &session, module: &module });
        drop(module);
        let mut other = session.parse(TEXT.as_bytes(), "t.mlir").expect("parses");
        let outcome = session.run_pipeline(&mut other, "builtin.module(canonicalize,cse)");
        outcome.unwrap_or_else(|error| panic!("behind '{name}': {error}"));
    }
    println!("{} programs", PROGRAMS.len());
}
