//! Sizes that are known at run time, in buffers that have room for the greatest.
//!
//! A dimension is a product of [`Size`]s. Its buffer has room for the greatest value of each. The
//! elements that count are the first ones along each factor; the others are padding, whose values
//! do not matter. An operation that mixes elements along such a dimension (a sum, a softmax, a
//! window) reads the padding as a value that changes nothing. With that all passes behind see types
//! with known dimensions, on each target, and memory is planned once for all sizes.
//!
//! The rules of operations are in [`rules`], by name. An operation without one is an error that names the operation and the
//! symbol, so that nothing is computed of padding by chance.

mod dim;
mod mask;
mod region;
mod rules;
mod shape;
mod values;
mod variants;

use crate::{
    Error, Result,
    artifact::Interface,
    ir::{self, Builder, Op, Val, edit, func, names},
    pass::{PassError, PassResult},
};
use melior::ir::{Module, Type, ValueLike, block::BlockLike, operation::OperationLike};
use phaseline_base::size::{Bounds, Dim, Size, Solution, Symbol, Variant};
use std::collections::HashMap;
use values::Content;
use variants::Bounded;

/// Facts about a value.
#[derive(Clone, Debug, Default)]
struct Info {
    dims: Vec<Dim>,
    /// The elements of a small tensor of integers.
    content: Option<Content>,
}

/// A size that data decide.
#[derive(Clone, Copy)]
struct Decided<'c> {
    /// Value of the size, a scalar i64.
    value: Val<'c>,
    /// An operation behind that value. All that depends on the size is made before it.
    anchor: Op<'c>,
}

/// A function whose symbolic dimensions get their greatest size.
struct Bounding<'c> {
    /// The symbols that a run gives, and behind them the sizes that data decide.
    symbols: Vec<Symbol>,
    /// The number of the symbols that a run gives.
    given: usize,
    decided: Vec<Decided<'c>>,
    infos: HashMap<ir::Id, Info>,
    /// The argument with the values of symbols.
    sizes: Option<Val<'c>>,
    /// The beginning of the function, where masks and values of sizes are made.
    top: Op<'c>,
    masks: HashMap<(Vec<Dim>, Vec<usize>), Val<'c>>,
    computed: HashMap<Size, Val<'c>>,
    /// The loops that were visited.
    loops: usize,
    /// States of loops that grow.
    growing: Vec<Growth>,
    /// The fact without which the last error came.
    remedy: Option<Remedy>,
}

/// A state of a loop that has more elements along an axis in each step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Growth {
    /// The number of the loop, in the order of visits.
    of: usize,
    state: usize,
    axis: usize,
    by: Size,
}

/// A fact with which the search for sizes begins again.
#[derive(Clone, Debug)]
enum Remedy {
    Symbol(Solution),
    Growth(Growth),
}

/// Gives each symbolic dimension of `@main` the greatest size of its range, and the function one more argument: the values
/// of the symbols, `tensor<Nxi64>`. Dimensions of arguments are named by `phl.sizes`, symbols by `phl.symbols` of the module.
///
/// A size that data decide, such as the number of elements other than 0, gets room for the
/// greatest. A last result of the function has the sizes of all of these, `tensor<Nxi64>`. Without
/// symbols that is all that changes, and not where `only_given` is set.
///
/// Sizes that operations need to be equal are unified. A symbol is replaced by a number, or by the
/// other symbol.
///
/// # Errors
/// A dimension has no name or a name without a range. An operation has no rule for a size that is known at run time, or
/// needs one that does not follow from those of inputs.
pub fn bound(module: Op<'_>, only_given: bool) -> PassResult<'_, ()> {
    let texts = ir::attr_strs(module, names::SYMBOLS);
    let decides = || func::main(module).is_some_and(rules::decides);
    let texts = match texts {
        Some(texts) => texts,
        None if !only_given && !module.has_attribute(names::BOUNDS) && decides() => vec![],
        None => return Ok(()),
    };
    let mut symbols = texts.iter().map(|text| read_symbol(text)).collect::<Result<Vec<_>>>()?;
    let mut roots: Vec<usize> = (0..symbols.len()).collect();
    let mut growing = vec![];
    let (all, spare) = loop {
        let main = func::main(module).ok_or_else(func::no_main)?;
        let spare = Builder::before(main)?.insert_clone(main);
        edit::move_after(spare, main);
        match bound_main(module, main, (&symbols, &roots), &growing) {
            Ok(bounded) => break (bounded, spare),
            Err((_, Some(remedy))) => {
                edit::erase(main);
                match remedy {
                    Remedy::Symbol(solution) => narrow(&mut symbols, &mut roots, solution),
                    Remedy::Growth(growth) => growing.push(growth),
                }
            }
            Err((error, None)) => {
                edit::erase(spare);
                return Err(error);
            }
        }
    };
    let mut bounds = all.bounds.clone();
    let mut parts = vec![];
    for part in variants::wanted(module, &all)? {
        let own = Builder::before(spare)?.insert_clone(spare);
        let bounded = bound_main(module, own, (&part, &roots), &growing);
        parts.push(bounded.map_err(|(error, _)| error)?);
        bounds.variants.push(Variant::of(&part, &bounds.symbols));
    }
    edit::erase(spare);
    if !parts.is_empty() {
        variants::branch(&all, &parts)?;
    }
    let text = serde_json::to_string(&bounds)
        .map_err(|error| Error::internal(format!("sizes have no JSON form: {error}")))?;
    edit::set_attr(module, names::BOUNDS, Builder::before(all.function)?.str_attr(&text));
    for name in [names::SYMBOLS, names::VARIANTS, names::BUCKETS, names::WASTE] {
        edit::remove_attr(module, name);
    }
    Ok(())
}

/// Makes a symbol what it has to be.
fn narrow(symbols: &mut [Symbol], roots: &mut [usize], solution: Solution) {
    match solution {
        Solution::Value(place, value) => {
            symbols[place].least = value;
            symbols[place].most = value;
        }
        Solution::Multiple(place, number) => {
            if let Some(narrower) = symbols[place].multiples_of(number) {
                symbols[place] = narrower;
            }
        }
        Solution::Equal(kept, gone) => {
            let other = symbols[gone].clone();
            let symbol = &mut symbols[kept];
            symbol.least = symbol.least.max(other.least);
            symbol.most = symbol.most.min(other.most);
            roots.iter_mut().filter(|root| **root == gone).for_each(|root| *root = kept);
        }
    }
}

/// An error, and what has to be known for it to go away.
type Refusal<'c> = (PassError<'c>, Option<Remedy>);

fn bound_main<'c>(
    module: Op<'c>,
    main: Op<'c>,
    (symbols, roots): (&[Symbol], &[usize]),
    growing: &[Growth],
) -> std::result::Result<Bounded<'c>, Refusal<'c>> {
    let fail = |error: Error| (PassError::new(error.to_string()), None);
    let block = edit::entry_block(main)
        .ok_or_else(|| fail(Error::invalid("function @main is the network, but has no body")))?;
    let ops = ir::ops(block);
    let first =
        ops.first().copied().ok_or_else(|| fail(Error::internal("a function without an end")))?;
    let mut signature = func::Signature::of(main).map_err(fail)?;
    let (mut inputs, mut elements) = (vec![], vec![]);
    let b = Builder::before(first).map_err(fail)?;
    for (index, (ty, attributes)) in signature.arguments.iter_mut().enumerate() {
        let dims = dims_of_input(index, *ty, attributes, (symbols, roots)).map_err(fail)?;
        let value = block.argument(index).map_err(|error| fail(ir::unexpected(error)))?.into();
        elements.push(elements_of(attributes, (symbols, roots)).map_err(fail)?);
        *ty = dim::bounded(&b, *ty, &dims, symbols).map_err(fail)?;
        edit::set_type(value, *ty);
        inputs.push((value, dims));
    }
    let mut sizes = None;
    if !symbols.is_empty() {
        let ty = b.tensor_type(&[symbols.len() as i64], b.int(64)).map_err(fail)?;
        let at = inputs.len();
        sizes = Some(edit::insert_argument(block, at, ty, main.location()).map_err(fail)?);
        let name = free_name(&signature.arguments, "sizes");
        signature.arguments.push((ty, vec![(names::NAME.to_owned(), b.str_attr(&name))]));
    }
    // An operation that stays, before which what is needed once is made.
    let anchor = mask::integers(&b, &[], &[0]).map_err(fail)?;
    let top = edit::defining_op(anchor)
        .ok_or_else(|| fail(Error::internal("a constant without an operation")))?;
    let mut bounding = Bounding {
        symbols: symbols.to_vec(),
        given: symbols.len(),
        decided: vec![],
        infos: HashMap::new(),
        sizes,
        top,
        masks: HashMap::new(),
        computed: HashMap::new(),
        loops: 0,
        growing: growing.to_vec(),
        remedy: None,
    };
    for ((value, dims), sizes) in inputs.iter().zip(&elements) {
        let content = Some(sizes.clone()).filter(|sizes| !sizes.is_empty());
        bounding.infos.insert(ir::id(*value), Info { dims: dims.clone(), content });
    }
    if elements.iter().all(Vec::is_empty) {
        elements.clear();
    }
    let mut results = vec![];
    for op in ops {
        if ir::op_name(op) == "func.return" {
            for (value, slot) in ir::operands(op).into_iter().zip(&mut signature.results) {
                let value = bounding
                    .materialized(&Builder::before(op).map_err(fail)?, value)
                    .map_err(fail)?;
                slot.0 = value.r#type();
                results.push(value);
            }
            let counts = bounding.counts(&Builder::before(op).map_err(fail)?).map_err(fail)?;
            if let Some(counts) = counts {
                let name = free_name(&signature.results, "counts");
                let name = (names::NAME.to_owned(), b.str_attr(&name));
                signature.results.push((counts.r#type(), vec![name]));
            }
            let all = [&results[..], counts.as_slice()].concat();
            edit::replace_operands(op, &all);
            continue;
        }
        if let Err(error) = bounding.visit(op) {
            // Sizes that data decide cannot be chosen.
            let place = |solution: &Solution| match *solution {
                Solution::Value(place, _) | Solution::Multiple(place, _) => place,
                Solution::Equal(one, other) => one.max(other),
            };
            let remedy = bounding.remedy.take().filter(|remedy| match remedy {
                Remedy::Symbol(solution) => place(solution) < bounding.given,
                Remedy::Growth(_) => true,
            });
            return Err((bounding.at(op, &error), remedy));
        }
    }
    let outputs = results.iter().map(|value| bounding.dims(*value)).collect();
    let inputs = inputs.into_iter().map(|(_, dims)| dims).collect();
    signature.set(ir::context_of(module), main);
    let work = variants::work(&bounding, main);
    let decided = bounding.symbols.split_off(bounding.given);
    let symbols = bounding.symbols;
    let bounds = Bounds { symbols, decided, inputs, outputs, elements, variants: vec![] };
    Ok(Bounded { function: main, bounds, work })
}

/// The elements of an argument that are sizes; none if they are not.
fn elements_of(
    attributes: &func::Attributes<'_>,
    (symbols, roots): (&[Symbol], &[usize]),
) -> Result<Vec<Size>> {
    let Some((_, list)) = attributes.iter().find(|(name, _)| name == names::ELEMENTS) else {
        return Ok(vec![]);
    };
    let texts = edit::array(*list).into_iter().map(|text| edit::string(text).unwrap_or_default());
    let element = |text: String| match text.parse::<i64>() {
        Ok(number) => Ok(number.into()),
        Err(_) => {
            let place = symbols.iter().position(|symbol| symbol.name == text);
            place.map(|place| Size::symbol(symbols, roots[place])).ok_or_else(|| {
                Error::invalid(format!(
                    "`{text}` in {} is no number and no symbol",
                    names::ELEMENTS
                ))
            })
        }
    };
    texts.map(element).collect()
}

/// Gives open dimensions of a network's inputs the greatest size of their range.
///
/// # Errors
/// A range is damaged.
pub fn greatest(module: &Module<'_>, interface: &mut Interface) -> Result<()> {
    let root = ir::root(module);
    let Some(texts) = ir::attr_strs(root, names::SYMBOLS) else { return Ok(()) };
    let symbols = texts.iter().map(|text| read_symbol(text)).collect::<Result<Vec<_>>>()?;
    let signature = func::Signature::of(func::main(root).ok_or_else(func::no_main)?)?;
    let roots: Vec<usize> = (0..symbols.len()).collect();
    for (input, (_, attributes)) in interface.inputs.iter_mut().zip(&signature.arguments) {
        let elements = elements_of(attributes, (&symbols, &roots))?;
        if !elements.is_empty() {
            let most = elements.iter().map(|size| size.most(&symbols)).collect();
            interface.elements.insert(input.name.clone(), most);
        }
        let sizes = attributes.iter().find(|(name, _)| name == names::SIZES);
        let sizes = sizes.map(|(_, list)| edit::array(*list)).unwrap_or_default();
        for (dim, name) in input.shape.iter_mut().zip(sizes) {
            let symbol =
                symbols.iter().find(|symbol| edit::string(name).as_ref() == Some(&symbol.name));
            if let Some(symbol) = symbol {
                *dim = usize::try_from(symbol.most).ok();
            }
        }
    }
    Ok(())
}

fn read_symbol(text: &str) -> Result<Symbol> {
    let (name, range) = text.rsplit_once('=').ok_or_else(|| {
        Error::invalid(format!("'{text}' in {} is no NAME=RANGE", names::SYMBOLS))
    })?;
    Symbol::parse(name, range).map_err(Error::invalid)
}

/// A name that no argument has.
fn free_name(arguments: &[(Type<'_>, func::Attributes<'_>)], stem: &str) -> String {
    let taken = arguments.iter().flat_map(|(_, attributes)| attributes);
    let taken: Vec<_> = taken.filter_map(|(_, value)| edit::string(*value)).collect();
    let names = (0..).map(|count| match count {
        0 => stem.to_owned(),
        count => format!("{stem}_{count}"),
    });
    names.into_iter().find(|name| !taken.contains(name)).unwrap_or_default()
}

/// The dimensions of an argument.
fn dims_of_input(
    index: usize,
    ty: Type<'_>,
    attributes: &func::Attributes<'_>,
    (symbols, roots): (&[Symbol], &[usize]),
) -> Result<Vec<Dim>> {
    let attribute =
        |name: &str| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let names: Vec<_> = attribute(names::SIZES)
        .map(|list| {
            edit::array(list).into_iter().map(|name| edit::string(name).unwrap_or_default())
        })
        .into_iter()
        .flatten()
        .collect();
    let input =
        attribute(names::NAME).and_then(edit::string).unwrap_or(format!("argument {index}"));
    let dims = ir::dims(ty).into_iter().enumerate().map(|(axis, dim)| {
        if dim != ir::DYNAMIC {
            return Ok(Dim::known(dim));
        }
        let name = names.get(axis).map_or("", String::as_str);
        let place = symbols.iter().position(|symbol| symbol.name == name);
        place.map(|place| Dim::of(Size::symbol(symbols, roots[place]))).ok_or_else(|| {
            let example = if name.is_empty() { format!("{input}.{axis}") } else { name.to_owned() };
            Error::invalid(format!(
                "dimension {axis} of input `{input}` is open and has no range: give one, for example --shape \
                 {example}=1..8"
            ))
        })
    });
    dims.collect()
}

impl<'c> Bounding<'c> {
    /// A size that data decide: `value`, a scalar i64 that has just been made by `b`, of at most `most` elements.
    fn decide(
        &mut self,
        b: &Builder<'c>,
        name: &str,
        (value, most): (Val<'c>, i64),
    ) -> Result<Size> {
        let anchor = mask::integers(b, &[], &[0])?;
        let anchor = edit::defining_op(anchor)
            .ok_or_else(|| Error::internal("a constant without an operation"))?;
        let taken = |name: &str| self.symbols.iter().any(|symbol| symbol.name == name);
        let mut free = name.to_owned();
        let mut count = 1;
        while taken(&free) {
            free = format!("{name}_{count}");
            count += 1;
        }
        // A range of one number is none: the value may be less.
        self.symbols.push(Symbol::new(&free, 0, most.max(1)));
        self.decided.push(Decided { value, anchor });
        Ok(Size::symbol(&self.symbols, self.symbols.len() - 1))
    }

    /// The sizes that data decide, if there are any.
    fn counts(&self, b: &Builder<'c>) -> Result<Option<Val<'c>>> {
        let mut parts = vec![];
        for decided in &self.decided {
            parts.push(crate::ir::graph::Unsqueeze::build(b, decided.value, &[0])?.y());
        }
        Ok(match parts[..] {
            [] => None,
            [single] => Some(single),
            _ => Some(crate::ir::graph::Concat::build(b, &parts, 0)?.y()),
        })
    }

    fn know(&mut self, value: Val<'c>, dims: Vec<Dim>) {
        self.infos.insert(ir::id(value), Info { dims, content: None });
    }

    fn info(&self, value: Val<'c>) -> Info {
        self.infos.get(&ir::id(value)).cloned().unwrap_or_else(|| Info {
            dims: ir::dims(value.r#type()).into_iter().map(Dim::known).collect(),
            content: None,
        })
    }

    fn dims(&self, value: Val<'c>) -> Vec<Dim> {
        self.info(value).dims
    }

    /// Fails unless two dimensions are equal. If a symbol can be what they need, the search begins again with that.
    fn same(&mut self, one: &Dim, other: &Dim, what: &str) -> Result<()> {
        if one == other {
            return Ok(());
        }
        let solution = one.size().minus(&other.size()).solved(&self.symbols);
        self.remedy = solution.map(Remedy::Symbol);
        Err(Error::invalid(format!(
            "{what}: {} and {} elements, which are not known to be equal",
            one.text(&self.symbols),
            other.text(&self.symbols)
        )))
    }

    /// The greatest size of a dimension.
    fn room(&self, dim: &Dim) -> i64 {
        dim.room(&self.symbols)
    }

    /// An error at an operation, with the sizes that it sees.
    fn at(&self, op: Op<'c>, error: &Error) -> PassError<'c> {
        let seen = ir::operands(op).into_iter().flat_map(|value| self.dims(value));
        let mut named: Vec<_> = vec![];
        for dim in seen.filter(|dim| !dim.is_known()) {
            let text = dim.text(&self.symbols);
            if !named.contains(&text) {
                named.push(text);
            }
        }
        let sizes = match named.is_empty() {
            true => String::new(),
            false => format!(" (known at run time: {})", named.join(", ")),
        };
        PassError::at(&op, format!("{error}{sizes}"))
    }
}
