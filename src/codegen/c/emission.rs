//! The C of single operations as a target's manifest has it, in place of the usual.
//!
//! ```text
//! math.exp f32 my_exp($0)       %y = math.exp %x : f32   -->   y = my_exp(x);
//! ```

use super::{
    scalar::{CType, Expr, Level, cast_to, fill},
    writer::{Writer, c_type},
};
use crate::{
    expr::dtype_of,
    ir::{self, Op},
    pass::{PassError, PassResult},
    tensor::DType,
};
use melior::{
    Context,
    ir::{ValueLike, operation::OperationLike},
};

/// C template of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emission {
    op: String,
    /// Type of the operands; any that is no index, if none.
    dtype: Option<DType>,
    template: String,
}

impl Emission {
    /// Reads `OPERATION TYPE TEMPLATE`; the type `*` stands for any.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.trim().splitn(3, char::is_whitespace);
        let (Some(op), Some(dtype), Some(template)) = (words.next(), words.next(), words.next())
        else {
            return Err(format!("emit: '{text}' is not of the form OPERATION TYPE EXPRESSION"));
        };
        let named = (dtype != "*").then(|| {
            dtype_of(dtype).ok_or_else(|| format!("emit: '{dtype}' is no element type; * is any"))
        });
        Ok(Self { op: op.to_owned(), dtype: named.transpose()?, template: template.to_owned() })
    }

    /// Reads several, with `;` between them, of operations that there are.
    pub fn parse_all(context: &Context, text: &str) -> Result<Vec<Self>, String> {
        let texts = text.split(';').map(str::trim).filter(|text| !text.is_empty());
        let read = |text: &str| {
            let one = Self::parse(text)?;
            match context.is_registered_operation(&one.op) {
                true => Ok(one),
                false => Err(format!(
                    "emit: there is no operation '{}'; `--emit=tir-post` shows those that a network has",
                    one.op
                )),
            }
        };
        texts.map(read).collect()
    }

    fn fits(&self, op: &str, ty: CType) -> bool {
        let wanted = self.dtype.is_none_or(|dtype| of_dtype(dtype) == ty);
        self.op == op && ty != CType::Index && wanted
    }

    /// The operands that the expression names; an error for one that there is not.
    fn check(&self, operands: usize) -> Result<(), String> {
        let mut parts = self.template.split('$').skip(1);
        let wrong = parts.find_map(|part| match part.chars().next() {
            Some(digit @ '0'..='9') if (digit as usize - '0' as usize) < operands => None,
            other => Some(other.map(String::from).unwrap_or_default()),
        });
        wrong.map_or(Ok(()), |wrong| {
            let most = operands.saturating_sub(1);
            Err(format!(
                "is printed as '{}', where ${wrong} is none of $0 to ${most}",
                self.template
            ))
        })
    }

    /// A function that computes what an operation does, with [`NAME`] for its name. Its parameters and its
    /// result are of types that [`passed_as`] says.
    pub fn function<'c>(&self, op: Op<'c>) -> PassResult<'c, String> {
        let given: Vec<CType> = ir::operands(op)
            .into_iter()
            .map(|value| c_type(op, value.r#type()))
            .collect::<PassResult<'c, _>>()?;
        let parameter =
            |(index, ty): (usize, &CType)| format!("{} x{index}", passed_as(*ty).name());
        let parameters: Vec<_> = given.iter().enumerate().map(parameter).collect();
        let operand = |(index, ty): (usize, &CType)| {
            let name = Expr::atom(format!("x{index}"));
            if passed_as(*ty) == *ty { name } else { cast_to(ty.name(), &name) }
        };
        let operands: Vec<_> = given.iter().enumerate().map(operand).collect();
        let ty = c_type(op, ir::result0(op)?.r#type())?;
        let passed = passed_as(ty);
        let value = self.expr(&operands);
        let value = if passed == ty { value } else { cast_to(ty.name(), &value) };
        Ok(format!(
            "{} {NAME}({}) {{ return {}; }}\n",
            passed.name(),
            parameters.join(", "),
            value.at(Level::Weak).text
        ))
    }

    /// The expression with its operands.
    fn expr(&self, operands: &[Expr]) -> Expr {
        // In the brackets of a call an operand stands as it is.
        let after = |part: &str| part.get(1..).unwrap_or_default().trim_start().to_owned();
        let mut parts = self.template.split('$').skip(1);
        let mut before = self.template.split('$').rev().skip(1);
        let is_argument = parts.all(|part| after(part).starts_with([',', ')']))
            && before.all(|part| part.trim_end().ends_with([',', '(']));
        let level = if is_argument { Level::Weak } else { Level::Atom };
        let parts: Vec<_> = operands.iter().map(|operand| operand.at(level)).collect();
        let outer = if is_call(&self.template) { Level::Atom } else { Level::Weak };
        Expr::new(fill(&self.template, &parts), outer)
    }
}

/// True for an expression that is one call: a name, and brackets around all the rest.
fn is_call(text: &str) -> bool {
    let Some((name, rest)) = text.split_once('(') else { return false };
    let mut depth = 1_i32;
    let closes = rest.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    });
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && name.chars().all(is_word)
        && closes.is_some_and(|(at, _)| at + 1 == rest.len())
}

fn of_dtype(dtype: DType) -> CType {
    match dtype {
        DType::Bool => CType::Bool,
        DType::F16 => CType::Half,
        DType::BF16 => CType::Brain,
        DType::F32 => CType::Float,
        DType::F64 => CType::Double,
        // Integers are without sign in IR.
        integer => CType::Int(8 * integer.size() as u32),
    }
}

/// The type as which code of LLVM's passes a number to C, and gets it back. Each ABI has another
/// rule for small numbers in wide registers, and 16-bit floats go elsewhere than the integers that
/// they are in C.
pub fn passed_as(ty: CType) -> CType {
    match ty {
        CType::Float | CType::Double => ty,
        CType::Index => CType::Int(64),
        CType::Int(width) if width > 32 => CType::Int(64),
        _ => CType::Int(32),
    }
}

/// Placeholder for the name of a function in its text.
pub const NAME: &str = "@";

/// The first emission that fits an operation; none for operations without exactly one result.
pub fn find<'c, 'e>(emissions: &'e [Emission], op: Op<'c>) -> PassResult<'c, Option<&'e Emission>> {
    if emissions.is_empty() || op.result_count() != 1 {
        return Ok(None);
    }
    let values = ir::operands(op);
    let ty = values.first().and_then(|first| CType::of(first.r#type()));
    let Some(ty) = ty else { return Ok(None) };
    let found = emissions.iter().find(|one| one.fits(ir::op_name(op), ty));
    if let Some(found) = found {
        c_type(op, ir::result0(op)?.r#type())?;
        found.check(values.len()).map_err(|error| PassError::at(&op, error))?;
    }
    Ok(found)
}

/// Writes an operation as its target says; false if it says nothing.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c, bool> {
    let Some(found) = find(&writer.around.emissions, op)?.cloned() else { return Ok(false) };
    let values = ir::operands(op).into_iter();
    let operands: Vec<_> = values.map(|value| writer.expr(op, value)).collect::<Result<_, _>>()?;
    writer.define(op, found.expr(&operands))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::c::expression::Text;

    #[test]
    fn operands_have_brackets_where_they_need_them() {
        let sum = || Expr::new(Text::plain("a + b"), Level::Sum);
        let text = |text: &str| {
            let emission = Emission::parse(text).expect("is right");
            emission.expr(&[sum(), Expr::atom("c")]).at(Level::Product).text
        };
        assert_eq!(text("arith.divf f32 my_div($0, $1)"), "my_div(a + b, c)");
        assert_eq!(text("arith.divf f32 $0 * my_inverse($1)"), "((a + b) * my_inverse(c))");
        assert_eq!(text("arith.divf * (f($0)) + (g($1))"), "((f(a + b)) + (g(c)))");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| Emission::parse(text).expect_err(text);
        assert!(error("math.exp f32").contains("OPERATION TYPE EXPRESSION"));
        assert!(error("math.exp float f($0)").contains("'float' is no element type"));
        let unary = Emission::parse("math.exp * f($1)").expect("reads");
        assert!(unary.check(1).expect_err("has one").contains("$1 is none of $0 to $0"));
        assert!(unary.check(2).is_ok());
        assert!(Emission::parse("math.exp * f($)").expect("reads").check(1).is_err());
    }

    #[test]
    fn types_of_operands_decide() {
        let one = Emission::parse("math.exp f32 f($0)").expect("reads");
        assert!(one.fits("math.exp", CType::Float) && !one.fits("math.exp", CType::Double));
        assert!(!one.fits("math.exp2", CType::Float));
        let all = Emission::parse("arith.addi * f($0, $1)").expect("reads");
        assert!(all.fits("arith.addi", CType::Int(32)) && !all.fits("arith.addi", CType::Index));
    }
}
