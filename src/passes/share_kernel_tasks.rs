//! `share-kernel-tasks`: the kernels that a model's main function calls run on a pool of threads.
//!
//! A kernel does the tasks `lo..hi` of its loop, and is called for all of them. For each one the
//! pass adds two functions, and calls the second in its place:
//!
//! ```c
//! static void KERNEL_part(void **arguments, int64_t lo, int64_t hi);
//! static void KERNEL_shared(phl_pool *pool, ..., int64_t lo, int64_t hi);
//! ```
//! `KERNEL_part` calls the kernel. `KERNEL_shared` does so, too, when there is no pool. Else it
//! gives the part to `phl_pool_parallel_for`, whose address is the pool's first word, so that a
//! model needs no library to be linked. The main function gets the pool as an argument, and so do
//! its pieces that call kernels.

use crate::{
    codegen::llvm::dialect as llvm,
    ir::{
        self, Builder, Op, OpSpec, Val, edit, func,
        names::{GRAIN, IO, KERNEL, PIECE, model_name, symbol_name},
    },
    pass::{PassResult, OptionValues, Pass, PassError},
};
use melior::{
    Context,
    ir::{
        Attribute, Location, Region, Type, ValueLike,
        attribute::{
            ArrayAttribute, DenseI32ArrayAttribute, FlatSymbolRefAttribute, StringAttribute,
            TypeAttribute,
        },
        operation::OperationLike,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// The pass.
pub const PASS: Pass = Pass {
    name: "share-kernel-tasks",
    summary: "Run the tasks of host kernels on a pool of threads",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    let main_name = symbol_name(&model_name(module), "main");
    let functions: BTreeMap<String, Op<'c>> = ir::ops_of(module)
        .into_iter()
        .filter(|op| ir::op_name(*op) == "llvm.func")
        .map(|op| (func::symbol(op), op))
        .collect();
    let (Some(main), Some(body)) = (functions.get(&main_name), edit::entry_block(module)) else {
        // A module of some other target than the one that runs the model.
        return Ok(());
    };
    let context = ir::context_of(module);
    let at = Builder::at_end(context, body, Location::unknown(context));
    let mut sharing =
        Sharing { at, functions: &functions, shared: BTreeSet::new(), pieces: BTreeMap::new() };
    sharing.visit(*main)?;
    Ok(())
}

struct Sharing<'f, 'c> {
    at: Builder<'c>,
    functions: &'f BTreeMap<String, Op<'c>>,
    /// The kernels that have their two functions.
    shared: BTreeSet<String>,
    /// The pieces that were visited, with true for one that takes the pool.
    pieces: BTreeMap<String, bool>,
}

impl<'c> Sharing<'_, 'c> {
    /// The calls of a function to others of the module.
    fn calls(&self, caller: Op<'c>) -> Vec<(Op<'c>, Op<'c>)> {
        edit::walk(caller)
            .into_iter()
            .filter(|op| ir::op_name(*op) == "llvm.call")
            .filter_map(|op| Some((op, *self.functions.get(&func::symbol_ref(op, "callee")?)?)))
            .collect()
    }

    /// Shares the kernels of a function after those of the pieces that it calls. Pieces may call
    /// others: bodies of loops are pieces, too.
    fn visit(&mut self, caller: Op<'c>) -> PassResult<'c, bool> {
        for (_, callee) in self.calls(caller) {
            let name = func::symbol(callee);
            if callee.has_attribute(PIECE) && !self.pieces.contains_key(&name) {
                let takes_pool = self.visit(callee)?;
                self.pieces.insert(name, takes_pool);
            }
        }
        self.share(caller)
    }

    /// Gives a function the pool, and lets it hand the pool to the kernels and pieces that it
    /// calls and that take it. False if it calls none.
    fn share(&mut self, caller: Op<'c>) -> PassResult<'c, bool> {
        let takes_pool = |callee: &Op<'c>| {
            callee.has_attribute(KERNEL)
                || self.pieces.get(&func::symbol(*callee)).copied().unwrap_or(false)
        };
        let calls: Vec<_> =
            self.calls(caller).into_iter().filter(|(_, callee)| takes_pool(callee)).collect();
        if calls.is_empty() {
            return Ok(false);
        }
        let pool = add_pool(self.at.context, caller)?;
        for (call, callee) in calls {
            let mut operands = ir::operands(call);
            let builder = Builder::before(call)?;
            if callee.has_attribute(KERNEL) {
                let kernel = Kernel::of(&self.at, callee)?;
                if self.shared.insert(kernel.name.clone()) {
                    kernel.emit_part(&self.at)?;
                    kernel.emit_shared(&self.at)?;
                }
                operands.insert(0, pool);
                llvm::call(&builder, &kernel.shared(), &operands, None, vec![])?;
            } else {
                operands.push(pool);
                let status = ir::results(call).first().copied();
                let result = status.map(|status| status.r#type());
                let new = llvm::call(&builder, &func::symbol(callee), &operands, result, vec![])?;
                if let Some(status) = status {
                    edit::replace_uses(status, ir::result0(new)?);
                }
            }
            edit::erase(call);
        }
        Ok(true)
    }
}

/// Gives a function the pool as its last argument.
fn add_pool<'c>(context: &'c Context, main: Op<'c>) -> PassResult<'c, Val<'c>> {
    let block = edit::entry_block(main).ok_or_else(|| PassError::at(&main, "has no body"))?;
    let (mut arguments, result) = llvm::signature(main)?;
    let mut lists = main.attribute("arg_attrs").map(edit::array).unwrap_or_default();
    lists.resize(arguments.len(), edit::dictionary_attr(context, &[]));
    let role = StringAttribute::new(context, "pool").into();
    lists.push(edit::dictionary_attr(context, &[(IO.to_owned(), role)]));
    arguments.push(llvm::pointer(context));
    let returns = (result.to_string() != "!llvm.void").then_some(result);
    let ty = llvm::function_type(context, &arguments, returns);
    edit::set_attr(main, "function_type", TypeAttribute::new(ty).into());
    edit::set_attr(main, "arg_attrs", ArrayAttribute::new(context, &lists).into());
    Ok(edit::add_argument(block, llvm::pointer(context), main.location()))
}

struct Kernel<'c> {
    name: String,
    /// Types of its arguments: addresses, then the first task and the one after the last.
    arguments: Vec<Type<'c>>,
    /// The tasks that are worth handing to a thread.
    grain: i64,
}

impl<'c> Kernel<'c> {
    fn of(at: &Builder<'c>, function: Op<'c>) -> PassResult<'c, Self> {
        let (arguments, _) = llvm::signature(function)?;
        let (pointer, word) = (llvm::pointer(at.context), at.int(64));
        let (addresses, tasks) = arguments.split_at(arguments.len().saturating_sub(2));
        if tasks != [word, word] || addresses.iter().any(|ty| *ty != pointer) {
            return Err(PassError::at(
                &function,
                "is a kernel, so it has to take addresses and two numbers of tasks",
            ));
        }
        let grain = ir::attr_i64(function, GRAIN).unwrap_or(1);
        Ok(Self { name: func::symbol(function), arguments, grain })
    }

    fn part(&self) -> String {
        format!("{}_part", self.name)
    }

    fn shared(&self) -> String {
        format!("{}_shared", self.name)
    }

    fn addresses(&self) -> usize {
        self.arguments.len() - 2
    }

    /// `void KERNEL_part(void **arguments, int64_t lo, int64_t hi)`.
    fn emit_part(&self, at: &Builder<'c>) -> PassResult<'c> {
        let pointer = llvm::pointer(at.context);
        let types = [pointer, at.int(64), at.int(64)];
        define(at, &self.part(), &types, |b, values, _| {
            let mut operands = vec![];
            for index in 0..self.addresses() {
                let slot = llvm::constant_element_address(b, values[0], pointer, index as i32)?;
                operands.push(llvm::load_pointer(b, slot)?);
            }
            operands.extend(&values[1..]);
            llvm::call(b, &self.name, &operands, None, vec![])?;
            llvm::ret(b, None)?;
            Ok(())
        })
    }

    /// `void KERNEL_shared(phl_pool *pool, ..., int64_t lo, int64_t hi)`.
    fn emit_shared(&self, at: &Builder<'c>) -> PassResult<'c> {
        let pointer = llvm::pointer(at.context);
        let mut types = vec![pointer];
        types.extend(&self.arguments);
        define(at, &self.shared(), &types, |b, values, region| {
            let (pool, arguments) = (values[0], &values[1..]);
            let count = llvm::constant(b, b.int(64), self.addresses().max(1) as i64)?;
            let element = TypeAttribute::new(pointer).into();
            let list =
                b.op1_with("llvm.alloca", &[count], pointer, vec![("elem_type", element)])?;
            let null = b.op1("llvm.mlir.zero", &[], pointer)?;
            let equal = vec![("predicate", b.i64_attr(0))];
            let alone = b.op1_with("llvm.icmp", &[pool, null], b.int(1), equal)?;
            let [serial, parallel] = [(); 2].map(|()| edit::append_block(region, &[]));
            let sizes = DenseI32ArrayAttribute::new(b.context, &[1, 0, 0]).into();
            let sizes = vec![("operandSegmentSizes", sizes)];
            edit::create_branch(b, "llvm.cond_br", &[alone], &[serial, parallel], sizes)?;
            let s = Builder::at_end(b.context, serial, b.location);
            llvm::call(&s, &self.name, arguments, None, vec![])?;
            llvm::ret(&s, None)?;
            let p = Builder::at_end(b.context, parallel, b.location);
            self.call_pool(&p, pool, list, arguments)?;
            llvm::ret(&p, None)?;
            Ok(())
        })
    }

    /// Puts the addresses into `list` and lets the pool call the part.
    fn call_pool(
        &self,
        b: &Builder<'c>,
        pool: Val<'c>,
        list: Val<'c>,
        arguments: &[Val<'c>],
    ) -> PassResult<'c> {
        let pointer = llvm::pointer(b.context);
        for (index, address) in arguments.iter().take(self.addresses()).enumerate() {
            let slot = llvm::constant_element_address(b, list, pointer, index as i32)?;
            let operands = [*address, slot];
            b.create("llvm.store", OpSpec { operands: &operands, ..Default::default() })?;
        }
        let parallel_for = llvm::load_pointer(b, pool)?;
        let part = FlatSymbolRefAttribute::new(b.context, &self.part()).into();
        let part = b.op1_with("llvm.mlir.addressof", &[], pointer, vec![("global_name", part)])?;
        let tasks = arguments[arguments.len() - 1];
        let grain = llvm::constant(b, b.int(64), self.grain)?;
        let operands = [parallel_for, pool, part, list, tasks, grain];
        let numbers = |values: &[i32]| -> Attribute<'c> {
            DenseI32ArrayAttribute::new(b.context, values).into()
        };
        let attributes = vec![
            ("operandSegmentSizes", numbers(&[operands.len() as i32, 0])),
            ("op_bundle_sizes", numbers(&[])),
        ];
        let results = [b.int(32)];
        let spec =
            OpSpec { operands: &operands, results: &results, attributes, ..Default::default() };
        b.create("llvm.call", spec)?;
        Ok(())
    }
}

/// Adds an internal function without result; `body` fills the first block and may add others.
fn define<'c>(
    at: &Builder<'c>,
    name: &str,
    arguments: &[Type<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>], &Region<'c>) -> PassResult<'c>,
) -> PassResult<'c> {
    let region = Region::new();
    let with_locations: Vec<_> = arguments.iter().map(|ty| (*ty, at.location)).collect();
    let block = edit::append_block(&region, &with_locations);
    body(&Builder::at_end(at.context, block, at.location), &edit::arguments(block), &region)?;
    let ty = llvm::function_type(at.context, arguments, None);
    let mut attributes = llvm::function_attributes(at, name, ty, "internal")?;
    // In the caller, the list of arguments would take room there for each call.
    attributes.push(("no_inline", Attribute::unit(at.context)));
    at.create("llvm.func", OpSpec { attributes, regions: vec![region], ..Default::default() })?;
    Ok(())
}
