//! An insertion point with methods for the operations that lowerings use most.

use super::{Blk, Op, Val, nesting, origin};
use crate::{Result, ffi};
use melior::{
    Context,
    ir::{
        Attribute, Identifier, Location, Operation, Region, Type, TypeLike, ValueLike,
        attribute::{
            BoolAttribute, DenseI64ArrayAttribute, FloatAttribute, IntegerAttribute,
            StringAttribute,
        },
        block::BlockLike,
        operation::{OperationBuilder, OperationLike},
        r#type::{IntegerType, RankedTensorType},
    },
};

/// Bits of the widest integer type.
const MAX_BITS: u32 = (1 << 24) - 1;

/// Creates operations at one place: before an operation, or at the end of a block.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    /// The context.
    pub context: &'c Context,
    /// The location of what is created.
    pub location: Location<'c>,
    block: Blk<'c>,
    before: Option<Op<'c>>,
    /// The rewriter that is told of what is created. It is there as long as `'c`: a rule cannot keep the builder.
    told: Option<mlir_sys::MlirRewriterBase>,
}

/// The parts of an operation of any name; see [`Builder::create`].
#[derive(Default)]
pub struct OpSpec<'c, 's> {
    /// Operands.
    pub operands: &'s [Val<'c>],
    /// Result types; ignored when `infer` is set.
    pub results: &'s [Type<'c>],
    /// Attributes.
    pub attributes: Vec<(&'s str, Attribute<'c>)>,
    /// Regions.
    pub regions: Vec<Region<'c>>,
    /// True if MLIR infers the result types.
    pub infer: bool,
}

impl<'c> Builder<'c> {
    /// Inserts before `op`, with its location. The operation is in a block.
    pub fn before(op: Op<'c>) -> Result<Self> {
        let block = op
            .block()
            .ok_or_else(|| crate::Error::internal("an operation outside of any block"))?;
        Ok(Self {
            context: super::context_of(op),
            location: op.location(),
            block,
            before: Some(op),
            told: None,
        })
    }

    /// Appends to `block`.
    pub fn at_end(context: &'c Context, block: Blk<'c>, location: Location<'c>) -> Self {
        Self { context, location, block, before: None, told: None }
    }

    /// The same place with another location.
    pub fn with_location(self, location: Location<'c>) -> Self {
        Self { location, ..self }
    }

    /// The block that is inserted into.
    pub fn block(&self) -> Blk<'c> {
        self.block
    }

    /// Creates and inserts an operation of any name.
    ///
    /// # Errors
    /// The session knows no operation of that name. A part is of another session, or an operand of
    /// another module. MLIR cannot infer its types, or not from these operands and attributes.
    pub fn create(&self, name: &str, spec: OpSpec<'c, '_>) -> Result<Op<'c>> {
        origin::check(self, name, &spec)?;
        let trusted = spec.infer && super::context::infers_with_care(self.context, name);
        let (infer, separately) = (trusted, spec.infer && !trusted);
        let attributes: Vec<_> = spec
            .attributes
            .iter()
            .map(|(name, value)| (Identifier::new(self.context, name), *value))
            .collect();
        let mut builder = OperationBuilder::new(name, self.location)
            .add_operands(spec.operands)
            .add_attributes(&attributes)
            .add_regions_vec(spec.regions);
        builder = match (infer, separately) {
            (true, _) => builder.enable_result_type_inference(),
            (_, true) => builder,
            _ => builder.add_results(spec.results),
        };
        let mut op = builder.build().map_err(super::unexpected)?;
        if separately {
            op = with_inferred_types(op, name)?;
        }
        let made = match self.place() {
            (block, Some(before)) => block.insert_operation_before(before, op),
            (block, None) => block.append_operation(op),
        };
        self.tell(made);
        Ok(made)
    }

    /// The same place, with a rewriter that is told of what is created.
    pub(crate) fn told(self, rewriter: mlir_sys::MlirRewriterBase) -> Self {
        Self { told: Some(rewriter), ..self }
    }

    fn tell(&self, op: Op<'c>) {
        if let Some(rewriter) = self.told {
            // SAFETY: the rewriter lives while its rule runs, and the operation is in a block.
            unsafe { ffi::phlRewriterInserted(rewriter, op.to_raw()) };
            super::convert::note(op);
        }
    }

    /// Inserts a copy of an operation, with the same operands.
    ///
    /// # Errors
    /// The operation is of another session, or uses values of another module.
    pub fn copy(&self, op: Op<'c>) -> Result<Op<'c>> {
        super::context::check_change()?;
        origin::check_place(self.block)?;
        let name = super::op_name(op);
        origin::check_home(self.context, &op, || format!("'{name}', which is copied,"))?;
        origin::check_home(self.context, &self.block, || format!("the block for '{name}'"))?;
        for value in super::capture::captured(op).into_iter().chain(super::operands(op)) {
            origin::check_value(self.block, value, name)?;
        }
        Ok(self.insert_clone(op))
    }

    unchecked! {
        /// Inserts a copy of an operation, with the same operands.
        pub fn insert_clone(&self, op: Op<'c>) -> Op<'c> {
            // SAFETY: all parts are live, and the block takes over the copy.
            unsafe {
                let copy = mlir_sys::mlirOperationClone(op.to_raw());
                match self.place() {
                    (block, Some(before)) => mlir_sys::mlirBlockInsertOwnedOperationBefore(
                        block.to_raw(),
                        before.to_raw(),
                        copy,
                    ),
                    (block, None) => mlir_sys::mlirBlockAppendOwnedOperation(block.to_raw(), copy),
                }
                self.tell(Op::from_raw(copy));
                Op::from_raw(copy)
            }
        }
    }

    /// Insertion point at present: the operation in front of which it is may have been moved to
    /// another block since, or taken out of the IR.
    fn place(&self) -> (Blk<'c>, Option<Op<'c>>) {
        let Some(before) = self.before else { return (self.block, None) };
        before.block().map_or((self.block, None), |block| (block, Some(before)))
    }

    /// An operation with operands and one result.
    pub fn op1(&self, name: &str, operands: &[Val<'c>], result: Type<'c>) -> Result<Val<'c>> {
        self.op1_with(name, operands, result, vec![])
    }

    /// An operation with operands, attributes and one result.
    pub fn op1_with(
        &self,
        name: &str,
        operands: &[Val<'c>],
        result: Type<'c>,
        attributes: Vec<(&str, Attribute<'c>)>,
    ) -> Result<Val<'c>> {
        let spec = OpSpec { operands, results: &[result], attributes, ..Default::default() };
        super::result0(self.create(name, spec)?)
    }

    /// A binary operation whose result has the type of `a`, such as `arith.addf`.
    pub fn binary(&self, name: &str, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        self.op1(name, &[a, b], a.r#type())
    }

    /// A unary operation whose result has the type of `a`, such as `math.exp`.
    pub fn unary(&self, name: &str, a: Val<'c>) -> Result<Val<'c>> {
        self.op1(name, &[a], a.r#type())
    }

    /// `arith.cmpf` with a predicate such as `olt`; the result is i1 or a vector of it.
    pub fn cmpf(&self, predicate: &str, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        const NAMES: [&str; 16] = [
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
            "ule", "une", "uno", "true",
        ];
        self.compare("arith.cmpf", &NAMES, predicate, a, b)
    }

    /// `arith.cmpi` with a predicate such as `slt`; the result is i1 or a vector of it.
    pub fn cmpi(&self, predicate: &str, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        const NAMES: [&str; 10] =
            ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        self.compare("arith.cmpi", &NAMES, predicate, a, b)
    }

    fn compare(
        &self,
        op: &str,
        names: &[&str],
        predicate: &str,
        a: Val<'c>,
        b: Val<'c>,
    ) -> Result<Val<'c>> {
        let number = names.iter().position(|name| *name == predicate).ok_or_else(|| {
            crate::Error::internal(format!("{op} has no predicate '{predicate}'"))
        })?;
        let result = self.like(a.r#type(), self.i1());
        let attribute = self.i64_attr(number as i64);
        self.op1_with(op, &[a, b], result, vec![("predicate", attribute)])
    }

    /// `arith.select`.
    pub fn select(&self, condition: Val<'c>, yes: Val<'c>, no: Val<'c>) -> Result<Val<'c>> {
        self.op1("arith.select", &[condition, yes, no], yes.r#type())
    }

    /// A constant of a scalar type, or a splat of a vector type, from a number. Integers are
    /// truncated toward zero.
    pub fn constant(&self, ty: Type<'c>, value: f64) -> Result<Val<'c>> {
        let scalar = self.scalar_of(ty);
        let attribute = if scalar.is_float() {
            FloatAttribute::new(self.context, scalar, value).into()
        } else {
            self.integer(scalar, value as i64)?
        };
        self.constant_attr(ty, attribute)
    }

    /// An integer constant of a scalar type, or a splat of a vector type.
    pub fn constant_int(&self, ty: Type<'c>, value: i64) -> Result<Val<'c>> {
        self.constant_attr(ty, self.integer(self.scalar_of(ty), value)?)
    }

    /// The integer as an attribute; only integers and `index` have any.
    fn integer(&self, scalar: Type<'c>, value: i64) -> Result<Attribute<'c>> {
        if !scalar.is_index() && super::integer_width(scalar).is_none() {
            return Err(crate::Error::internal(format!("a number of type {scalar}")));
        }
        Ok(IntegerAttribute::new(scalar, value).into())
    }

    fn constant_attr(&self, ty: Type<'c>, scalar: Attribute<'c>) -> Result<Val<'c>> {
        let attribute = if ty.is_vector() {
            melior::ir::attribute::DenseElementsAttribute::new(ty, &[scalar])
                .map_err(super::unexpected)?
                .into()
        } else {
            scalar
        };
        self.op1_with("arith.constant", &[], ty, vec![("value", attribute)])
    }

    /// An index constant.
    pub fn index(&self, value: i64) -> Result<Val<'c>> {
        self.constant_int(self.index_type(), value)
    }

    /// An uninitialised tensor of a static type, as a destination.
    pub fn empty(&self, ty: Type<'c>) -> Result<Val<'c>> {
        self.op1("tensor.empty", &[], ty)
    }

    fn scalar_of(&self, ty: Type<'c>) -> Type<'c> {
        if ty.is_vector() { super::element_type(ty) } else { ty }
    }

    /// `element`, or a vector of it with the shape of `shape` when that is a vector type.
    pub fn like(&self, shape: Type<'c>, element: Type<'c>) -> Type<'c> {
        if !shape.is_vector() {
            return element;
        }
        let dims: Vec<u64> = super::dims(shape).iter().map(|dim| *dim as u64).collect();
        Type::vector(&dims, element)
    }

    /// The 32-bit float type.
    pub fn f32(&self) -> Type<'c> {
        Type::float32(self.context)
    }

    /// The 64-bit float type.
    pub fn f64(&self) -> Type<'c> {
        Type::float64(self.context)
    }

    /// The boolean type.
    pub fn i1(&self) -> Type<'c> {
        self.int(1)
    }

    /// The signless integer type of a width.
    ///
    /// # Errors
    /// MLIR has no integers of so many bits.
    pub fn int_type(&self, bits: u32) -> Result<Type<'c>> {
        if bits > MAX_BITS {
            return Err(crate::Error::invalid(format!(
                "there are no integers of {bits} bits; the widest have {MAX_BITS}"
            )));
        }
        Ok(self.int(bits))
    }

    /// The signless integer type of a width that there is.
    pub fn int(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.context, bits).into()
    }

    /// The index type.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }

    /// A ranked tensor type; dimensions may be [`super::DYNAMIC`].
    ///
    /// # Errors
    /// A dimension is negative, or tensors have no elements of that type.
    pub fn tensor_type(&self, dims: &[i64], element: Type<'c>) -> Result<Type<'c>> {
        if let Some(dim) = dims.iter().find(|dim| **dim < 0 && **dim != super::DYNAMIC) {
            return Err(crate::Error::invalid(format!(
                "a tensor has no dimension of {dim}; one that is not known is ir::DYNAMIC"
            )));
        }
        origin::check_home(self.context, &element, || "the element type of a tensor".to_owned())?;
        // SAFETY: the shape has as many numbers as is said; what is not valid gives no type.
        unsafe {
            let none = mlir_sys::mlirAttributeGetNull();
            let (rank, location) = (dims.len() as isize, self.location.to_raw());
            let ty = mlir_sys::mlirRankedTensorTypeGetChecked(
                location,
                rank,
                dims.as_ptr(),
                element.to_raw(),
                none,
            );
            Type::from_option_raw(ty).ok_or_else(|| {
                crate::Error::invalid(format!("there are no tensors with elements of {element}"))
            })
        }
    }

    /// A ranked tensor type of sizes and elements that fit; dimensions may be [`super::DYNAMIC`].
    pub fn tensor(&self, dims: &[i64], element: Type<'c>) -> Type<'c> {
        let dims: Vec<u64> = dims.iter().map(|dim| *dim as u64).collect();
        RankedTensorType::new(&dims, element, None).into()
    }

    /// A 64-bit integer attribute.
    pub fn i64_attr(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(self.int(64), value).into()
    }

    /// A boolean attribute.
    pub fn bool_attr(&self, value: bool) -> Attribute<'c> {
        BoolAttribute::new(self.context, value).into()
    }

    /// A string attribute.
    pub fn str_attr(&self, value: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, value).into()
    }

    /// A dense array of 64-bit integers.
    pub fn i64s_attr(&self, values: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, values).into()
    }

    /// An attribute from its textual form, for the rare kinds without a constructor.
    pub fn parse_attr(&self, text: &str) -> Result<Attribute<'c>> {
        check_text(text)?;
        Attribute::parse(self.context, text)
            .ok_or_else(|| crate::Error::internal(format!("cannot parse the attribute {text}")))
    }

    /// A type from its textual form.
    pub fn parse_type(&self, text: &str) -> Result<Type<'c>> {
        check_text(text)?;
        Type::parse(self.context, text)
            .ok_or_else(|| crate::Error::internal(format!("cannot parse the type {text}")))
    }
}

/// Fails for text that MLIR's parser cannot stand.
fn check_text(text: &str) -> Result<()> {
    nesting::check_text(text.as_bytes())
        .map_err(|(line, what)| crate::Error::invalid(format!("line {line} of the text: {what}")))
}

/// The operation with the result types that MLIR infers; it has none so far.
fn with_inferred_types<'c>(op: Operation<'c>, name: &str) -> Result<Operation<'c>> {
    let mut made = None;
    let reason = super::print::collect(|callback, user| {
        // SAFETY: the call takes over the operation; the callback and its place outlive the call.
        made = unsafe {
            Operation::from_option_raw(ffi::phlOperationInferTypes(op.into_raw(), callback, user))
        };
    });
    made.ok_or_else(|| {
        crate::Error::invalid(format!(
            "the types of the results of '{name}' cannot be inferred: {}",
            String::from_utf8_lossy(&reason)
        ))
    })
}
