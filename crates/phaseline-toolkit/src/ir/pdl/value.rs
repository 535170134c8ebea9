//! Parts of patterns, as closures and MLIR's interpreter have them.

use crate::{
    Error, Result, ffi,
    ir::{Attribute, Op, OpSpec, Type, Val, rewrite::Rewriter},
};
use melior::ir::{AttributeLike, TypeLike, ValueLike};
use mlir_sys as sys;
use std::{ffi::c_void, fmt};

/// A part of a pattern that a closure is given, or gives.
#[derive(Clone, Debug)]
pub enum PdlValue<'c> {
    /// `!pdl.attribute`.
    Attribute(Attribute<'c>),
    /// `!pdl.operation`.
    Operation(Op<'c>),
    /// `!pdl.type`.
    Type(Type<'c>),
    /// `!pdl.range<type>`.
    Types(Vec<Type<'c>>),
    /// `!pdl.value`.
    Value(Val<'c>),
    /// `!pdl.range<value>`.
    Values(Vec<Val<'c>>),
}

impl<'c> From<Attribute<'c>> for PdlValue<'c> {
    fn from(attribute: Attribute<'c>) -> Self {
        Self::Attribute(attribute)
    }
}

impl<'c> From<Op<'c>> for PdlValue<'c> {
    fn from(op: Op<'c>) -> Self {
        Self::Operation(op)
    }
}

impl<'c> From<Type<'c>> for PdlValue<'c> {
    fn from(ty: Type<'c>) -> Self {
        Self::Type(ty)
    }
}

impl<'c> From<Vec<Type<'c>>> for PdlValue<'c> {
    fn from(types: Vec<Type<'c>>) -> Self {
        Self::Types(types)
    }
}

impl<'c> From<Val<'c>> for PdlValue<'c> {
    fn from(value: Val<'c>) -> Self {
        Self::Value(value)
    }
}

impl<'c> From<Vec<Val<'c>>> for PdlValue<'c> {
    fn from(values: Vec<Val<'c>>) -> Self {
        Self::Values(values)
    }
}

impl<'c> PdlValue<'c> {
    /// The attribute.
    ///
    /// # Errors
    /// It is something else.
    pub fn attribute(&self) -> Result<Attribute<'c>> {
        match self {
            Self::Attribute(attribute) => Ok(*attribute),
            other => Err(wrong(other, Kind::Attribute)),
        }
    }

    /// The operation.
    ///
    /// # Errors
    /// As [`Self::attribute`].
    pub fn op(&self) -> Result<Op<'c>> {
        match self {
            Self::Operation(op) => Ok(*op),
            other => Err(wrong(other, Kind::Operation)),
        }
    }

    /// The type.
    ///
    /// # Errors
    /// As [`Self::attribute`].
    pub fn ty(&self) -> Result<Type<'c>> {
        match self {
            Self::Type(ty) => Ok(*ty),
            other => Err(wrong(other, Kind::Type)),
        }
    }

    /// The types of a range.
    ///
    /// # Errors
    /// As [`Self::attribute`].
    pub fn types(&self) -> Result<&[Type<'c>]> {
        match self {
            Self::Types(types) => Ok(types),
            other => Err(wrong(other, Kind::Types)),
        }
    }

    /// The value.
    ///
    /// # Errors
    /// As [`Self::attribute`].
    pub fn value(&self) -> Result<Val<'c>> {
        match self {
            Self::Value(value) => Ok(*value),
            other => Err(wrong(other, Kind::Value)),
        }
    }

    /// The values of a range.
    ///
    /// # Errors
    /// As [`Self::attribute`].
    pub fn values(&self) -> Result<&[Val<'c>]> {
        match self {
            Self::Values(values) => Ok(values),
            other => Err(wrong(other, Kind::Values)),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Attribute(_) => Kind::Attribute,
            Self::Operation(_) => Kind::Operation,
            Self::Type(_) => Kind::Type,
            Self::Types(_) => Kind::Types,
            Self::Value(_) => Kind::Value,
            Self::Values(_) => Kind::Values,
        }
    }
}

fn wrong(found: &PdlValue<'_>, wanted: Kind) -> Error {
    Error::invalid(format!("{} is taken as {wanted}", found.kind()))
}

/// The kind of a [`PdlValue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Attribute,
    Operation,
    Type,
    Types,
    Value,
    Values,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attribute => "an attribute",
            Self::Operation => "an operation",
            Self::Type => "a type",
            Self::Types => "a range of types",
            Self::Value => "a value",
            Self::Values => "a range of values",
        })
    }
}

/// The kinds in words.
pub(super) fn list(kinds: &[Kind]) -> String {
    match kinds.is_empty() {
        true => "nothing".to_owned(),
        false => kinds.iter().map(Kind::to_string).collect::<Vec<_>>().join(", "),
    }
}

pub(super) unsafe extern "C" fn add_type(ty: sys::MlirType, user: *mut c_void) {
    // SAFETY: `user` is the list of `Site::read`, and MLIR gives live types.
    unsafe { (*user.cast::<Vec<Type<'_>>>()).push(Type::from_raw(ty)) };
}

pub(super) unsafe extern "C" fn add_value(value: sys::MlirValue, user: *mut c_void) {
    // SAFETY: `user` is the list of `Site::read`, and MLIR gives live values.
    unsafe { (*user.cast::<Vec<Val<'_>>>()).push(Val::from_raw(value)) };
}

/// Gives a value to the interpreter.
///
/// # Safety
/// The list is that of the call which runs, and the value is live.
pub(super) unsafe fn push(results: sys::MlirPDLResultList, value: PdlValue<'_>) {
    // SAFETY: as the caller says.
    unsafe {
        match value {
            PdlValue::Attribute(it) => {
                sys::mlirPDLResultListPushBackAttribute(results, it.to_raw())
            }
            PdlValue::Operation(it) => {
                sys::mlirPDLResultListPushBackOperation(results, it.to_raw())
            }
            PdlValue::Type(it) => sys::mlirPDLResultListPushBackType(results, it.to_raw()),
            PdlValue::Types(all) => {
                let raw: Vec<_> = all.iter().map(|ty| ty.to_raw()).collect();
                ffi::phlPdlPushTypes(results, raw.len() as isize, raw.as_ptr());
            }
            PdlValue::Value(it) => sys::mlirPDLResultListPushBackValue(results, it.to_raw()),
            PdlValue::Values(all) => {
                let raw: Vec<_> = all.iter().map(|value| value.to_raw()).collect();
                ffi::phlPdlPushValues(results, raw.len() as isize, raw.as_ptr());
            }
        }
    }
}

/// The stand-in for a result of a rewrite that failed, until the driver ends.
pub(super) fn stand_in<'c>(rewriter: &Rewriter<'_, 'c>, kind: Kind) -> Result<PdlValue<'c>> {
    let context = rewriter.context();
    let none = Type::none(context);
    let op = || {
        let spec = OpSpec { results: &[none], ..Default::default() };
        rewriter.builder()?.create("builtin.unrealized_conversion_cast", spec)
    };
    Ok(match kind {
        Kind::Attribute => Attribute::unit(context).into(),
        Kind::Type => none.into(),
        Kind::Operation => op()?.into(),
        Kind::Types => Vec::<Type<'c>>::new().into(),
        Kind::Value => crate::ir::result0(op()?)?.into(),
        Kind::Values => Vec::<Val<'c>>::new().into(),
    })
}
