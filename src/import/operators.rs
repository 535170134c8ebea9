//! Operators of vendors become `graph.custom`, and are checked against what targets declare.

use crate::{
    Error, Result, Session,
    graph::{AttrKind, AttrValue, TensorType},
    import::constants::scalar_type,
    ir::{self, Builder, DYNAMIC, Op, OpSpec, Val, edit, graph, print::place, view::OpView},
    limits, outline,
    outline::operator,
    targets::{OperandFacts, OperatorDecl, Operators},
};
use melior::ir::{Attribute, Module, Region, Type, ValueLike, operation::OperationLike};
use std::{collections::BTreeMap, sync::Arc};

/// The use of an operator: operands in groups, one for each that is declared, and all attributes.
pub(crate) struct Use<'c> {
    pub(crate) decl: Arc<OperatorDecl>,
    pub(crate) operands: Vec<Val<'c>>,
    pub(crate) groups: Vec<usize>,
    pub(crate) attributes: BTreeMap<String, AttrValue>,
}

impl<'c> Use<'c> {
    /// A use with these attributes, and the defaults of the others.
    ///
    /// # Errors
    /// Operands or attributes are not those that are declared.
    pub(crate) fn new(
        decl: &Arc<OperatorDecl>,
        (operands, groups): (Vec<Val<'c>>, Vec<usize>),
        given: &BTreeMap<String, AttrValue>,
    ) -> std::result::Result<Self, String> {
        decl.check_groups(&groups)?;
        let attributes = decl.attributes(given)?;
        for attr in &decl.decl.attrs {
            let fits = attributes.get(&attr.name).is_some_and(|value| is_of(attr.kind, value));
            if !fits {
                return Err(format!("the attribute `{}` is not as declared: {attr}", attr.name));
            }
        }
        Ok(Self { decl: decl.clone(), operands, groups, attributes })
    }

    /// The types of the results, as they are declared.
    ///
    /// # Errors
    /// An expression has no value here.
    pub(crate) fn types(&self, b: &Builder<'c>) -> std::result::Result<Vec<Type<'c>>, String> {
        let facts: Vec<_> = self.operands.iter().map(|value| facts(*value)).collect();
        let inferred = self.decl.infer(&self.groups, &facts, &self.attributes)?;
        inferred.iter().map(|ty| mlir_type(b, ty)).collect()
    }

    /// The operation.
    ///
    /// # Errors
    /// Something is wrong in this program.
    pub(crate) fn create(
        &self,
        b: &Builder<'c>,
        types: &[Type<'c>],
        reference: Option<Region<'c>>,
    ) -> Result<Op<'c>> {
        let plain = self.groups.iter().all(|count| *count == 1);
        let groups: Vec<i64> = self.groups.iter().map(|count| *count as i64).collect();
        let mut attributes: Vec<(&str, Attribute<'c>)> = vec![
            ("name", b.str_attr(&self.decl.name)),
            ("domain", b.str_attr(&self.decl.domain)),
            ("groups", b.i64s_attr(if plain { &[] } else { &groups })),
        ];
        if !self.attributes.is_empty() {
            attributes.push(("parameters", operator::parameters(b, &self.attributes)?));
        }
        let regions = vec![reference.unwrap_or_default()];
        let operands = &self.operands;
        b.create(
            graph::Custom::NAME,
            OpSpec { operands, results: types, attributes, regions, infer: false },
        )
    }
}

fn is_of(kind: AttrKind, value: &AttrValue) -> bool {
    match value {
        AttrValue::Int(_) => kind == AttrKind::Int,
        AttrValue::Float(_) => kind == AttrKind::Float,
        AttrValue::Str(_) => kind == AttrKind::Str,
        AttrValue::Bool(_) => kind == AttrKind::Bool,
        AttrValue::Ints(_) => kind == AttrKind::Ints,
        AttrValue::Floats(_) => kind == AttrKind::Floats,
        AttrValue::Type(_) => kind == AttrKind::Type,
    }
}

fn facts(value: Val<'_>) -> OperandFacts {
    let constant = edit::defining_op(value).filter(|op| graph::Constant::is(*op));
    let payload = constant.and_then(outline::payload);
    (outline::tensor_type(value.r#type()), constant.is_some(), payload)
}

fn mlir_type<'c>(b: &Builder<'c>, ty: &TensorType) -> std::result::Result<Type<'c>, String> {
    let name = ty.dtype.map(|dtype| dtype.mlir_name()).unwrap_or_default();
    let element =
        scalar_type(b.context, name).ok_or_else(|| format!("there is no type `{name}`"))?;
    let dims: Vec<i64> = ty.shape.iter().map(|dim| dim.unwrap_or(DYNAMIC)).collect();
    let ty = b.tensor(&dims, element);
    limits::check_type(ty).map_err(|reason| format!("the result {reason}"))?;
    Ok(ty)
}

/// The types of results whose reference is known too. They are the reference's, which may know more
/// dimensions.
///
/// # Errors
/// They contradict each other, or the declaration knows more.
pub(crate) fn agreed<'c>(
    decl: &OperatorDecl,
    declared: &[Type<'c>],
    given: &[Type<'c>],
) -> std::result::Result<Vec<Type<'c>>, String> {
    if declared.len() != given.len() {
        return Err(format!("its reference has {} results, not {}", given.len(), declared.len()));
    }
    for ((name, declared), given) in decl.decl.results.iter().zip(declared).zip(given) {
        let dims = || ir::dims(*declared).into_iter().zip(ir::dims(*given));
        let fits = ir::element_type(*declared) == ir::element_type(*given)
            && ir::dims(*declared).len() == ir::dims(*given).len()
            && dims().all(|(declared, given)| declared == given || declared == DYNAMIC);
        if !fits {
            return Err(format!(
                "result {name} is {declared} as {} declares it, but {given} by its reference",
                decl.place
            ));
        }
    }
    Ok(given.to_vec())
}

/// Checks the operators in a module against the declarations of targets. Fills in missing
/// attributes that have defaults, and a missing reference that is declared.
///
/// # Errors
/// An operator has other operands, attributes or results than are declared.
pub fn complete(session: &Session, module: &mut Module<'_>, operators: &Operators) -> Result<()> {
    let root = ir::root(module);
    for op in edit::walk(root).into_iter().filter_map(graph::Custom::of) {
        let Some(decl) = operators.find(op.domain(), op.name()) else { continue };
        let fault = |reason: String| {
            let place = place(op.op().location());
            Error::invalid(format!("{place}: operator {}: {reason}", operator::key(op)))
        };
        let operands = ir::operands(op.op());
        let given = operator::attributes(op);
        let named = op.parameters().map(edit::dictionary).unwrap_or_default();
        if let Some((name, _)) = named.iter().find(|(name, _)| !given.contains_key(name)) {
            return Err(fault(format!("the attribute `{name}` is no number, text or list")));
        }
        let found = Use::new(decl, (operands, operator::groups(op)), &given).map_err(fault)?;
        let b = Builder::before(op.op())?;
        let types = found.types(&b).map_err(fault)?;
        check_results(op.op(), decl, &types).map_err(fault)?;
        if !found.attributes.is_empty() {
            let parameters = operator::parameters(&b, &found.attributes)?;
            edit::set_attr(op.op(), "parameters", parameters);
        }
        if edit::entry_block(op.op()).is_none() {
            add_reference(session, op.op(), &found, &b).map_err(|e| fault(e.to_string()))?;
        }
    }
    Ok(())
}

/// Fails if a result has another type than the declaration gives, as far as both are known.
fn check_results(op: Op<'_>, decl: &OperatorDecl, types: &[Type<'_>]) -> Result<(), String> {
    let results = ir::results(op);
    if results.len() != types.len() {
        return Err(format!("has {} results, `{}` has {}", results.len(), decl.decl, types.len()));
    }
    for ((name, result), declared) in decl.decl.results.iter().zip(results).zip(types) {
        let (has, wants) = (ir::dims(result.r#type()), ir::dims(*declared));
        let pairs = || has.iter().zip(&wants);
        let fits = ir::element_type(result.r#type()) == ir::element_type(*declared)
            && has.len() == wants.len()
            && pairs().all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC);
        if !fits {
            return Err(format!(
                "result {name} is {}, but {declared} as {} declares it",
                result.r#type(),
                decl.place
            ));
        }
    }
    Ok(())
}

/// Puts an operator with its reference in place of one without, if there is a reference.
#[cfg(feature = "onnx")]
fn add_reference<'c>(
    session: &'c Session,
    op: Op<'c>,
    found: &Use<'c>,
    b: &Builder<'c>,
) -> Result<()> {
    let types: Vec<_> = ir::results(op).iter().map(|result| result.r#type()).collect();
    let Some((region, _)) = super::onnx::reference(session, b, found, &types)? else {
        return Ok(());
    };
    let made = found.create(b, &types, Some(region))?;
    if let Ok(target) = op.attribute(ir::names::TARGET) {
        edit::set_attr(made, ir::names::TARGET, target);
    }
    for (old, new) in ir::results(op).into_iter().zip(ir::results(made)) {
        edit::replace_uses(old, new);
    }
    edit::erase(op);
    Ok(())
}

/// Without a reader of ONNX there are no references.
#[cfg(not(feature = "onnx"))]
fn add_reference<'c>(_: &'c Session, _: Op<'c>, _: &Use<'c>, _: &Builder<'c>) -> Result<()> {
    Ok(())
}
