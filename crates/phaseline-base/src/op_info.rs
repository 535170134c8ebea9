//! The declaration of an operation in ODS as plain data: names, operands, results,
//! attributes, and facts that decisions go by. `dialects/op_views.rs` generates it.

/// The number of values that an operand or a result stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// One.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// Integer.
    Int,
    /// Float.
    Float,
    /// Text.
    Str,
    /// Boolean.
    Bool,
    /// List of integers.
    Ints,
    /// List of floats.
    Floats,
    /// Element type.
    Type,
    /// Another attribute, which conditions cannot look into.
    Other,
}

/// An operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueInfo {
    /// Name.
    pub name: &'static str,
    /// The number of values that it stands for.
    pub arity: Arity,
}

/// An attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttrInfo {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: AttrKind,
    /// True if an operation may be without it, and without a default.
    pub optional: bool,
    /// The value of an operation without it, in the syntax of patterns.
    pub default: Option<&'static str>,
    /// The words that it may be, if it is one of a closed list.
    pub words: &'static [&'static str],
}

/// An operation as ODS has it. The facts that are not structure are fields of the same names
/// in `GraphBase.td`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpInfo {
    /// Full name: `graph.conv`.
    pub name: &'static str,
    /// Name without the dialect: `conv`.
    pub mnemonic: &'static str,
    /// One line of documentation.
    pub summary: &'static str,
    /// The operation as text, with operands that are defined elsewhere.
    pub example: &'static str,
    /// Operands in order.
    pub operands: &'static [ValueInfo],
    /// Results in order.
    pub results: &'static [ValueInfo],
    /// Attributes in order.
    pub attributes: &'static [AttrInfo],
    /// True if an attribute has the number of values of each operand.
    pub segments: bool,
    /// True if its two operands may be swapped.
    pub commutative: bool,
    /// True for a constant, a terminator, or an operation with regions: no operation of a pattern.
    pub structure: bool,
    /// True if an element of the result depends on the elements at the same place of its operands,
    /// after broadcasting, and on nothing else.
    pub elementwise: bool,
    /// True if the result has the elements of the first operand in their order, maybe in other
    /// dimensions.
    pub view: bool,
    /// The operand that windows slide over, `[N, C, D1, ..., Dn]`.
    pub image: Option<&'static str>,
    /// The operand that the image, or the first operand, is multiplied with.
    pub weights: Option<&'static str>,
    /// Arithmetic operations that one element of the result takes, where `flops` says nothing.
    pub cost: u32,
    /// All arithmetic operations, as an expression over `self`.
    pub flops: Option<&'static str>,
}

impl OpInfo {
    /// True for a function whose evaluation takes many instructions: a polynomial, a table, a
    /// series.
    pub fn is_expensive(&self) -> bool {
        self.elementwise && self.cost >= 10
    }

    /// The place of an operand.
    pub fn operand(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|operand| operand.name == name)
    }
}
