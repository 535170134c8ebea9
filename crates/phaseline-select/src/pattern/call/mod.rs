//! Typed prototypes: C functions that matches become calls of.
//!
//! ```text
//! int npu_conv2d(device, in x as nhwc, in w as ohwi, in? b, out y as nhwc, i32 x.shape[1],
//!                bool present(relu), scratch 4 * x.shape[3],
//!                struct conv_params { stride.h = conv.strides[0], mode = name NPU_FAST,
//!                                     scales = const i32 quant_multiplier(values(s)) })
//! ```
//! - `in x`: Pointer to the const elements of a capture; `in? x` is null when it is absent.
//! - `out y`: Pointer to an output: a capture, or the match's outputs in order.
//! - `out y over x`: Pointer to the contents of `x`, of which the function makes `y`: it writes
//!   what changes.
//! - `as nhwc`: The tensor is transposed for the call. `as flat` has one dimension, and
//!   `as [0/8, 1, 0%8]` has dimensions cut into blocks. `as given` is whatever layout neighbours
//!   have, in one dimension of `given.size` elements; see [`Layout`].
//! - `i32 EXPR`, `bool`, `f32`, `size`: A number that is computed at compile time. It is 0 if it
//!   depends on an absent part of the match.
//! - `name X`: An enumerator or macro of a header.
//! - `const i32 LIST`: Pointer to a constant array, in tiles `over` a loop to the part for its
//!   piece.
//! - `scratch BYTES`: Working memory for the call.
//! - `struct t { field = ... }`, or `t { ... }` for a name that typedef made: Pointer to a struct.
//!   Its fields are expressions, `name`, `const`, `scratch` and `in`.
//! - `device`, first if at all: The handle of the open device.

mod bind;
mod bound;
mod check;
mod layout;
mod parse;

pub use bound::{BoundArg, BoundCall, BoundLayout, GivenLayout};
pub use check::goes_by_places;
pub use layout::{BlockPart, Layout, Permutation};

use crate::{
    expr::{Expr, ExprKind, PatternResult},
    tensor::DType,
};
use std::fmt;

/// Return type of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    Void,
    /// An `int` that is 0 on success.
    Status,
}

/// The C type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// `int8_t` ... `uint64_t`, `float`, `double`, `bool`.
    Scalar(DType),
    /// `size_t`.
    Size,
}

/// A parameter of a prototype, or a field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// Pointer to the const data of a captured value; a null pointer if it is absent.
    In {
        /// The capture.
        capture: String,
        /// True if the capture may be absent.
        optional: bool,
        /// The layout that the function wants.
        layout: Option<Layout>,
    },
    /// Pointer to the data of an output: a captured value, or the match's outputs in order.
    Out {
        /// The capture, or a free name.
        name: String,
        /// The layout that the function makes.
        layout: Option<Layout>,
        /// The capture that is in the memory when the function begins.
        over: Option<String>,
    },
    /// A scalar that is computed at compile time.
    Scalar {
        /// Its type.
        ty: CType,
        /// Its value.
        value: Expr,
    },
    /// A field of a struct, whose C type is that of the field.
    Value(Expr),
    /// An enumerator or macro.
    Name(String),
    /// Pointer to an array that is computed at compile time.
    Const {
        /// Type of its elements.
        dtype: DType,
        /// The elements.
        values: Expr,
        /// The loop of a tile whose positions they belong to.
        over: Option<String>,
    },
    /// Pointer to a struct that is filled at compile time.
    Struct {
        /// Name of the C type.
        ty: String,
        /// Fields in order; dotted names reach into structs.
        fields: Vec<(String, Param)>,
    },
    /// Pointer to memory for the duration of the call.
    Scratch {
        /// Its size.
        bytes: Expr,
    },
    /// Handle of the open device.
    Device,
}

/// A C function and how to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProto {
    /// Its return type.
    pub returns: Returns,
    /// Its name.
    pub symbol: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
}

impl CallProto {
    /// True if an operand is passed as given.
    pub fn is_given(&self) -> bool {
        let mut params = self.params.iter().flat_map(Param::flat);
        params.any(|param| param.layout() == Some(&Layout::Given))
    }

    /// The parameters that may be absent while no argument says so: no `present(b)` is among them.
    pub fn unsaid_optionals(&self) -> impl Iterator<Item = &str> {
        let params: Vec<&Param> = self.params.iter().flat_map(Param::flat).collect();
        let mut said = vec![];
        for param in &params {
            let (Param::Scalar { value: expr, .. }
            | Param::Value(expr)
            | Param::Const { values: expr, .. }
            | Param::Scratch { bytes: expr }) = param
            else {
                continue;
            };
            expr.visit(&mut |part| {
                if let ExprKind::Call(name, args) = &part.kind
                    && let ("present", [Expr { kind: ExprKind::Name(capture), .. }]) =
                        (name.as_str(), args.as_slice())
                {
                    said.push(capture.clone());
                }
            });
        }
        params.into_iter().filter_map(move |param| match param {
            Param::In { capture, optional: true, .. } if !said.contains(capture) => {
                Some(capture.as_str())
            }
            _ => None,
        })
    }

    /// The prototype with other expressions.
    pub(super) fn map(
        &self,
        f: &mut dyn FnMut(&Expr) -> PatternResult<Expr>,
    ) -> PatternResult<Self> {
        let params = self.params.iter().map(|param| param.map(f)).collect::<PatternResult<_>>()?;
        Ok(Self { params, ..self.clone() })
    }
}

impl Param {
    fn map(&self, f: &mut dyn FnMut(&Expr) -> PatternResult<Expr>) -> PatternResult<Self> {
        Ok(match self {
            Param::Scalar { ty, value } => Param::Scalar { ty: *ty, value: f(value)? },
            Param::Value(value) => Param::Value(f(value)?),
            Param::Struct { ty, fields } => {
                let fields = fields.iter().map(|(name, field)| Ok((name.clone(), field.map(f)?)));
                Param::Struct { ty: ty.clone(), fields: fields.collect::<PatternResult<_>>()? }
            }
            other => other.clone(),
        })
    }

    /// The layout of a tensor.
    pub fn layout(&self) -> Option<&Layout> {
        match self {
            Param::In { layout, .. } | Param::Out { layout, .. } => layout.as_ref(),
            _ => None,
        }
    }

    /// The capture that an output is written over.
    pub fn over(&self) -> Option<&String> {
        match self {
            Param::Out { over, .. } => over.as_ref(),
            _ => None,
        }
    }

    /// The parameter itself, and those inside it.
    pub fn flat(&self) -> Vec<&Param> {
        let mut all = vec![self];
        if let Param::Struct { fields, .. } = self {
            all.extend(fields.iter().flat_map(|(_, field)| field.flat()));
        }
        all
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Size => f.write_str("size"),
            CType::Scalar(dtype) => f.write_str(&dtype.mlir_name().replace("ui", "u")),
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::In { capture, optional, layout } => {
                write!(f, "in{} {capture}", if *optional { "?" } else { "" })?;
                layout.iter().try_for_each(|layout| write!(f, " as {layout}"))
            }
            Param::Out { name, layout, over } => {
                write!(f, "out {name}")?;
                layout.iter().try_for_each(|layout| write!(f, " as {layout}"))?;
                over.iter().try_for_each(|capture| write!(f, " over {capture}"))
            }
            Param::Scalar { ty, value } => write!(f, "{ty} {value}"),
            Param::Value(value) => write!(f, "{value}"),
            Param::Name(name) => write!(f, "name {name}"),
            Param::Const { dtype, values, over } => {
                write!(f, "const {} {values}", CType::Scalar(*dtype))?;
                over.iter().try_for_each(|name| write!(f, " over {name}"))
            }
            Param::Scratch { bytes } => write!(f, "scratch {bytes}"),
            Param::Device => f.write_str("device"),
            Param::Struct { ty, fields } => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "{ty} {{ {} }}", fields.join(", "))
            }
        }
    }
}

impl fmt::Display for CallProto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let returns = match self.returns {
            Returns::Void => "void",
            Returns::Status => "int",
        };
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        write!(f, "{returns} {}({})", self.symbol, params.join(", "))
    }
}
