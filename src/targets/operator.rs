//! Operators of vendors: what a manifest declares of an operator that is in no standard.

use crate::{
    Error, Result,
    expr::{Expr, OptionValues, Val},
    graph::{
        Arity, AttrValue, Bound, Evaluator, Facts, GraphView, OpDecl, OpId, OpSpec, OpTable,
        Payload, Scope, TensorType, ValueId,
    },
};
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc};

use super::{TargetInstance, TargetKind};

/// An operator, as `[[operator]]` declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorDecl {
    /// Domain in models.
    pub domain: String,
    /// Name in models.
    pub name: String,
    /// Name in patterns of its target.
    pub word: String,
    /// One line of help.
    pub doc: String,
    /// Operands, attributes and results, under the name [`OperatorDecl::key`].
    pub decl: OpDecl,
    /// Element type and dimensions of each result.
    pub results: Vec<ResultDecl>,
    /// Reference implementation as the ONNX text of a function; none if only targets can compute
    /// it.
    pub reference: Option<Reference>,
    /// File and line of the declaration.
    pub place: String,
}

/// A result of an operator: expressions over operands and attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultDecl {
    /// The element type.
    pub dtype: Expr,
    /// The dimensions.
    pub shape: Expr,
}

/// The ONNX text of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The text.
    pub text: String,
    /// Location of the text, for messages.
    pub place: String,
}

/// An operand of an operator in a network: its type, and its elements if it is a small constant.
pub type OperandFacts = (TensorType, bool, Option<Payload>);

impl OperatorDecl {
    /// Key among all operators: domain and name.
    pub fn key(&self) -> String {
        key(&self.domain, &self.name)
    }

    /// True if a declaration of the same operator agrees in all that networks depend on.
    pub fn agrees(&self, other: &Self) -> bool {
        self.decl == other.decl && self.results == other.results
    }

    /// The attributes with defaults for those that are left out.
    ///
    /// # Errors
    /// One is unknown, of another type, or missing without a default.
    pub fn attributes(
        &self,
        given: &BTreeMap<String, AttrValue>,
    ) -> Result<BTreeMap<String, AttrValue>, String> {
        if let Some(name) = given.keys().find(|name| self.decl.attr(name).is_none()) {
            let known = self.decl.attrs.iter().map(|attr| attr.name.as_str());
            let hint = crate::error::suggestion(name, known);
            return Err(format!("the operator has no attribute `{name}`{hint}"));
        }
        let value = |attr: &crate::graph::AttrDecl| {
            let value = given.get(&attr.name).or(attr.default.as_ref());
            value
                .map(|value| (attr.name.clone(), value.clone()))
                .ok_or_else(|| format!("the attribute `{}` is missing", attr.name))
        };
        self.decl.attrs.iter().map(value).collect()
    }

    /// Checks the sizes of the groups of operands, one for each that is declared.
    ///
    /// # Errors
    /// One is missing, or there are too many.
    pub fn check_groups(&self, groups: &[usize]) -> Result<(), String> {
        if groups.len() != self.decl.operands.len() {
            let (has, needs) = (groups.len(), self.decl.operands.len());
            return Err(format!("has {has} groups of operands, `{}` has {needs}", self.decl));
        }
        for (operand, count) in self.decl.operands.iter().zip(groups) {
            match (operand.arity, count) {
                (Arity::One, 1) | (Arity::Optional, 0 | 1) | (Arity::Variadic, _) => {}
                (Arity::One, 0) => return Err(format!("the input {} is missing", operand.name)),
                _ => return Err(format!("the input {} is one tensor, not {count}", operand.name)),
            }
        }
        Ok(())
    }

    /// The types of the results.
    ///
    /// # Errors
    /// An expression has no value for these operands, or one that is no type.
    pub fn infer(
        &self,
        groups: &[usize],
        operands: &[OperandFacts],
        attributes: &BTreeMap<String, AttrValue>,
    ) -> Result<Vec<TensorType>, String> {
        let mut graph = GraphView::new();
        let mut rest = operands.iter();
        let mut values: Vec<Option<ValueId>> = vec![];
        let mut names = BTreeMap::new();
        for (operand, count) in self.decl.operands.iter().zip(groups) {
            let taken: Vec<_> =
                rest.by_ref().take(*count).map(|facts| value(&mut graph, facts)).collect();
            names.insert(operand.name.clone(), taken.first().copied());
            values.extend(taken.iter().copied().map(Some));
            if taken.is_empty() && operand.arity == Arity::Optional {
                values.push(None);
            }
        }
        let spec = OpSpec {
            name: self.key(),
            operands: values,
            attrs: attributes.clone(),
            ..Default::default()
        };
        let op = graph.add_op(spec).map_err(|error| error.to_string())?;
        let mut table = OpTable::new();
        table.insert(self.decl.clone());
        let scope = OperatorScope { names, op, word: &self.word };
        let facts = Facts { graph: &graph, table: &table, options: &OptionValues::new() };
        let types = self.results.iter().zip(&self.decl.results).map(|(result, name)| {
            let eval = |expr: &Expr| Evaluator::new(facts, &scope).eval(expr);
            result_type(result, eval).map_err(|reason| format!("result {name}: {reason}"))
        });
        types.collect()
    }
}

/// A declaration as JSON shows it.
#[derive(Serialize)]
pub(super) struct OperatorJson<'a> {
    domain: &'a str,
    name: &'a str,
    #[serde(rename = "as")]
    word: &'a str,
    doc: &'a str,
    form: String,
    reference: bool,
}

impl<'a> OperatorJson<'a> {
    pub(super) fn new(operator: &'a OperatorDecl) -> Self {
        Self {
            domain: &operator.domain,
            name: &operator.name,
            word: &operator.word,
            doc: &operator.doc,
            form: operator.decl.to_string(),
            reference: operator.reference.is_some(),
        }
    }
}

/// Domain and name of an operator as one word.
pub fn key(domain: &str, name: &str) -> String {
    format!("{domain}.{name}")
}

fn value(graph: &mut GraphView, (ty, constant, payload): &OperandFacts) -> ValueId {
    match constant {
        true => graph.add_constant(ty.clone(), payload.clone()),
        false => graph.add_argument(ty.clone()),
    }
}

fn result_type(
    result: &ResultDecl,
    eval: impl Fn(&Expr) -> Val,
) -> std::result::Result<TensorType, String> {
    let Val::Type(dtype) = eval(&result.dtype) else {
        return Err(format!("the element type `{}` is not known", result.dtype));
    };
    let Val::List(items) = eval(&result.shape) else {
        return Err(format!("the shape `{}` is not known", result.shape));
    };
    let dim = |item: &Val| match item {
        Val::Int(dim) if *dim >= 0 => Ok(Some(*dim)),
        // What depends on a dimension that is not known is not known either.
        Val::Unknown(_) => Ok(None),
        other => Err(format!("`{}` gives the dimension {other}", result.shape)),
    };
    let shape = items.iter().map(dim).collect::<std::result::Result<_, _>>()?;
    Ok(TensorType { dtype: Some(dtype), shape })
}

/// The names in the expressions of results.
struct OperatorScope<'a> {
    /// The first value of each operand.
    names: BTreeMap<String, Option<ValueId>>,
    op: OpId,
    word: &'a str,
}

impl Scope for OperatorScope<'_> {
    fn lookup(&self, name: &str) -> Option<Bound> {
        if name == "self" || name == self.word {
            return Some(Bound { value: None, op: Some(self.op) });
        }
        self.names.get(name).map(|value| Bound { value: *value, op: None })
    }
}

/// The operators that an import may meet: those of the targets that it is for, and those that
/// others have.
#[derive(Clone, Debug, Default)]
pub struct Operators {
    /// Operators that a target of the compile declares, by key.
    own: BTreeMap<String, Arc<OperatorDecl>>,
    /// Names of the kinds that declare an operator, with the declaration, by key.
    known: BTreeMap<String, Vec<(String, Arc<OperatorDecl>)>>,
}

impl Operators {
    /// Operators of the targets of a compile, and of all known kinds.
    ///
    /// # Errors
    /// Two targets of the compile declare an operator in different ways.
    pub(crate) fn new<'k>(
        targets: &[TargetInstance],
        kinds: impl Iterator<Item = &'k Arc<TargetKind>>,
    ) -> Result<Self> {
        let mut all = Self::default();
        for target in targets {
            for decl in &target.kind.operators {
                all.add(decl)?;
            }
        }
        for kind in kinds {
            for decl in &kind.operators {
                let known = all.known.entry(decl.key()).or_default();
                known.push((kind.name.clone(), decl.clone()));
            }
        }
        Ok(all)
    }

    /// Operators of one kind.
    pub(crate) fn of(kind: &TargetKind) -> Self {
        let own = kind.operators.iter().map(|decl| (decl.key(), decl.clone()));
        Self { own: own.collect(), known: BTreeMap::new() }
    }

    fn add(&mut self, decl: &Arc<OperatorDecl>) -> Result<()> {
        match self.own.get(&decl.key()) {
            Some(known) if !known.agrees(decl) => Err(Error::invalid(format!(
                "operator {} is declared in two ways, in {} and in {}; targets of one compile have \
                 to agree on operands, attributes and results",
                decl.key(),
                known.place,
                decl.place
            ))),
            Some(known) if known.reference.is_some() || decl.reference.is_none() => Ok(()),
            _ => {
                self.own.insert(decl.key(), decl.clone());
                Ok(())
            }
        }
    }

    /// The declaration by a target of the compile.
    pub(crate) fn own(&self, domain: &str, name: &str) -> Option<&Arc<OperatorDecl>> {
        self.own.get(&key(domain, name))
    }

    /// The declaration by a target of the compile; else one with a reference, by any kind.
    pub(crate) fn find(&self, domain: &str, name: &str) -> Option<&Arc<OperatorDecl>> {
        self.own(domain, name).or_else(|| self.referenced(domain, name))
    }

    /// A declaration with a reference by any kind, for an operator that no target of the compile
    /// declares.
    fn referenced(&self, domain: &str, name: &str) -> Option<&Arc<OperatorDecl>> {
        let known = self.known.get(&key(domain, name))?;
        known.iter().map(|(_, decl)| decl).find(|decl| decl.reference.is_some())
    }

    /// Kinds that declare an operator, as the end of a message; nothing if there are none.
    pub(crate) fn hint(&self, domain: &str, name: &str) -> Option<String> {
        let known = self.known.get(&key(domain, name))?;
        let kinds: Vec<String> =
            known.iter().map(|(kind, decl)| format!("'{kind}' ({})", decl.place)).collect();
        let plural = if kinds.len() == 1 { "target" } else { "targets" };
        Some(format!("{plural} {} declares it: add it to -t", kinds.join(" and ")))
    }
}
