//! Views of operations, and what ODS says about them.

mod blob;
mod effects;
mod queue;
mod rewrite;
mod soundness;
mod table;

use super::{
    Builder, Op, edit, graph, ops_of, root, tir,
    view::{Arity, OpView, graph_info, info, info_of},
};
use crate::Session;
use melior::ir::{Module, ValueLike};

const MODULE: &str = r#"
  func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x1x3x3xf32>, %high: tensor<f32>) -> tensor<*xf32> {
    %0 = graph.conv %x, %w group = 4 : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x7x7xf32>
    %1 = graph.conv %x, %w strides = [2, 1] group = 4 : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x7xf32>
    %2 = graph.clip %0 max %high : (tensor<1x4x7x7xf32>, tensor<f32>) -> tensor<1x4x7x7xf32>
    %3 = graph.concat %0, %2 axis = 1 : (tensor<1x4x7x7xf32>, tensor<1x4x7x7xf32>) -> tensor<1x8x7x7xf32>
    %4 = graph.leaky_relu %3 : tensor<1x8x7x7xf32>
    %5 = "builtin.unrealized_conversion_cast"(%4) : (tensor<1x8x7x7xf32>) -> tensor<*xf32>
    return %5 : tensor<*xf32>
  }
"#;

fn module(session: &Session) -> Module<'_> {
    session.parse(MODULE.as_bytes(), "test.mlir").expect("is right")
}

fn all<'a>(module: &'a Module<'_>) -> Vec<Op<'a>> {
    edit::walk(root(module))
}

fn only<'a, V: OpView<'a>>(module: &'a Module<'_>) -> Vec<V> {
    all(module).into_iter().filter_map(V::of).collect()
}

#[test]
fn a_view_is_of_one_operation_only() {
    let session = Session::new();
    let module = module(&session);
    assert_eq!(only::<graph::Conv>(&module).len(), 2);
    assert!(only::<graph::ConvTranspose>(&module).is_empty());
    assert!(only::<tir::CallExtern>(&module).is_empty());
}

#[test]
fn absent_operands_and_attributes_are_those_of_ods() {
    let session = Session::new();
    let module = module(&session);
    let [first, second] = only::<graph::Conv>(&module)[..] else { panic!("two convolutions") };
    assert_eq!((first.strides(), first.pads()), (vec![1, 1], vec![0; 4]));
    assert_eq!((second.strides(), second.dilations(), second.group()), (vec![2, 1], vec![1, 1], 4));
    assert!(first.b().is_none());
    assert_eq!(first.x(), second.x());
    let [clip] = only::<graph::Clip>(&module)[..] else { panic!("one clip") };
    assert!(clip.min().is_none() && clip.max().is_some());
    assert_eq!(clip.x(), first.y());
    let [concat] = only::<graph::Concat>(&module)[..] else { panic!("one concat") };
    assert_eq!(concat.inputs(), [first.y(), clip.y()]);
    let [leaky] = only::<graph::LeakyRelu>(&module)[..] else { panic!("one leaky relu") };
    assert_eq!(leaky.alpha(), f64::from(0.01_f32));
}

#[test]
fn adaptors_give_other_values_by_the_names_of_operands() {
    let session = Session::new();
    let module = module(&session);
    let [conv, _] = only::<graph::Conv>(&module)[..] else { panic!("two convolutions") };
    let [clip] = only::<graph::Clip>(&module)[..] else { panic!("one clip") };
    let [concat] = only::<graph::Concat>(&module)[..] else { panic!("one concat") };
    // The maximum is the second of two values, as there is no minimum.
    let others = [conv.w(), conv.x()];
    let adaptor = graph::ClipAdaptor::of(clip.op(), &others).expect("two operands");
    assert_eq!((adaptor.x(), adaptor.min(), adaptor.max()), (others[0], None, Some(others[1])));
    assert_eq!(adaptor.view().x(), clip.x());
    let adaptor = graph::ConcatAdaptor::of(concat.op(), &others).expect("two operands");
    assert_eq!((adaptor.inputs(), adaptor.axis()), (&others[..], 1));
    let adaptor = graph::ConvAdaptor::of(conv.op(), &others).expect("two operands");
    assert!(adaptor.b().is_none());
    assert_eq!(adaptor.group(), 4);
    assert!(graph::ConvAdaptor::of(conv.op(), &others[..1]).is_none());
    assert!(graph::ConvAdaptor::of(concat.op(), &others).is_none());
}

/// As `docs/guides/operation.md` has it.
fn copy_of<'c>(builder: Builder<'c>, op: Op<'c>) -> Option<graph::Conv<'c>> {
    let conv = graph::Conv::of(op)?;
    let (strides, bias) = (conv.strides(), conv.b());
    let attributes = graph::ConvAttrs { strides, group: 4, ..Default::default() };
    let made = graph::Conv::build(&builder, conv.x(), conv.w(), bias, attributes).ok()?;
    Some(made)
}

#[test]
fn what_is_built_is_what_was_asked_for() {
    let session = Session::new();
    let module = module(&session);
    let [first, second] = only::<graph::Conv>(&module)[..] else { panic!("two convolutions") };
    let b = Builder::before(first.op()).expect("is in a block");
    let made = copy_of(b, second.op()).expect("is a convolution");
    assert_eq!(made.y().r#type(), second.y().r#type());
    assert_eq!((made.strides(), made.group()), (vec![2, 1], 4));
    let clip = only::<graph::Clip>(&module)[0];
    let copy = graph::Clip::build(&b, made.y(), None, clip.max()).expect("is right");
    assert!(copy.min().is_none());
    assert_eq!(copy.max(), clip.max());
}

#[test]
fn every_operation_is_found_by_its_name() {
    for (dialect, ops) in [("graph", graph::OPS), ("tir", tir::OPS)] {
        assert!(ops.windows(2).all(|pair| pair[0].mnemonic < pair[1].mnemonic));
        for op in ops {
            assert_eq!(op.name, format!("{dialect}.{}", op.mnemonic));
            assert_eq!(info_of(op.name), Some(*op));
            for fact in [op.image, op.weights].into_iter().flatten() {
                assert!(op.operand(fact).is_some(), "{} has no operand '{fact}'", op.name);
            }
        }
    }
    assert!(info_of("arith.addi").is_none() && info_of("graph.nonsense").is_none());
    assert_eq!(graph_info("concat").map(|op| op.operands[0].arity), Some(Arity::Variadic));
    let session = Session::new();
    let module = module(&session);
    let function = ops_of(root(&module))[0];
    assert!(info(function).is_none());
}

#[test]
fn every_elementwise_operation_has_a_lowering() {
    let elementwise: Vec<_> = graph::OPS.iter().filter(|op| op.elementwise).collect();
    assert!(elementwise.len() >= 67);
    assert!(elementwise.iter().all(|op| crate::lower::lowering(op.name).is_some()));
    assert!(crate::lower::lowering("graph.composite").is_none());
}
