//! The module and function that a network becomes.

use std::path::Path;

use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::block::{Block, BlockLike, BlockRef};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, IntegerType, RankedTensorType};
use melior::ir::{Attribute, Identifier, Location, Module, Region, RegionLike, Type, ValueLike};

use crate::ir::{self, Builder, OpSpec, Val};
use crate::limits;
use crate::{
    import::{ImportError, ImportOptions},
    ir::names,
};

use crate::import::constants::scalar_type;

/// Element type and shape of an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputType {
    pub(crate) name: String,
    /// MLIR spelling of the element type.
    pub(crate) element: &'static str,
    /// Dimensions; unknown ones are [`DYNAMIC`](ir::DYNAMIC).
    pub(crate) dims: Vec<i64>,
    /// The names of its unknown dimensions; empty texts for the others.
    pub(crate) sizes: Vec<String>,
}

impl InputType {
    /// Gives open dimensions the sizes of their names: `names` has those of the model, and a
    /// dimension without one is `INPUT.AXIS`.
    pub(crate) fn with_sizes(mut self, names: &[Option<&str>], options: &ImportOptions) -> Self {
        let mut sizes = vec![String::new(); self.dims.len()];
        for (axis, dim) in self.dims.iter_mut().enumerate().filter(|(_, dim)| **dim == ir::DYNAMIC)
        {
            let own = names.get(axis).copied().flatten().map(str::to_owned);
            let name = own.unwrap_or_else(|| format!("{}.{axis}", self.name));
            match options.symbols.get(&name) {
                Some(symbol) if symbol.is_known() => *dim = symbol.least,
                _ => sizes[axis] = name,
            }
        }
        // A list of values says how long it is.
        if let ([dim], Some(elements)) = (&mut self.dims[..], options.elements.get(&self.name))
            && *dim == ir::DYNAMIC
        {
            *dim = elements.len() as i64;
            sizes[0] = String::new();
        }
        self.sizes = sizes;
        self
    }
}

/// Fails for sizes of names that no open dimension has.
pub(crate) fn check_symbols(
    path: &Path,
    options: &ImportOptions,
    inputs: &[&str],
    open: &[String],
) -> Result<(), ImportError> {
    let fail = |message: String| Err(ImportError::Option { path: path.to_owned(), message });
    for name in options.symbols.keys() {
        if inputs.contains(&name.as_str()) {
            return fail(format!(
                "`{name}` is an input, and a range of sizes is given for it; dimensions have names of their own: {}",
                listed(open)
            ));
        }
        if !open.contains(name) {
            return fail(format!(
                "there is no open dimension `{name}`; those of the model are {}",
                listed(open)
            ));
        }
    }
    Ok(())
}

/// Elements that are sizes must be those of an input of as many integers.
fn check_elements(
    path: &Path,
    arguments: &[&InputType],
    options: &ImportOptions,
) -> Result<(), ImportError> {
    for (name, elements) in &options.elements {
        let fail = |message: String| Err(ImportError::Option { path: path.to_owned(), message });
        let Some(input) = arguments.iter().find(|input| input.name == *name) else {
            let inputs: Vec<_> = arguments.iter().map(|input| input.name.clone()).collect();
            return fail(format!(
                "there is no input `{name}` to give values; the inputs are {}",
                listed(&inputs)
            ));
        };
        let count = elements.len() as i64;
        if !["i32", "i64"].contains(&input.element) {
            return fail(format!(
                "input `{name}` has elements of type {}, and only int32 and int64 are sizes",
                input.element
            ));
        }
        if input.dims.contains(&ir::DYNAMIC) || input.dims.iter().product::<i64>() != count {
            let dims: Vec<_> = input
                .dims
                .iter()
                .map(|dim| if *dim == ir::DYNAMIC { "?".to_owned() } else { dim.to_string() })
                .collect();
            return fail(format!(
                "input `{name}` has the shape [{}], and --value gives {count} element{}",
                dims.join(", "),
                if count == 1 { "" } else { "s" }
            ));
        }
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// The module and its function, empty at first.
pub(crate) struct Frame<'c> {
    module: Module<'c>,
    function: ir::Op<'c>,
    /// The body of the function.
    pub(crate) block: ir::Blk<'c>,
    context: &'c Context,
    /// The location of the model as a whole.
    pub(crate) file: Location<'c>,
}

/// Records on a module the parts of its ranges of sizes that get code of their own.
fn note_variants<'c>(context: &'c Context, module: &Module<'c>, options: &ImportOptions) {
    let variants = &options.variants;
    let root = ir::root(module);
    let int64 = IntegerType::new(context, 64).into();
    let number = |value: i64| IntegerAttribute::new(int64, value).into();
    if !variants.given.is_empty() {
        let texts = variants.given.iter();
        let texts: Vec<_> =
            texts.map(|part| StringAttribute::new(context, &part.text()).into()).collect();
        ir::edit::set_attr(root, names::VARIANTS, ArrayAttribute::new(context, &texts).into());
    }
    if let Some(count) = variants.buckets {
        ir::edit::set_attr(root, names::BUCKETS, number(count as i64));
    }
    if let Some(percent) = variants.waste {
        ir::edit::set_attr(root, names::WASTE, number(percent.into()));
    }
}

impl<'c> Frame<'c> {
    /// A function with these arguments.
    pub(crate) fn new(
        context: &'c Context,
        path: &Path,
        arguments: &[&InputType],
        options: &ImportOptions,
    ) -> Result<Self, ImportError> {
        check_elements(path, arguments, options)?;
        let file = Location::new(context, &file_name(path), 0, 0);
        let module = Module::new(file);
        let mut types = Vec::new();
        for argument in arguments {
            let element = scalar_type(context, argument.element);
            let element = element.ok_or_else(|| {
                let message = format!("there is no type {} for an input", argument.element);
                ImportError::graph(path, message)
            })?;
            let dims: Vec<u64> = argument.dims.iter().map(|&dim| dim as u64).collect();
            let ty = RankedTensorType::new(&dims, element, None).into();
            limits::check_type(ty).map_err(|reason| {
                ImportError::graph(path, format!("input `{}` {reason}", argument.name))
            })?;
            types.push(ty);
        }
        let names = arguments.iter().map(|argument| argument.name.as_str());
        let slot = |(ty, name): (&Type<'c>, &str)| (*ty, Location::name(context, name, file));
        let slots: Vec<_> = types.iter().zip(names.clone()).map(slot).collect();
        let region = Region::new();
        region.append_block(Block::new(&slots));
        // Without ranges a network has the text that it always had.
        let mut ranges: Vec<Attribute<'c>> = vec![];
        let elements = options.elements.values().flatten();
        for symbol in options.symbols.values().chain(elements).filter(|it| !it.is_known()) {
            let text = format!("{}={}", symbol.name, symbol.range());
            ranges.push(StringAttribute::new(context, &text).into());
        }
        let arguments_of = |argument: &&InputType| -> Attribute<'c> {
            let mut entries = vec![named(context, &argument.name)];
            if !ranges.is_empty() && argument.sizes.iter().any(|name| !name.is_empty()) {
                let sizes =
                    argument.sizes.iter().map(|name| StringAttribute::new(context, name).into());
                let sizes = ArrayAttribute::new(context, &sizes.collect::<Vec<_>>()).into();
                entries.push((Identifier::new(context, names::SIZES), sizes));
            }
            if let Some(elements) = options.elements.get(&argument.name) {
                let texts = elements.iter().map(|symbol| {
                    let number = symbol.least.to_string();
                    let text = if symbol.is_known() { &number } else { &symbol.name };
                    StringAttribute::new(context, text).into()
                });
                let list = ArrayAttribute::new(context, &texts.collect::<Vec<_>>()).into();
                entries.push((Identifier::new(context, names::ELEMENTS), list));
            }
            DictionaryAttribute::new(context, &entries).into()
        };
        let argument_attributes: Vec<_> = arguments.iter().map(arguments_of).collect();
        let attributes = vec![
            ("sym_name", StringAttribute::new(context, "main").into()),
            ("function_type", function_type(context, &types, &[])),
            ("arg_attrs", ArrayAttribute::new(context, &argument_attributes).into()),
        ];
        // SAFETY: the module owns the block and outlives its use here.
        let body = unsafe { BlockRef::from_raw(module.body().to_raw()) };
        let spec = OpSpec { attributes, regions: vec![region], ..Default::default() };
        let function = Builder::at_end(context, body, file)
            .create("func.func", spec)
            .map_err(|error| ImportError::graph(path, error.to_string()))?;
        let block = function
            .region(0)
            .ok()
            .and_then(|region| region.first_block())
            .ok_or_else(|| ImportError::graph(path, "the function has no body"))?;
        if !ranges.is_empty() {
            let list = ArrayAttribute::new(context, &ranges).into();
            ir::edit::set_attr(ir::root(&module), names::SYMBOLS, list);
            note_variants(context, &module, options);
        }
        Ok(Self { module, function, block, context, file })
    }

    pub(crate) fn argument(&self, index: usize) -> Result<Val<'c>, ImportError> {
        let argument = self.block.argument(index).map_err(|error| {
            ImportError::graph(Path::new(""), format!("argument {index}: {error}"))
        })?;
        Ok(argument.into())
    }

    /// Ends the function with `results`, and gives the module away.
    pub(crate) fn finish(
        self,
        path: &Path,
        outputs: &[&str],
        results: &[Val<'c>],
    ) -> Result<Module<'c>, ImportError> {
        let fail = |message: String| ImportError::graph(path, message);
        let spec = OpSpec { operands: results, ..Default::default() };
        Builder::at_end(self.context, self.block, self.file)
            .create("func.return", spec)
            .map_err(|error| fail(error.to_string()))?;
        let inputs: Vec<Type<'c>> = (0..self.block.argument_count())
            .map(|index| self.argument(index).map(|value| value.r#type()))
            .collect::<Result<_, _>>()?;
        let types: Vec<Type<'c>> = results.iter().map(|value| value.r#type()).collect();
        let ty = function_type(self.context, &inputs, &types);
        ir::edit::set_attr(self.function, "function_type", ty);
        ir::edit::set_attr(
            self.function,
            "res_attrs",
            name_attributes(self.context, outputs.iter().copied()),
        );
        if !self.module.as_operation().verify() {
            return Err(fail("the imported module is not valid".to_string()));
        }
        Ok(self.module)
    }
}

fn function_type<'c>(
    context: &'c Context,
    inputs: &[Type<'c>],
    outputs: &[Type<'c>],
) -> Attribute<'c> {
    TypeAttribute::new(FunctionType::new(context, inputs, outputs).into()).into()
}

/// One dictionary with the `phl.name` for each name.
fn named<'c>(context: &'c Context, name: &str) -> (Identifier<'c>, Attribute<'c>) {
    (Identifier::new(context, names::NAME), StringAttribute::new(context, name).into())
}

fn name_attributes<'c, 'n>(
    context: &'c Context,
    names: impl Iterator<Item = &'n str>,
) -> Attribute<'c> {
    let entry = |name: &str| -> Attribute<'c> {
        DictionaryAttribute::new(context, &[named(context, name)]).into()
    };
    let entries: Vec<_> = names.map(entry).collect();
    ArrayAttribute::new(context, &entries).into()
}

/// The name of a file without its directories: the place of a model does not belong in its package.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or("model".into(), |name| name.to_string_lossy().into_owned())
}
