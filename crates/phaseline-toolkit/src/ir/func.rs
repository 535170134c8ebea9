//! Functions: their types, and the attributes of arguments and results.

use super::{Builder, Op, OpSpec, Val, edit, origin};
use crate::{Error, Result};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, BlockLike, Location, Module, Region, Type, TypeLike, ValueLike,
        attribute::{ArrayAttribute, TypeAttribute},
        operation::OperationLike,
        r#type::FunctionType,
    },
};
use mlir_sys as sys;
use std::collections::BTreeSet;

/// Named attributes of one argument or result.
#[doc(hidden)]
pub type Attributes<'c> = Vec<(String, Attribute<'c>)>;

/// The signature of a `func.func`, taken apart to be changed and put back.
#[derive(Clone, Debug)]
pub struct Signature<'c> {
    /// Argument types with their attributes.
    pub arguments: Vec<(Type<'c>, Attributes<'c>)>,
    /// Result types with their attributes.
    pub results: Vec<(Type<'c>, Attributes<'c>)>,
}

impl<'c> Signature<'c> {
    /// Reads the signature of a function.
    pub fn of(function: Op<'c>) -> Result<Self> {
        let wrong = || Error::internal("a func.func without a function type");
        let raw = function.attribute("function_type").map_err(|_| wrong())?.to_raw();
        // SAFETY: the kinds are checked first; indices are in range.
        unsafe {
            if !sys::mlirAttributeIsAType(raw) {
                return Err(wrong());
            }
            let ty = sys::mlirTypeAttrGetValue(raw);
            if !sys::mlirTypeIsAFunction(ty) {
                return Err(wrong());
            }
            let arguments = (0..sys::mlirFunctionTypeGetNumInputs(ty))
                .map(|index| Type::from_raw(sys::mlirFunctionTypeGetInput(ty, index)));
            let results = (0..sys::mlirFunctionTypeGetNumResults(ty))
                .map(|index| Type::from_raw(sys::mlirFunctionTypeGetResult(ty, index)));
            Ok(Self {
                arguments: with_attributes(function, "arg_attrs", arguments),
                results: with_attributes(function, "res_attrs", results),
            })
        }
    }

    /// Gives `function` this signature. Block arguments are the caller's to change.
    ///
    /// # Errors
    /// A type or an attribute is of another session.
    pub fn put(&self, function: Op<'c>) -> Result<()> {
        if super::op_name(function) != "func.func" {
            let name = super::op_name(function);
            return Err(Error::invalid(format!("'{name}' is no function, and has no signature")));
        }
        super::context::check_change()?;
        super::context::check_own(function)?;
        for (ty, attributes) in self.arguments.iter().chain(&self.results) {
            origin::check_home(&function, ty, || format!("the type {ty} of a signature"))?;
            check_attributes(function, attributes)?;
        }
        self.set(super::context_of(function), function);
        Ok(())
    }

    unchecked! {
        /// Gives `function` this signature, whose parts are of the same session.
        pub fn set(&self, context: &'c Context, function: Op<'c>) {
            let types = |list: &[(Type<'c>, Attributes<'c>)]| -> Vec<Type<'c>> {
                list.iter().map(|(ty, _)| *ty).collect()
            };
            let ty = FunctionType::new(context, &types(&self.arguments), &types(&self.results));
            edit::set_attr(function, "function_type", TypeAttribute::new(ty.into()).into());
            for (name, list) in [("arg_attrs", &self.arguments), ("res_attrs", &self.results)] {
                if list.iter().all(|(_, attributes)| attributes.is_empty()) {
                    edit::remove_attr(function, name);
                    continue;
                }
                let dictionaries: Vec<_> = list
                    .iter()
                    .map(|(_, attributes)| edit::dictionary_attr(context, attributes))
                    .collect();
                edit::set_attr(function, name, ArrayAttribute::new(context, &dictionaries).into());
            }
        }
    }
}

fn with_attributes<'c>(
    function: Op<'c>,
    name: &str,
    types: impl Iterator<Item = Type<'c>>,
) -> Vec<(Type<'c>, Attributes<'c>)> {
    let lists = function.attribute(name).map(edit::array).unwrap_or_default();
    types
        .enumerate()
        .map(|(index, ty)| (ty, lists.get(index).map(|d| edit::dictionary(*d)).unwrap_or_default()))
        .collect()
}

fn check_attributes<'c>(function: Op<'c>, attributes: &Attributes<'c>) -> Result<()> {
    attributes.iter().try_for_each(|(name, value)| {
        origin::check_home(&function, value, || format!("the attribute '{name}' of a signature"))
    })
}

/// Sets one attribute in a list, in place or at the end.
pub fn set_in<'c>(attributes: &mut Attributes<'c>, name: &str, value: Attribute<'c>) {
    match attributes.iter_mut().find(|(found, _)| found == name) {
        Some((_, old)) => *old = value,
        None => attributes.push((name.to_owned(), value)),
    }
}

/// Appends an argument to a function that has a body, with attributes.
pub fn add_argument<'c>(
    context: &'c Context,
    function: Op<'c>,
    ty: Type<'c>,
    attributes: Attributes<'c>,
) -> Result<Val<'c>> {
    origin::check_home(&function, &ty, || "the type of a new argument".to_owned())?;
    check_attributes(function, &attributes)?;
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a new argument for a function without a body"))?;
    let mut signature = Signature::of(function)?;
    signature.arguments.push((ty, attributes));
    signature.set(context, function);
    Ok(edit::add_argument(block, ty, function.location()))
}

unchecked! {
    /// A function `main` in `module`, to whose end the builder appends, and which [`end`] completes.
    pub fn new_main<'c>(context: &'c Context, module: &'c Module<'_>) -> Result<(Op<'c>, Builder<'c>)> {
        let location = Location::unknown(context);
        let region = Region::new();
        let block = edit::append_block(&region, &[]);
        let empty = TypeAttribute::new(FunctionType::new(context, &[], &[]).into()).into();
        let b = Builder::at_end(context, module.body(), location);
        let attributes = vec![("sym_name", b.str_attr("main")), ("function_type", empty)];
        let spec = OpSpec { attributes, regions: vec![region], ..Default::default() };
        let function = b.create("func.func", spec)?;
        Ok((function, Builder::at_end(context, block, location)))
    }
}

unchecked! {
    /// Ends the function that `b` appends to with these results.
    pub fn end<'c>(b: &Builder<'c>, function: Op<'c>, results: &[Val<'c>]) -> Result<()> {
        b.create("func.return", OpSpec { operands: results, ..Default::default() })?;
        let types = |values: &[Val<'c>]| values.iter().map(|v| v.r#type()).collect::<Vec<Type>>();
        let ty = FunctionType::new(b.context, &types(&edit::arguments(b.block())), &types(results));
        edit::set_attr(function, "function_type", TypeAttribute::new(ty.into()).into());
        Ok(())
    }
}

/// The `func.func` operations of a module, in order.
pub fn functions<'c>(module: Op<'c>) -> Vec<Op<'c>> {
    super::ops_of(module).into_iter().filter(|op| super::op_name(*op) == "func.func").collect()
}

/// The function that is the network: `@main`, or the only public function.
pub fn main<'c>(module: Op<'c>) -> Option<Op<'c>> {
    let all = functions(module);
    let public: Vec<_> = all
        .iter()
        .filter(|op| super::attr_str(**op, "sym_visibility").is_none_or(|v| v == "public"))
        .collect();
    all.iter().find(|op| symbol(**op) == "main").copied().or(match public[..] {
        [only] => Some(*only),
        _ => None,
    })
}

/// The error for a module in which [`main`] finds nothing.
pub fn no_main() -> Error {
    Error::invalid("the module has no function @main, nor exactly one public function")
}

/// The name, with as many underscores behind it as it takes to be none of those `taken`.
pub fn free_symbol(name: String, taken: &BTreeSet<String>) -> String {
    std::iter::successors(Some(name), |name| Some(format!("{name}_")))
        .find(|name| !taken.contains(name))
        .unwrap_or_default()
}

/// The name of a symbol; empty for an operation that is none.
pub fn symbol<'c>(op: Op<'c>) -> String {
    super::attr_str(op, "sym_name").unwrap_or_default()
}

/// The name in a flat symbol reference attribute of `op`.
pub fn symbol_ref(op: Op<'_>, name: &str) -> Option<String> {
    let raw = op.attribute(name).ok()?.to_raw();
    // SAFETY: the kind is checked first; the string lives as long as the context.
    unsafe {
        if !sys::mlirAttributeIsAFlatSymbolRef(raw) {
            return None;
        }
        Some(super::text(sys::mlirFlatSymbolRefAttrGetValue(raw)))
    }
}

/// The block argument `index` of the function's body.
pub fn argument<'c>(function: Op<'c>, index: usize) -> Option<Val<'c>> {
    edit::entry_block(function)?.argument(index).ok().map(Into::into)
}

/// Argument and result types of a function type of the LLVM dialect.
pub fn llvm_signature<'c>(ty: Type<'c>) -> Option<(Vec<Type<'c>>, Type<'c>)> {
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        let raw = ty.to_raw();
        if !ty.to_string().starts_with("!llvm.func<") {
            return None;
        }
        let arguments = (0..sys::mlirLLVMFunctionTypeGetNumInputs(raw))
            .map(|index| Type::from_raw(sys::mlirLLVMFunctionTypeGetInput(raw, index)))
            .collect();
        Some((arguments, Type::from_raw(sys::mlirLLVMFunctionTypeGetReturnType(raw))))
    }
}

/// The identity-layout memref type with the shape and elements of a shaped type; the type itself if
/// it has no rank.
pub fn memref_like<'c>(ty: Type<'c>) -> Type<'c> {
    // SAFETY: the accessors are called on types with a rank only.
    unsafe {
        let raw = ty.to_raw();
        if !sys::mlirTypeIsAShaped(raw) || !sys::mlirShapedTypeHasRank(raw) {
            return ty;
        }
        let rank = sys::mlirShapedTypeGetRank(raw);
        let dims = super::dims(ty);
        let element = sys::mlirShapedTypeGetElementType(raw);
        let space = sys::MlirAttribute { ptr: std::ptr::null_mut() };
        let memref = sys::mlirMemRefTypeContiguousGet(element, rank as isize, dims.as_ptr(), space);
        Type::from_raw(memref)
    }
}

/// True if values of the type are tensors.
pub fn is_tensor_value(value: Val<'_>) -> bool {
    super::is_tensor(value.r#type())
}
