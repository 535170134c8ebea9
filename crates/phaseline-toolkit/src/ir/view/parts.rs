//! Parts that the typed builders of operations collect.

use super::OpInfo;
use crate::{
    Result,
    ir::{Builder, Op, OpSpec, Val},
};
use melior::ir::{
    Attribute, Type,
    attribute::{
        BoolAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute,
        FloatAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
    },
    r#type::IntegerType,
};
/// The parts of an operation that is being built.
#[doc(hidden)]
pub struct Parts<'c> {
    info: &'static OpInfo,
    operands: Vec<Val<'c>>,
    sizes: Vec<i32>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
}

impl<'c> Parts<'c> {
    #[doc(hidden)]
    pub fn new(info: &'static OpInfo) -> Self {
        Self { info, operands: vec![], sizes: vec![], attributes: vec![] }
    }

    #[doc(hidden)]
    pub fn one(&mut self, value: Val<'c>) {
        self.variadic(&[value]);
    }

    #[doc(hidden)]
    pub fn optional(&mut self, value: Option<Val<'c>>) {
        self.variadic(value.as_slice());
    }

    #[doc(hidden)]
    pub fn variadic(&mut self, values: &[Val<'c>]) {
        self.operands.extend(values);
        self.sizes.push(values.len() as i32);
    }

    #[doc(hidden)]
    pub fn attribute(&mut self, _: &Builder<'c>, name: &'static str, value: Attribute<'c>) {
        self.attributes.push((name, value));
    }

    #[doc(hidden)]
    pub fn int(&mut self, b: &Builder<'c>, name: &'static str, value: i64) {
        let ty = IntegerType::new(b.context, 64).into();
        self.attribute(b, name, IntegerAttribute::new(ty, value).into());
    }

    #[doc(hidden)]
    pub fn flag(&mut self, b: &Builder<'c>, name: &'static str, value: bool) {
        self.attribute(b, name, BoolAttribute::new(b.context, value).into());
    }

    #[doc(hidden)]
    pub fn unit(&mut self, b: &Builder<'c>, name: &'static str, value: bool) {
        if value {
            self.attribute(b, name, Attribute::unit(b.context));
        }
    }

    #[doc(hidden)]
    pub fn float(&mut self, b: &Builder<'c>, name: &'static str, value: f64) {
        let value = FloatAttribute::new(b.context, Type::float32(b.context), value);
        self.attribute(b, name, value.into());
    }

    #[doc(hidden)]
    pub fn string(&mut self, b: &Builder<'c>, name: &'static str, value: &str) {
        self.attribute(b, name, StringAttribute::new(b.context, value).into());
    }

    #[doc(hidden)]
    pub fn symbol(&mut self, b: &Builder<'c>, name: &'static str, value: &str) {
        self.attribute(b, name, FlatSymbolRefAttribute::new(b.context, value).into());
    }

    #[doc(hidden)]
    pub fn ints(&mut self, b: &Builder<'c>, name: &'static str, value: &[i64]) {
        self.attribute(b, name, DenseI64ArrayAttribute::new(b.context, value).into());
    }

    #[doc(hidden)]
    pub fn ty(&mut self, b: &Builder<'c>, name: &'static str, value: Type<'c>) {
        self.attribute(b, name, TypeAttribute::new(value).into());
    }

    /// Creates the operation, with result types that MLIR infers unless they are given.
    pub fn build(mut self, b: &Builder<'c>, types: Option<&[Type<'c>]>) -> Result<Op<'c>> {
        if self.info.segments {
            let sizes = DenseI32ArrayAttribute::new(b.context, &self.sizes);
            self.attributes.push(("operandSegmentSizes", sizes.into()));
        }
        let spec = OpSpec {
            operands: &self.operands,
            results: types.unwrap_or_default(),
            attributes: self.attributes,
            regions: vec![],
            infer: types.is_none(),
        };
        b.create(self.info.name, spec)
    }
}
