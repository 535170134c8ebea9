//! Evaluates predicates on a match.
//!
//! Logic has two more values than true and false. *Absent* comes of captures in parts that the
//! match does not have, and makes a clause hold: "the bias is f32" is no condition when there is
//! no bias. *Unknown* comes of dynamic dimensions, missing operands and the like, and makes a
//! clause fail: what cannot be proved is not offloaded.

use super::{Alias, AttrValue, GraphView, OpId, OpTable, Payload, ValueId};
use crate::expr::{
    BinaryOp, CompareOp, Expr, ExprKind, OptionValues, Val,
    arith::{arithmetic, compare, element, extreme, join},
    element_of, functions,
};

/// Binding of a capture, or of the name of an operation, in a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The value.
    pub value: Option<ValueId>,
    /// The matched operation that defines it.
    pub op: Option<OpId>,
}

impl Bound {
    /// True if the match has it.
    pub fn is_present(self) -> bool {
        self.value.is_some() || self.op.is_some()
    }
}

/// Bindings of the names in an expression.
pub trait Scope {
    /// The extents of the buffers that a call takes as its neighbours have them, a list.
    fn given(&self, _: &GraphView) -> Option<Val> {
        None
    }

    /// The binding of a name; `None` if there is no such name.
    fn lookup(&self, name: &str) -> Option<Bound>;
}

/// `self` in the conditions of an alias.
pub(crate) struct OpScope {
    pub(crate) op: OpId,
}

impl Scope for OpScope {
    fn lookup(&self, name: &str) -> Option<Bound> {
        (name == "self").then_some(Bound { value: None, op: Some(self.op) })
    }
}

/// Names of the fields that every value has.
pub(crate) const VALUE_FIELDS: [&str; 9] =
    ["dtype", "rank", "shape", "is_const", "is_static", "size", "bytes", "uses", "value"];

/// The data that expressions are evaluated on.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The graph.
    pub graph: &'a GraphView,
    /// The operations' declarations.
    pub table: &'a OpTable,
    /// The options of the target instance.
    pub options: &'a OptionValues,
}

/// The value of an expression without names.
pub fn evaluate(expr: &Expr) -> Val {
    struct NoNames;
    impl Scope for NoNames {
        fn lookup(&self, _: &str) -> Option<Bound> {
            None
        }
    }
    let (graph, table, options) = (GraphView::new(), OpTable::new(), OptionValues::new());
    let facts = Facts { graph: &graph, table: &table, options: &options };
    Evaluator::new(facts, &NoNames).eval(expr)
}

/// Referent of a place in a path.
enum Item {
    Entity(Bound),
    Options,
    /// The extents of buffers that come as they are.
    Given(Val),
    Val(Val),
}

/// The fields of `given`.
pub(crate) const GIVEN_FIELDS: [&str; 3] = ["size", "shape", "rank"];

/// Evaluates expressions and notes the values of the paths in them.
pub struct Evaluator<'a> {
    facts: Facts<'a>,
    scope: &'a dyn Scope,
    trace: Vec<(String, String)>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator of expressions whose names are in `scope`.
    pub fn new(facts: Facts<'a>, scope: &'a dyn Scope) -> Self {
        Self { facts, scope, trace: vec![] }
    }

    /// The paths that were looked at, with their values, in order and without duplicates.
    pub fn into_trace(self) -> Vec<(String, String)> {
        self.trace
    }

    /// The value of an expression.
    pub fn eval(&mut self, expr: &Expr) -> Val {
        match &expr.kind {
            ExprKind::Int(value) => Val::Int(*value),
            ExprKind::Float(value) => Val::Float(*value),
            ExprKind::Text(text) => Val::Str(text.clone()),
            ExprKind::Bool(value) => Val::Bool(*value),
            ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) => {
                let value = self.path_value(expr);
                if !matches!(expr.kind, ExprKind::Name(_)) {
                    let entry = (expr.to_string(), value.to_string());
                    if !self.trace.contains(&entry) {
                        self.trace.push(entry);
                    }
                }
                value
            }
            ExprKind::List(items) => Val::List(items.iter().map(|item| self.eval(item)).collect()),
            ExprKind::Call(name, args) => self.call(name, args),
            ExprKind::Negate(inner) => {
                let zero = Val::Int(0);
                let value = self.eval(inner);
                arithmetic(BinaryOp::Sub, &zero, &value)
            }
            ExprKind::Not(inner) => match self.eval(inner) {
                Val::Bool(value) => Val::Bool(!value),
                other => other,
            },
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let decided = Val::Bool(*op == BinaryOp::Or);
                let left = self.eval(left);
                if left == decided {
                    return decided;
                }
                let right = self.eval(right);
                join(&decided, left, right)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.eval(left), self.eval(right));
                arithmetic(*op, &left, &right)
            }
            ExprKind::Compare(first, rest) => self.compare(first, rest),
            ExprKind::In(value, list) => {
                let (value, list) = (self.eval(value), self.eval(list));
                let Val::List(items) = list else { return list };
                let tests = items.iter().map(|item| compare(CompareOp::Eq, &value, item));
                tests.fold(Val::Bool(false), |left, right| join(&Val::Bool(true), left, right))
            }
        }
    }

    fn compare(&mut self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Val {
        let mut left = self.eval(first);
        let mut result: Option<Val> = None;
        for (op, operand) in rest {
            let right = self.eval(operand);
            let test = compare(*op, &left, &right);
            result = Some(match result {
                None => test,
                Some(before) => join(&Val::Bool(false), before, test),
            });
            left = right;
        }
        result.unwrap_or(left)
    }

    fn call(&mut self, name: &str, args: &[Expr]) -> Val {
        if let ("present", [arg]) = (name, args) {
            return Val::Bool(match self.path(arg) {
                Item::Entity(bound) => bound.is_present(),
                Item::Options | Item::Given(_) => true,
                Item::Val(value) => !matches!(value, Val::Absent | Val::Unknown(_)),
            });
        }
        if let ("values", [arg]) = (name, args) {
            return self.elements(arg);
        }
        let mut values: Vec<Val> = args.iter().map(|arg| self.eval(arg)).collect();
        if let Some(result) = values.first().and_then(|value| functions::apply(name, value)) {
            return result;
        }
        if let ("select", [condition, yes, no]) = (name, values.as_slice()) {
            return functions::select(condition, yes, no);
        }
        if let ("repeat", [list, count]) = (name, values.as_slice()) {
            return functions::repeat(list, count);
        }
        if let ("slice", [list, start, end]) = (name, values.as_slice()) {
            return functions::slice(list, start, end);
        }
        if let ("join", [first, second]) = (name, values.as_slice()) {
            return functions::join(first, second);
        }
        if let ("range", [count]) = (name, values.as_slice()) {
            return functions::range(count);
        }
        if let [Val::List(items)] = values.as_slice() {
            values = items.clone();
        } else if let [only @ (Val::Absent | Val::Unknown(_))] = values.as_slice()
            && name != "known"
        {
            return only.clone();
        }
        let fold = |op, start: Val| values.iter().fold(start, |a, b| arithmetic(op, &a, b));
        let pick = |op: CompareOp| {
            let best = values.iter().cloned().reduce(|best, value| extreme(op, &best, &value));
            best.unwrap_or_else(|| Val::Unknown(format!("{name} of nothing")))
        };
        match name {
            "all" => {
                values.iter().fold(Val::Bool(true), |a, b| join(&Val::Bool(false), a, b.clone()))
            }
            "any" => {
                values.iter().fold(Val::Bool(false), |a, b| join(&Val::Bool(true), a, b.clone()))
            }
            "known" => Val::Bool(!values.iter().any(|value| matches!(value, Val::Unknown(_)))),
            "len" => Val::Int(values.len() as i64),
            "sum" => fold(BinaryOp::Add, Val::Int(0)),
            "prod" => fold(BinaryOp::Mul, Val::Int(1)),
            "min" => pick(CompareOp::Lt),
            "max" => pick(CompareOp::Gt),
            _ => Val::Unknown(format!("there is no function '{name}'")),
        }
    }

    /// All elements of a constant.
    fn elements(&mut self, arg: &Expr) -> Val {
        let value = match self.path(arg) {
            Item::Entity(bound) if !bound.is_present() => return Val::Absent,
            Item::Entity(Bound { value: Some(value), .. }) => value,
            _ => return Val::Unknown(format!("{arg} is no tensor")),
        };
        let node = self.facts.graph.value(value);
        let count = node.ty.elements().unwrap_or(0) as usize;
        let repeat = |items: Vec<Val>| match &items[..] {
            [only] if count > 1 => Val::List(vec![only.clone(); count]),
            _ => Val::List(items),
        };
        match &node.payload {
            Some(Payload::Ints(values)) => repeat(values.iter().map(|v| Val::Int(*v)).collect()),
            Some(Payload::Floats(values)) => {
                repeat(values.iter().map(|v| Val::Float(*v)).collect())
            }
            None if self.facts.graph.is_constant(value) => {
                Val::Unknown(format!("{arg} has too many elements"))
            }
            None => Val::Unknown(format!("{arg} is no constant")),
        }
    }

    fn path_value(&mut self, expr: &Expr) -> Val {
        match self.path(expr) {
            Item::Val(value) => value,
            Item::Entity(bound) if !bound.is_present() => Val::Absent,
            Item::Entity(_) | Item::Options | Item::Given(_) => {
                Val::Unknown(format!("{expr} is no plain value"))
            }
        }
    }

    fn path(&mut self, expr: &Expr) -> Item {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(bound) = self.scope.lookup(name) {
                    return Item::Entity(bound);
                }
                if name == "option" {
                    return Item::Options;
                }
                if name == "given"
                    && let Some(extents) = self.scope.given(self.facts.graph)
                {
                    return Item::Given(extents);
                }
                let unknown = || Val::Unknown(format!("nothing is called '{name}'"));
                Item::Val(element_of(name).map_or_else(unknown, Val::Type))
            }
            ExprKind::Field(base, name) => match self.path(base) {
                Item::Entity(bound) if !bound.is_present() => Item::Val(Val::Absent),
                Item::Entity(bound) => self.field(bound, name),
                Item::Options => Item::Val(match self.facts.options.get(name) {
                    Some(value) => value.into(),
                    None => Val::Unknown(format!("option {name} is not set")),
                }),
                Item::Given(Val::List(extents)) => Item::Val(match name.as_str() {
                    "size" => extents
                        .iter()
                        .fold(Val::Int(1), |all, extent| arithmetic(BinaryOp::Mul, &all, extent)),
                    "rank" => Val::Int(extents.len() as i64),
                    "shape" => Val::List(extents),
                    _ => Val::Unknown(format!("{base} has no field {name}")),
                }),
                Item::Given(unknown) => Item::Val(unknown),
                Item::Val(value @ (Val::Absent | Val::Unknown(_))) => Item::Val(value),
                Item::Val(_) => Item::Val(Val::Unknown(format!("{base} has no fields"))),
            },
            ExprKind::Index(base, index) => {
                let list = match self.path(base) {
                    Item::Val(value) => value,
                    _ => Val::Unknown(format!("{base} is no list")),
                };
                let index = self.eval(index);
                Item::Val(element(&base.to_string(), list, &index))
            }
            _ => Item::Val(self.eval(expr)),
        }
    }

    /// A field of a matched operation or value: attribute, operand, result, then what values have.
    fn field(&self, bound: Bound, name: &str) -> Item {
        if let Some(item) = bound.op.and_then(|op| self.op_field(op, name)) {
            return item;
        }
        // Of an operation that may be one of several, some have what others lack.
        if bound.op.is_some() && !VALUE_FIELDS.contains(&name) {
            return Item::Val(Val::Absent);
        }
        let first = |op: OpId| self.facts.graph.op(op).results.first().copied();
        match bound.value.or_else(|| bound.op.and_then(first)) {
            Some(value) => Item::Val(self.value_field(value, name)),
            None => Item::Val(Val::Absent),
        }
    }

    fn op_field(&self, op: OpId, name: &str) -> Option<Item> {
        let node = self.facts.graph.op(op);
        if let Some(value) = node.attrs.get(name) {
            return Some(Item::Val(attr_val(value)));
        }
        match name {
            "name" => return Some(Item::Val(Val::Str(node.name.clone()))),
            "out" => {
                let value = node.results.first().copied();
                return Some(Item::Entity(Bound { value, op: None }));
            }
            _ => {}
        }
        let decl = self.facts.table.get(&node.name)?;
        let missing = |what| {
            Some(Item::Val(Val::Unknown(format!("this {} has no {what} {name}", node.name))))
        };
        if let Some(attr) = decl.attr(name) {
            return match &attr.default {
                Some(default) => Some(Item::Val(attr_val(default))),
                None => missing("attribute"),
            };
        }
        if let Some(place) = decl.operand(name) {
            let value = node.operands.get(place).copied().flatten();
            return match value {
                Some(_) => Some(Item::Entity(Bound { value, op: None })),
                None => missing("operand"),
            };
        }
        if let Some(default) = self.default_of_alias(&node.name, name) {
            return Some(Item::Val(attr_val(default)));
        }
        let place = decl.results.iter().position(|result| result == name)?;
        let value = node.results.get(place).copied();
        Some(Item::Entity(Bound { value, op: None }))
    }

    /// Default of an attribute that an operation lacks and another one of its alias has. A matmul
    /// that counts as `dense` has no transposed factor, as a gemm that does not say so.
    fn default_of_alias(&self, op: &str, name: &str) -> Option<&AttrValue> {
        let aliases = Alias::all().iter().filter(|alias| alias.ops.contains(&op));
        let mut decls =
            aliases.flat_map(|alias| alias.ops).filter_map(|op| self.facts.table.get(op));
        decls.find_map(|decl| decl.attr(name)?.default.as_ref())
    }

    fn value_field(&self, value: ValueId, name: &str) -> Val {
        let node = self.facts.graph.value(value);
        let int = |value: Option<i64>, why: &str| {
            value.map_or_else(|| Val::Unknown(why.to_owned()), Val::Int)
        };
        let dynamic = "a dimension is dynamic";
        let no_type = || Val::Unknown("an element type without arithmetic".to_owned());
        match name {
            "dtype" => node.ty.dtype.map_or_else(no_type, Val::Type),
            "rank" => Val::Int(node.ty.shape.len() as i64),
            "shape" => Val::List(node.ty.shape.iter().map(|dim| int(*dim, "dynamic")).collect()),
            "is_const" => Val::Bool(self.facts.graph.is_constant(value)),
            "is_static" => Val::Bool(node.ty.shape.iter().all(Option::is_some)),
            "size" => int(node.ty.elements(), dynamic),
            "bytes" => {
                let count = node.ty.elements().and_then(|count| usize::try_from(count).ok());
                let bytes = count.zip(node.ty.dtype).and_then(|(count, ty)| ty.bytes_of(count));
                int(bytes.and_then(|bytes| i64::try_from(bytes).ok()), dynamic)
            }
            "uses" => Val::Int(node.uses.len() as i64 + i64::from(node.returned)),
            "value" => match node.payload.as_ref().and_then(|payload| payload.uniform()) {
                Some(number) => Val::Float(number),
                None if self.facts.graph.is_constant(value) => {
                    Val::Unknown("its elements differ".to_owned())
                }
                None => Val::Unknown("it is no constant".to_owned()),
            },
            _ => Val::Unknown(format!("values have no '{name}'")),
        }
    }
}

fn attr_val(value: &AttrValue) -> Val {
    match value {
        AttrValue::Int(value) => Val::Int(*value),
        AttrValue::Float(value) => Val::Float(*value),
        AttrValue::Str(text) => Val::Str(text.clone()),
        AttrValue::Bool(value) => Val::Bool(*value),
        AttrValue::Ints(values) => Val::List(values.iter().map(|v| Val::Int(*v)).collect()),
        AttrValue::Floats(values) => Val::List(values.iter().map(|v| Val::Float(*v)).collect()),
        AttrValue::Type(dtype) => Val::Type(*dtype),
    }
}
