//! Building operations of the LLVM dialect.

use crate::{
    Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val},
};
use melior::{
    Context,
    dialect::llvm::r#type as llvm_type,
    ir::{
        Attribute, Location, Type, ValueLike,
        attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute},
    },
};

/// Marker of `llvm.getelementptr` in place of an index that is an operand.
const DYNAMIC_INDEX: i32 = i32::MIN;

/// The type of addresses.
pub fn pointer(context: &Context) -> Type<'_> {
    llvm_type::pointer(context, 0)
}

/// `!llvm.func<result (arguments)>`; no result is `void`.
pub fn function_type<'c>(
    context: &'c Context,
    arguments: &[Type<'c>],
    result: Option<Type<'c>>,
) -> Type<'c> {
    let result = result.unwrap_or_else(|| llvm_type::void(context));
    llvm_type::function(result, arguments, false)
}

/// The struct that stands for a memref of `rank` dimensions.
pub fn descriptor(context: &Context, rank: usize) -> Type<'_> {
    let address = pointer(context);
    let word: Type<'_> = melior::ir::r#type::IntegerType::new(context, 64).into();
    let mut fields = vec![address, address, word];
    if rank > 0 {
        let list = llvm_type::array(word, rank as u32);
        fields.extend([list, list]);
    }
    llvm_type::r#struct(context, &fields, false)
}

/// An integer constant.
pub fn constant<'c>(builder: &Builder<'c>, ty: Type<'c>, value: i64) -> Result<Val<'c>> {
    let value = melior::ir::attribute::IntegerAttribute::new(ty, value).into();
    builder.op1_with("llvm.mlir.constant", &[], ty, vec![("value", value)])
}

/// Field `index` of a struct.
pub fn extract<'c>(
    builder: &Builder<'c>,
    aggregate: Val<'c>,
    index: i64,
    ty: Type<'c>,
) -> Result<Val<'c>> {
    let position = builder.i64s_attr(&[index]);
    builder.op1_with("llvm.extractvalue", &[aggregate], ty, vec![("position", position)])
}

/// The address of element `index` of an array of `element` at `base`.
pub fn element_address<'c>(
    builder: &Builder<'c>,
    base: Val<'c>,
    element: Type<'c>,
    index: Val<'c>,
) -> Result<Val<'c>> {
    gep(builder, &[base, index], element, DYNAMIC_INDEX)
}

/// The address of the constant element `index` of an array of `element` at `base`.
pub fn constant_element_address<'c>(
    builder: &Builder<'c>,
    base: Val<'c>,
    element: Type<'c>,
    index: i32,
) -> Result<Val<'c>> {
    gep(builder, &[base], element, index)
}

fn gep<'c>(
    builder: &Builder<'c>,
    operands: &[Val<'c>],
    element: Type<'c>,
    index: i32,
) -> Result<Val<'c>> {
    let attributes = vec![
        ("rawConstantIndices", DenseI32ArrayAttribute::new(builder.context, &[index]).into()),
        ("elem_type", TypeAttribute::new(element).into()),
    ];
    builder.op1_with("llvm.getelementptr", operands, operands[0].r#type(), attributes)
}

/// Loads the address at `address`.
pub fn load_pointer<'c>(builder: &Builder<'c>, address: Val<'c>) -> Result<Val<'c>> {
    builder.op1("llvm.load", &[address], pointer(builder.context))
}

/// Calls a function by name.
pub fn call<'c>(
    builder: &Builder<'c>,
    callee: &str,
    operands: &[Val<'c>],
    result: Option<Type<'c>>,
    extra: Vec<(&str, Attribute<'c>)>,
) -> Result<Op<'c>> {
    let context = builder.context;
    let sizes = [operands.len() as i32, 0];
    let mut attributes = vec![
        ("callee", FlatSymbolRefAttribute::new(context, callee).into()),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(context, &sizes).into()),
        ("op_bundle_sizes", DenseI32ArrayAttribute::new(context, &[]).into()),
    ];
    attributes.extend(extra);
    builder.create(
        "llvm.call",
        OpSpec { operands, results: result.as_slice(), attributes, ..Default::default() },
    )
}

/// Calls Linux on x86-64 with two numbers. Gives what it returned: 0, or a negative number for an error.
pub fn system_call<'c>(builder: &Builder<'c>, number: i64, arguments: [i64; 2]) -> Result<Val<'c>> {
    let word = builder.int(64);
    let mut operands = vec![];
    for value in std::iter::once(number).chain(arguments) {
        operands.push(constant(builder, word, value)?);
    }
    let registers = "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}";
    let attributes = vec![
        ("asm_string", builder.str_attr("syscall")),
        ("constraints", builder.str_attr(registers)),
        ("has_side_effects", Attribute::unit(builder.context)),
    ];
    builder.op1_with("llvm.inline_asm", &operands, word, attributes)
}

/// Compares a number with 0; gives an `i1`.
pub fn is_zero<'c>(builder: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
    let zero = constant(builder, value.r#type(), 0)?;
    let equal = ("predicate", builder.i64_attr(0));
    builder.op1_with("llvm.icmp", &[value, zero], builder.int(1), vec![equal])
}

/// Goes on at `good` if a status is 0, else at `leave`, which is given it.
pub fn leave_on_failure<'c>(
    builder: &Builder<'c>,
    status: Val<'c>,
    (good, leave): (Blk<'c>, Blk<'c>),
) -> Result<()> {
    let condition = is_zero(builder, status)?;
    let sizes = DenseI32ArrayAttribute::new(builder.context, &[1, 0, 1]).into();
    let sizes = vec![("operandSegmentSizes", sizes)];
    ir::edit::create_branch(builder, "llvm.cond_br", &[condition, status], &[good, leave], sizes)?;
    Ok(())
}

/// Returns from the function.
pub fn ret<'c>(builder: &Builder<'c>, value: Option<Val<'c>>) -> Result<Op<'c>> {
    builder.create("llvm.return", OpSpec { operands: value.as_slice(), ..Default::default() })
}

/// The attributes of a function: name, type and linkage such as `external`.
pub fn function_attributes<'c>(
    builder: &Builder<'c>,
    name: &str,
    ty: Type<'c>,
    linkage: &str,
) -> Result<Vec<(&'static str, Attribute<'c>)>> {
    Ok(vec![
        ("sym_name", builder.str_attr(name)),
        ("function_type", TypeAttribute::new(ty).into()),
        ("linkage", builder.parse_attr(&format!("#llvm.linkage<{linkage}>"))?),
    ])
}

/// Declares a function that is defined elsewhere, unless it is declared already.
pub fn declare<'c>(module: Op<'c>, name: &str, ty: Type<'c>) -> Result<()> {
    use melior::ir::{block::BlockLike, operation::OperationLike};
    let body = ir::edit::entry_block(module);
    let first = body.and_then(|block| block.first_operation());
    let (Some(body), Some(first)) = (body, first) else {
        return Err(crate::Error::internal("a call outside of any module"));
    };
    let declared = ir::ops(body).into_iter().find(|op| ir::func::symbol(*op) == name);
    if let Some(found) = declared {
        let same = found.attribute("function_type").ok() == Some(TypeAttribute::new(ty).into());
        return match same {
            true => Ok(()),
            false => Err(crate::Error::invalid(format!(
                "calls @{name} with other argument types than an earlier call does"
            ))),
        };
    }
    let context = ir::context_of(module);
    let builder = Builder::before(first)?.with_location(Location::unknown(context));
    let attributes = function_attributes(&builder, name, ty, "external")?;
    let regions = vec![melior::ir::Region::new()];
    builder.create("llvm.func", OpSpec { attributes, regions, ..Default::default() })?;
    Ok(())
}

/// Argument and result types of an `llvm.func`.
pub fn signature<'c>(function: Op<'c>) -> Result<(Vec<Type<'c>>, Type<'c>)> {
    use melior::ir::operation::OperationLike;
    let wrong = || crate::Error::internal("an llvm.func without a function type");
    let ty = function.attribute("function_type").ok().and_then(ir::attribute::held_type);
    ty.and_then(ir::func::llvm_signature).ok_or_else(wrong)
}
