//! Random graphs of the form that a pattern's match expression describes.

mod values;

use super::{attributes, numbers, operands, operands::Shape, operator, sampler::Sampler, template};
use crate::{
    Session,
    graph::{Alias, Arity, AttrValue, OpDecl, OpTable},
    import::constants::scalar_type,
    ir::{self, Builder, Op, OpSpec, Val, constant::Elements, func},
    pattern::{
        Pattern,
        ast::{Call, Node, NodeKind},
    },
    targets::OperatorDecl,
    tensor::{DType, ElementType, Tensor},
};
use melior::ir::{
    Attribute, Location, Module, ValueLike,
    attribute::{
        BoolAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FloatAttribute,
        IntegerAttribute, TypeAttribute,
    },
};
use std::{collections::HashMap, sync::Arc};

pub use values::{last, shape_of};

/// Module with one function whose result is an instance of the pattern's expression. A sampler that
/// has begun a graph makes the choices; none if they do not fit together.
pub fn generate<'c>(
    session: &'c Session,
    pattern: &Pattern,
    (table, operators): (&OpTable, &[Arc<OperatorDecl>]),
    sampler: &mut Sampler,
) -> Option<Module<'c>> {
    let module = Module::new(Location::unknown(session.context()));
    let (function, b) = func::new_main(session.context(), &module).ok()?;
    let mut graph = Graph {
        b,
        table,
        operators,
        pattern,
        sampler,
        captures: HashMap::new(),
        function,
        arguments: 0,
        scales: vec![],
        bias_scale: None,
        wanted_scale: None,
        naming: None,
        first: None,
    };
    let value = graph.node(&pattern.expr.root, None)??;
    graph.finish(value).ok()?;
    // Types and attributes that do not fit an operation are nobody's network.
    melior::ir::operation::OperationLike::verify(&module.as_operation()).then_some(module)
}

struct Graph<'c, 'a> {
    b: Builder<'c>,
    table: &'a OpTable,
    /// Operators of vendors in the table.
    operators: &'a [Arc<OperatorDecl>],
    pattern: &'a Pattern,
    sampler: &'a mut Sampler,
    captures: HashMap<String, Option<Val<'c>>>,
    function: Op<'c>,
    arguments: usize,
    /// Dequantized values and their scales.
    scales: Vec<(Val<'c>, Val<'c>)>,
    /// Scale that the next dequantization has to have: one number, or one for each channel.
    bias_scale: Option<Vec<f32>>,
    /// The same, for the next scale.
    wanted_scale: Option<Vec<f32>>,
    /// Name in the conditions of the operation that is made next.
    naming: Option<String>,
    /// The type of the first operand of the operation in work.
    first: Option<Shape>,
}

impl<'c> Graph<'c, '_> {
    /// A value for a node: none if nothing fits, an absent one where the node is optional.
    fn node(&mut self, node: &Node, wanted: Option<&Shape>) -> Option<Option<Val<'c>>> {
        let outer = self.sampler.enter(node.span.start as u64);
        let value = self.node_here(node, wanted);
        self.sampler.leave(outer);
        value
    }

    fn node_here(&mut self, node: &Node, wanted: Option<&Shape>) -> Option<Option<Val<'c>>> {
        if let Some(known) = node.capture.as_ref().and_then(|name| self.captures.get(name)) {
            return Some(*known);
        }
        let value = if node.optional && self.sampler.chance(50) {
            None
        } else {
            Some(match &node.kind {
                NodeKind::Any => self.leaf(wanted, false)?,
                NodeKind::Const => self.leaf(wanted, true)?,
                NodeKind::Number { value, .. } => {
                    let dtype = wanted.map_or(ElementType::F32, |(dtype, _)| *dtype);
                    self.constant(Tensor::from_slice(&[], &[*value as f32]).ok()?, dtype)?
                }
                NodeKind::Alt(nodes) => {
                    let choice = self.sampler.below(nodes.len());
                    self.node(&nodes[choice], wanted)??
                }
                NodeKind::Part(name) => {
                    if let Some(known) = self.captures.get(name) {
                        return Some(*known);
                    }
                    let part = self.pattern.expr.part(name)?;
                    self.naming = Some(name.clone());
                    let value = self.node(part, wanted)?;
                    // One of several results has its name already.
                    (*self.captures.entry(name.clone()).or_insert(value))?
                }
                NodeKind::Call(call) => {
                    let outer = self.naming.take();
                    self.naming = node.capture.clone().or(outer);
                    self.call(call, wanted)?
                }
            })
        };
        if let Some(name) = &node.capture {
            self.captures.insert(name.clone(), value);
        }
        Some(value)
    }

    fn call(&mut self, call: &Call, wanted: Option<&Shape>) -> Option<Val<'c>> {
        if call.optional && self.sampler.chance(40) {
            return self.node(call.args.first()?, wanted)?;
        }
        let written = &call.ops[self.sampler.below(call.ops.len())];
        let name = match Alias::get(written).filter(|_| self.table.find(written).is_none()) {
            Some(alias) => alias.ops[self.sampler.below(alias.ops.len())],
            None => written.as_str(),
        };
        let decl = self.table.find(name)?;
        let args = self.args(call, decl);
        let is_bias = decl.name == "dequantize_linear" && self.bias_scale.is_some();
        let mut values: Vec<Option<Val<'c>>> = vec![None; args.len()];
        let mut known: Vec<Option<Shape>> = vec![None; args.len()];
        for index in self.order(&args, decl) {
            let arg = &args[index];
            let outer = self.sampler.enter(index as u64);
            let mut seen = known.clone();
            // Of two operands that broadcast, the one that is computed comes first.
            if index == 0 && is_binary(decl) {
                seen.swap(0, 1);
            }
            let place = if seen[0].is_some() && index == 0 { 1 } else { index };
            let mut shape = template::operand(decl, written, place, &seen, wanted, self.sampler);
            if is_bias && index == 0 {
                shape.0 = ElementType::I32;
            } else {
                self.retype(decl, index, arg, &mut shape);
            }
            if index == 0 && wanted.is_none() {
                self.reshape(arg, &mut shape);
            }
            if !is_small(&shape.1) {
                return None;
            }
            self.expect_scale(decl, index, arg, &values);
            self.first = if index == 0 { None } else { known[0].clone() };
            let value = self.operand(decl, index, arg, &shape)?;
            self.wanted_scale = None;
            if decl.name != "dequantize_linear" {
                self.bias_scale = None;
            }
            known[index] = value.map(|value| shape_of(value));
            values[index] = value;
            self.sampler.leave(outer);
        }
        let mut names = vec![written.as_str(), name];
        names.extend(self.naming.as_deref());
        let attributes = attributes::attributes(decl, &names, &known, self.sampler);
        let results = self.create(decl, &values, attributes)?;
        self.sampler.note_operation();
        if decl.name == "dequantize_linear" {
            self.scales.push((results[0], values[1]?));
        }
        for (name, value) in call.results.iter().flat_map(|all| &all.names).zip(&results) {
            self.captures.extend(name.clone().map(|name| (name, Some(*value))));
        }
        results.get(call.result).copied()
    }

    /// The operands that a call writes, and those that it leaves open.
    fn args(&mut self, call: &Call, decl: &OpDecl) -> Vec<Node> {
        let mut args = call.args.clone();
        if call.rest {
            for operand in decl.operands.iter().skip(args.len()) {
                let is_list = operand.arity == Arity::Variadic;
                let count = if is_list { 1 + self.sampler.below(3) } else { 1 };
                args.extend((0..count).map(|_| Node {
                    capture: None,
                    optional: operand.arity == Arity::Optional,
                    kind: NodeKind::Any,
                    span: call.span,
                }));
            }
        }
        args
    }

    /// Gives an operand that nothing depends on yet the rank that the conditions ask for.
    fn reshape(&mut self, arg: &Node, shape: &mut Shape) {
        let Some(rank) = self.sampler.wished_number(arg.capture.as_deref(), "rank") else { return };
        let rank = (rank.max(0.0) as usize).min(6);
        while shape.1.len() < rank {
            let size = self.sampler.size_up_to(8);
            shape.1.push(size);
        }
        shape.1.truncate(rank);
    }

    /// Gives data whose element type is open the one that the conditions ask for, and a tensor one
    /// scale where they want that.
    fn retype(&mut self, decl: &OpDecl, index: usize, arg: &Node, shape: &mut Shape) {
        let Some(operand) = decl.operands.get(index) else { return };
        let open = match (decl.name.as_str(), operand.name.as_str()) {
            ("dequantize_linear", "x") | ("quantize_linear", "zero_point") => true,
            (op, name) if op.starts_with("qlinear") => {
                ["x", "w", "a", "b", "y_zero_point"].contains(&name) && shape.0 != ElementType::I32
            }
            ("quantize_linear" | "dequantize_linear", "scale") => {
                if self.sampler.wished_number(arg.capture.as_deref(), "size") == Some(1.0) {
                    shape.1.clear();
                }
                let wished = self.sampler.wished_type(arg.capture.as_deref());
                let is_float = |dtype: &ElementType| dtype.plain().is_some_and(DType::is_float);
                shape.0 = wished.filter(is_float).unwrap_or(shape.0);
                false
            }
            _ => false,
        };
        if open && let Some(dtype) = self.sampler.wished_type(arg.capture.as_deref()) {
            shape.0 = dtype;
        }
    }

    /// A bias is to have the scale of the sums that it is added to.
    fn expect_scale(
        &mut self,
        decl: &OpDecl,
        index: usize,
        arg: &Node,
        values: &[Option<Val<'c>>],
    ) {
        let adds = ["conv", "conv_transpose", "gemm"].contains(&decl.name.as_str()) && index == 2;
        if adds && matches!(arg.kind, NodeKind::Call(_)) && self.sampler.chance(85) {
            let of = |value: Option<Val<'c>>| {
                let (_, scale) = self.scales.iter().find(|(real, _)| Some(*real) == value)?;
                let elements = Elements::of_value(*scale)?;
                Some((0..elements.len()).map(|i| elements.float(i) as f32).collect::<Vec<_>>())
            };
            if let (Some(x), Some(w)) = (of(values[0]), of(values[1])) {
                self.bias_scale = Some(w.iter().map(|w| w * x[0]).collect());
            }
        } else if decl.name == "dequantize_linear" && index == 1 {
            self.wanted_scale = self.bias_scale.take();
        }
    }

    /// An operand; what only some numbers make sense for is a constant of such numbers.
    fn operand(
        &mut self,
        decl: &OpDecl,
        index: usize,
        arg: &Node,
        shape: &Shape,
    ) -> Option<Option<Val<'c>>> {
        let name = decl.operands.get(index).map_or("", |operand| operand.name.as_str());
        let is_leaf = matches!(arg.kind, NodeKind::Any | NodeKind::Const);
        let known = arg.capture.as_ref().is_some_and(|name| self.captures.contains_key(name));
        let is_asked = self.sampler.wished_number(arg.capture.as_deref(), "is_const") == Some(1.0);
        let constant = matches!(arg.kind, NodeKind::Const) || self.sampler.chance(50);
        let parameter = numbers::is_parameter(decl, name) || operands::is_number(decl, name);
        let absent = arg.optional && self.sampler.chance(50);
        if !is_leaf || known || absent || !(parameter || index > 0 && constant || is_asked) {
            return self.node(arg, Some(shape));
        }
        let capture = arg.capture.as_deref();
        let first = self.first.clone();
        let tensor = match operands::numbers(decl, name, first.as_ref(), shape, self.sampler) {
            Some(tensor) => tensor,
            None => {
                let scale = self.wanted_scale.take();
                numbers::constant(decl, name, capture, shape, scale, self.sampler)?
            }
        };
        let value = self.constant(tensor, shape.0)?;
        if let Some(name) = &arg.capture {
            self.captures.insert(name.clone(), Some(value));
        }
        Some(Some(value))
    }

    /// The order in which operands are made.
    fn order(&self, args: &[Node], decl: &OpDecl) -> Vec<usize> {
        let mut order: Vec<usize> = (0..args.len()).collect();
        let computed = |index: &usize| {
            let arg = &args[*index];
            matches!(arg.kind, NodeKind::Call(_) | NodeKind::Part(_) | NodeKind::Alt(_))
                || arg.capture.as_ref().is_some_and(|name| self.captures.contains_key(name))
        };
        if is_binary(decl) {
            order.sort_by_key(|index| !computed(index));
        }
        order
    }

    fn create(
        &self,
        decl: &OpDecl,
        values: &[Option<Val<'c>>],
        attributes: Vec<(String, AttrValue)>,
    ) -> Option<Vec<Val<'c>>> {
        if decl.is_vendors() {
            return operator::create(&self.b, self.operators, decl, values, attributes);
        }
        let operands: Vec<Val<'c>> = values.iter().copied().flatten().collect();
        let mut list: Vec<(&str, Attribute<'c>)> = vec![];
        for (name, value) in &attributes {
            list.push((name, self.attribute(value)?));
        }
        let optional = decl.operands.iter().filter(|operand| operand.arity == Arity::Optional);
        if optional.count() > 1 {
            let sizes: Vec<i32> = (0..decl.operands.len())
                .map(|index| i32::from(values.get(index).copied().flatten().is_some()))
                .collect();
            let sizes = DenseI32ArrayAttribute::new(self.b.context, &sizes).into();
            list.push(("operandSegmentSizes", sizes));
        }
        let spec =
            OpSpec { operands: &operands, attributes: list, infer: true, ..Default::default() };
        let op = self.b.create(&format!("graph.{}", decl.name), spec).ok()?;
        let results = ir::results(op);
        let fits = results
            .iter()
            .all(|value| ir::static_dims(value.r#type()).is_some_and(|dims| is_small(&dims)));
        fits.then_some(results)
    }

    fn attribute(&self, value: &AttrValue) -> Option<Attribute<'c>> {
        let context = self.b.context;
        Some(match value {
            AttrValue::Int(value) => IntegerAttribute::new(self.b.int(64), *value).into(),
            AttrValue::Float(value) => FloatAttribute::new(context, self.b.f32(), *value).into(),
            AttrValue::Str(text) => self.b.str_attr(text),
            AttrValue::Bool(value) => BoolAttribute::new(context, *value).into(),
            AttrValue::Ints(values) => DenseI64ArrayAttribute::new(context, values).into(),
            AttrValue::Type(dtype) => {
                TypeAttribute::new(scalar_type(context, dtype.mlir_name())?).into()
            }
            AttrValue::Floats(_) => return None,
        })
    }
}

/// Most elements of a tensor.
const MOST: i64 = 1 << 18;

/// True if a tensor has elements, and no more than a simulator can handle.
fn is_small(dims: &[i64]) -> bool {
    let all = dims.iter().try_fold(1_i64, |all, dim| all.checked_mul(*dim));
    dims.iter().all(|dim| *dim > 0) && all.is_some_and(|all| all <= MOST)
}

fn is_binary(decl: &OpDecl) -> bool {
    decl.operands.len() == 2
        && decl.operands[0].name == "a"
        && !["gemm", "matmul", "matmul_integer"].contains(&decl.name.as_str())
}
