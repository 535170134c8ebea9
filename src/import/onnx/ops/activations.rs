//! The activation functions that recurrent layers name.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};

/// A function and its parameters.
#[derive(Clone, Debug)]
pub(super) struct Activation {
    function: &'static Function,
    alpha: f32,
    beta: f32,
}

#[derive(Debug)]
struct Function {
    name: &'static str,
    /// Defaults of the parameters that it has.
    alpha: Option<f32>,
    beta: Option<f32>,
}

const fn function(name: &'static str, alpha: Option<f32>, beta: Option<f32>) -> Function {
    Function { name, alpha, beta }
}

const FUNCTIONS: &[Function] = &[
    function("affine", Some(1.0), Some(0.0)),
    function("elu", Some(1.0), None),
    function("hardsigmoid", Some(0.2), Some(0.5)),
    function("leakyrelu", Some(0.01), None),
    function("relu", None, None),
    function("scaledtanh", Some(1.0), Some(1.0)),
    function("sigmoid", None, None),
    function("softplus", None, None),
    function("softsign", None, None),
    function("tanh", None, None),
    function("thresholdedrelu", Some(1.0), None),
];

impl Function {
    fn find(name: &str) -> OpResult<&'static Self> {
        let lower = name.to_lowercase();
        FUNCTIONS.iter().find(|function| function.name == lower).ok_or_else(|| {
            OpError::Unsupported(format!("the activation \"{name}\" is not supported"))
        })
    }
}

impl Activation {
    /// The activations of each direction of a node, with `defaults` if it names none.
    pub(super) fn read(
        node: &NodeContext<'_, '_>,
        defaults: &[&str],
        directions: usize,
    ) -> OpResult<Vec<Vec<Self>>> {
        let names = match node.attributes.strings("activations")? {
            Some(names) if !names.is_empty() => names,
            _ => defaults.repeat(directions).iter().map(|name| name.to_string()).collect(),
        };
        if names.len() != defaults.len() * directions {
            let expected = defaults.len() * directions;
            return Err(format!("{} activations, expected {expected}", names.len()).into());
        }
        // The lists hold values only for the functions that have the parameter.
        let mut alphas =
            node.attributes.floats("activation_alpha")?.unwrap_or_default().into_iter();
        let mut betas = node.attributes.floats("activation_beta")?.unwrap_or_default().into_iter();
        let mut all = Vec::new();
        for name in &names {
            let function = Function::find(name)?;
            let take = |list: &mut dyn Iterator<Item = f32>, default: Option<f32>| {
                default.map_or(0.0, |default| list.next().unwrap_or(default))
            };
            let alpha = take(&mut alphas, function.alpha);
            let beta = take(&mut betas, function.beta);
            all.push(Self { function, alpha, beta });
        }
        Ok(all.chunks(defaults.len()).map(<[Self]>::to_vec).collect())
    }

    /// The function of that name; its parameters in order, or their defaults.
    pub(super) fn named(name: &str, parameters: &[f32]) -> OpResult<Self> {
        let mut given = parameters.iter().copied();
        let function = Function::find(name)?;
        let mut take =
            |default: Option<f32>| default.map_or(0.0, |default| given.next().unwrap_or(default));
        Ok(Self { function, alpha: take(function.alpha), beta: take(function.beta) })
    }

    /// Applies the function to each element.
    pub(super) fn apply<'c>(&self, node: &NodeContext<'_, 'c>, x: Val<'c>) -> OpResult<Val<'c>> {
        let (alpha, beta) = (self.alpha, self.beta);
        match self.function.name {
            "affine" => {
                let scaled = node.binary_with("mul", x, alpha.into())?;
                node.binary_with("add", scaled, beta.into())
            }
            "scaledtanh" => {
                let inner = node.binary_with("mul", x, beta.into())?;
                node.binary_with("mul", node.unary("tanh", inner)?, alpha.into())
            }
            "hardsigmoid" => {
                node.op("hard_sigmoid", &[x], &[("alpha", alpha.into()), ("beta", beta.into())])
            }
            "elu" => node.op("elu", &[x], &[("alpha", alpha.into())]),
            "leakyrelu" => node.op("leaky_relu", &[x], &[("alpha", alpha.into())]),
            "thresholdedrelu" => node.op("thresholded_relu", &[x], &[("alpha", alpha.into())]),
            plain => node.unary(plain, x),
        }
    }
}
