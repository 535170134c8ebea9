//! Creating operations of the graph dialect, with what is known of their values.

use std::cell::RefCell;
use std::collections::HashMap;

use melior::ir::attribute::{
    BoolAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FloatAttribute,
    IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Location, Region, Type, ValueLike};
use thiserror::Error;

use crate::import::constants::{constant_attribute, scalar_type, tensor_of_dense};
use crate::{
    Session,
    io::onnx_tensor::Constant,
    ir::{self, Builder, OpSpec, Val, graph, view::OpView},
    limits,
    tensor::{DType, Tensor, TensorError},
};

/// A reason why the node that is being imported cannot be.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum OpError {
    /// The node is wrong.
    #[error("{0}")]
    Invalid(String),
    /// The node may be right, but is of a form that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// There is no such operator here.
    #[error("the operator is not known")]
    UnknownOperator,
}

/// Result of importing (a part of) a node.
pub(crate) type OpResult<T> = Result<T, OpError>;

impl From<String> for OpError {
    fn from(message: String) -> Self {
        Self::Invalid(message)
    }
}

impl From<&str> for OpError {
    fn from(message: &str) -> Self {
        Self::Invalid(message.to_string())
    }
}

impl From<TensorError> for OpError {
    fn from(error: TensorError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<crate::Error> for OpError {
    fn from(error: crate::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// The value of an attribute, before it is one.
#[derive(Clone, Debug)]
pub(crate) enum Attr<'c> {
    Int(i64),
    Ints(Vec<i64>),
    Bool(bool),
    Float(f32),
    Str(String),
    Type(Type<'c>),
    Raw(Attribute<'c>),
}

macro_rules! attr_from {
    ($($ty:ty => $variant:ident),*) => {
        $(impl From<$ty> for Attr<'_> {
            fn from(value: $ty) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}
attr_from!(i64 => Int, Vec<i64> => Ints, &[i64] => Ints, bool => Bool, f32 => Float, &str => Str);

impl<'c> From<Type<'c>> for Attr<'c> {
    fn from(value: Type<'c>) -> Self {
        Self::Type(value)
    }
}

impl<'c> From<Attribute<'c>> for Attr<'c> {
    fn from(value: Attribute<'c>) -> Self {
        Self::Raw(value)
    }
}

/// Names and values of attributes.
pub(crate) type Attrs<'c, 's> = &'s [(&'static str, Attr<'c>)];

/// Appends operations to a block, and remembers the constants among their results.
pub(crate) struct Emitter<'c> {
    session: &'c Session,
    builder: Builder<'c>,
    /// Constants by the identity of their value; none of them is ever erased.
    constants: RefCell<HashMap<ir::Id, Tensor>>,
    /// In the body of a loop: values from outside of it, and their substitutes inside.
    captured: RefCell<Vec<(Val<'c>, Val<'c>)>>,
}

impl<'c> Emitter<'c> {
    pub(crate) fn new(session: &'c Session, builder: Builder<'c>) -> Self {
        Self { session, builder, constants: RefCell::default(), captured: RefCell::default() }
    }

    /// An emitter into the body of a loop.
    pub(crate) fn inside(&self, builder: Builder<'c>) -> Self {
        Self::new(self.session, builder)
    }

    /// The value in this loop body that stands for one of `outer`, the emitter around the loop:
    /// constants are made again, other values become arguments of the body.
    pub(crate) fn capture(&self, outer: &Emitter<'c>, value: Val<'c>) -> Val<'c> {
        let known = |pair: &&(Val<'c>, Val<'c>)| pair.0 == value;
        if let Some((_, inside)) = self.captured.borrow().iter().find(known) {
            return *inside;
        }
        let block = self.builder.block();
        let constant = ir::edit::defining_op(value).filter(|op| graph::Constant::is(*op));
        let copy = constant.map(|op| ir::results(ir::edit::clone_to_end(op, block)));
        let inside = copy.and_then(|results| results.first().copied()).unwrap_or_else(|| {
            ir::edit::add_argument(block, value.r#type(), self.builder.location)
        });
        if let Some(tensor) = outer.known(value) {
            self.constants.borrow_mut().insert(ir::id(inside), tensor);
        }
        self.captured.borrow_mut().push((value, inside));
        inside
    }

    /// The values that became arguments of this body, in order.
    pub(crate) fn captured(&self) -> Vec<Val<'c>> {
        let captured = self.captured.borrow();
        let arguments = captured.iter().filter(|(_, inside)| inside.is_block_argument());
        arguments.map(|(outside, _)| *outside).collect()
    }

    /// Sets the location of later operations.
    pub(crate) fn set_location(&mut self, location: Location<'c>) {
        self.builder.location = location;
    }

    pub(crate) fn builder(&self) -> &Builder<'c> {
        &self.builder
    }

    /// The MLIR type of an element type.
    pub(crate) fn scalar(&self, name: &str) -> OpResult<Type<'c>> {
        scalar_type(self.builder.context, name)
            .ok_or_else(|| OpError::Invalid(format!("there is no type {name}")))
    }

    /// Creates an operation of the graph dialect with the types that it infers; `name` is without
    /// the dialect.
    pub(crate) fn op(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: Attrs<'c, '_>,
    ) -> OpResult<Vec<Val<'c>>> {
        let attributes = attributes.iter().map(|(n, v)| (*n, self.attribute(v))).collect();
        self.create(name, operands, attributes, vec![])
    }

    /// Like [`Emitter::op`], for operations with several optional operands.
    pub(crate) fn op_with_optionals(
        &self,
        name: &str,
        operands: &[Option<Val<'c>>],
        attributes: Attrs<'c, '_>,
    ) -> OpResult<Vec<Val<'c>>> {
        let segments: Vec<i32> = operands.iter().map(|o| i32::from(o.is_some())).collect();
        let present: Vec<_> = operands.iter().copied().flatten().collect();
        let mut attributes: Vec<_> =
            attributes.iter().map(|(n, v)| (*n, self.attribute(v))).collect();
        let segments = DenseI32ArrayAttribute::new(self.builder.context, &segments);
        attributes.push(("operandSegmentSizes", segments.into()));
        self.create(name, &present, attributes, vec![])
    }

    /// Like [`Emitter::op`], for operations with a region and groups of operands.
    pub(crate) fn op_with_region(
        &self,
        name: &str,
        (operands, groups): (&[Val<'c>], &[usize]),
        attributes: Attrs<'c, '_>,
        region: Region<'c>,
    ) -> OpResult<Vec<Val<'c>>> {
        let groups: Vec<i32> = groups.iter().map(|count| *count as i32).collect();
        let mut attributes: Vec<_> =
            attributes.iter().map(|(n, v)| (*n, self.attribute(v))).collect();
        let groups = DenseI32ArrayAttribute::new(self.builder.context, &groups);
        attributes.push(("operandSegmentSizes", groups.into()));
        self.create(name, operands, attributes, vec![region])
    }

    fn create(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: Vec<(&'static str, Attribute<'c>)>,
        regions: Vec<Region<'c>>,
    ) -> OpResult<Vec<Val<'c>>> {
        let full = format!("graph.{name}");
        let spec = OpSpec { operands, attributes, regions, infer: true, ..Default::default() };
        let op = self.builder.create(&full, spec).map_err(|_| self.diagnosis(&full))?;
        // Inference looks at shapes; what types an operation takes, its verifier tells.
        if !op.verify() {
            return Err(self.diagnosis(&full));
        }
        let results = ir::results(op);
        for result in &results {
            check_size(result.r#type())?;
        }
        Ok(self.folded(op).unwrap_or(results))
    }

    /// MLIR's diagnostic for the operation that it just refused, without the location, since the
    /// caller names the node.
    pub(crate) fn diagnosis(&self, name: &str) -> OpError {
        let text = self.session.failure("the operation is not valid").to_string();
        let start = text.find(&format!("'{name}'")).unwrap_or(0);
        OpError::Invalid(text[start..].to_string())
    }

    fn attribute(&self, value: &Attr<'c>) -> Attribute<'c> {
        let context = self.builder.context;
        match value {
            Attr::Int(value) => {
                IntegerAttribute::new(IntegerType::new(context, 64).into(), *value).into()
            }
            Attr::Ints(values) => DenseI64ArrayAttribute::new(context, values).into(),
            Attr::Bool(value) => BoolAttribute::new(context, *value).into(),
            Attr::Float(value) => {
                FloatAttribute::new(context, Type::float32(context), f64::from(*value)).into()
            }
            Attr::Str(value) => StringAttribute::new(context, value).into(),
            Attr::Type(value) => TypeAttribute::new(*value).into(),
            Attr::Raw(value) => *value,
        }
    }

    /// A constant; large ones are blobs of that name.
    pub(crate) fn constant(&self, constant: &Constant, name: &str) -> OpResult<Val<'c>> {
        let Constant { tensor, small } = constant;
        let value = constant_attribute(self.builder.context, constant, name)
            .ok_or_else(|| OpError::Invalid(format!("{tensor:?} has no constant in the IR")))?;
        let spec = OpSpec { attributes: vec![("value", value)], infer: true, ..Default::default() };
        let op = self
            .builder
            .create(graph::Constant::NAME, spec)
            .map_err(|_| self.diagnosis(graph::Constant::NAME))?;
        let result = ir::result0(op)?;
        check_size(result.r#type())?;
        if small.is_none() {
            self.constants.borrow_mut().insert(ir::id(result), tensor.clone());
        }
        Ok(result)
    }

    /// An elements attribute, for operations that hold one.
    pub(crate) fn elements(&self, constant: &Constant) -> OpResult<Attr<'c>> {
        let tensor = &constant.tensor;
        constant_attribute(self.builder.context, constant, "value")
            .map(Attr::Raw)
            .ok_or_else(|| OpError::Invalid(format!("{tensor:?} has no constant in the IR")))
    }

    /// The value of a constant.
    pub(crate) fn known(&self, value: Val<'c>) -> Option<Tensor> {
        self.constants.borrow().get(&ir::id(value)).cloned()
    }

    /// The element type of a value.
    pub(crate) fn dtype(&self, value: Val<'c>) -> OpResult<DType> {
        let ty = value.r#type();
        crate::import::constants::dtype_of(ty).ok_or_else(|| {
            let element = ir::element_type(ty);
            OpError::Unsupported(format!("computing on {element} tensors is not supported"))
        })
    }

    /// Replaces an operation that can be folded, and returns the new values for its results. So
    /// arithmetic on shapes is constant before a shape is needed.
    fn folded(&self, op: ir::Op<'c>) -> Option<Vec<Val<'c>>> {
        let values = ir::edit::fold(op)?;
        values.iter().for_each(|value| self.remember(*value));
        ir::edit::erase(op);
        Some(values)
    }

    /// Notes the value of a constant that a fold made.
    fn remember(&self, value: Val<'c>) {
        let constant =
            ir::edit::defining_op(value).filter(|op| ir::op_name(*op) == graph::Constant::NAME);
        let attribute = constant.and_then(|op| op.attribute("value").ok());
        if let Some(tensor) = attribute.and_then(tensor_of_dense) {
            self.constants.borrow_mut().entry(ir::id(value)).or_insert(tensor);
        }
    }
}

/// A small file can describe a tensor of any size.
pub(crate) fn check_size(ty: Type<'_>) -> OpResult<()> {
    limits::check_type(ty).map_err(|reason| OpError::Invalid(format!("the result {reason}")))
}
