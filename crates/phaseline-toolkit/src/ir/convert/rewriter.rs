//! The rewriter of patterns of a conversion, and the values that they are given.

use crate::{
    Error, Result, ffi,
    ir::{Blk, Builder, Op, Val, op_name, origin, print, results},
};
use melior::{
    Context,
    ir::{Type, TypeLike, ValueLike, operation::OperationLike},
};
use mlir_sys as sys;
use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    marker::PhantomData,
};

thread_local! {
    /// Operations that the running pattern made; none outside of patterns.
    static MADE: RefCell<Option<Vec<usize>>> = const { RefCell::new(None) };
}

/// Notes an operation that a builder made.
pub(crate) fn note(op: Op<'_>) {
    MADE.with_borrow_mut(|made| {
        if let Some(made) = made {
            made.push(op.to_raw().ptr as usize);
        }
    });
}

/// Calls a pattern, and gives the operations that it made, which are all there.
pub(super) fn noted<'p, T>(run: impl FnOnce() -> T) -> (T, Vec<Op<'p>>) {
    let before = MADE.replace(Some(vec![]));
    let outcome = run();
    let made = MADE.replace(before).unwrap_or_default();
    let op = |address| {
        // SAFETY: a conversion destroys nothing before it is done.
        unsafe { Op::from_raw(sys::MlirOperation { ptr: address as *mut c_void }) }
    };
    (outcome, made.into_iter().map(op).collect())
}

/// The values that stand for the operands of an operation that is converted.
#[derive(Clone, Debug)]
pub struct Operands<'p>(Vec<Vec<Val<'p>>>);

impl<'p> Operands<'p> {
    pub(super) fn new(lists: Vec<Vec<Val<'p>>>) -> Self {
        Self(lists)
    }

    /// The value that stands for an operand.
    ///
    /// # Errors
    /// There is no such operand, or its type became none or several.
    pub fn get(&self, index: usize) -> Result<Val<'p>> {
        match self.list(index) {
            [value] => Ok(*value),
            list => Err(Error::invalid(format!(
                "operand {index} is {} values in the conversion: Operands::list gives them",
                list.len()
            ))),
        }
    }

    /// The values that stand for an operand; none for one that there is not.
    pub fn list(&self, index: usize) -> &[Val<'p>] {
        self.0.get(index).map_or(&[], Vec::as_slice)
    }

    /// The values of all operands, one for each: for adaptors.
    ///
    /// # Errors
    /// The type of one became none or several.
    pub fn all(&self) -> Result<Vec<Val<'p>>> {
        (0..self.0.len()).map(|index| self.get(index)).collect()
    }
}

/// Changes the IR on behalf of a pattern: the operation that it was given, and what stands in for it.
pub struct ConversionRewriter<'r, 'p> {
    raw: sys::MlirRewriterBase,
    context: &'p Context,
    converter: ffi::PhlTypeConverter,
    op: Op<'p>,
    operands: &'r Operands<'p>,
    is_done: bool,
    driver: PhantomData<&'r Cell<()>>,
}

impl<'r, 'p> ConversionRewriter<'r, 'p> {
    pub(super) fn new(
        raw: sys::MlirRewriterBase,
        context: &'p Context,
        converter: ffi::PhlTypeConverter,
        op: Op<'p>,
        operands: &'r Operands<'p>,
    ) -> Self {
        Self { raw, context, converter, op, operands, is_done: false, driver: PhantomData }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// The context.
    pub fn context(&self) -> &'p Context {
        self.context
    }

    /// A builder in front of the operation, with its location.
    ///
    /// # Errors
    /// The operation is in no block.
    pub fn builder(&self) -> Result<Builder<'p>> {
        Ok(Builder::before(self.op)?.told(self.raw))
    }

    /// A builder at the end of a block of an operation that the pattern made.
    pub fn at_end(&self, block: Blk<'p>) -> Builder<'p> {
        Builder::at_end(self.context, block, self.op.location()).told(self.raw)
    }

    /// The type that another one becomes.
    ///
    /// # Errors
    /// It becomes none or several.
    pub fn convert(&self, ty: Type<'p>) -> Result<Type<'p>> {
        match self.convert_to_many(ty)?[..] {
            [ty] => Ok(ty),
            ref all => Err(Error::invalid(format!(
                "the type {ty} becomes {} types in the conversion",
                all.len()
            ))),
        }
    }

    /// The types that another one becomes.
    ///
    /// # Errors
    /// It is of another session, or cannot be converted.
    pub fn convert_to_many(&self, ty: Type<'p>) -> Result<Vec<Type<'p>>> {
        unsafe extern "C" fn push(ty: sys::MlirType, out: *mut c_void) {
            // SAFETY: `out` is the list below, and the type is live.
            unsafe { (*out.cast::<Vec<Type<'_>>>()).push(Type::from_raw(ty)) };
        }
        origin::check_home(self.context, &ty, || "a type that is to be converted".to_owned())?;
        let mut types: Vec<Type<'p>> = vec![];
        let out = (&raw mut types).cast();
        // SAFETY: the converter is live, and the list outlives the call.
        match unsafe { ffi::phlTypeConverterConvert(self.converter, ty.to_raw(), Some(push), out) }
        {
            true => Ok(types),
            false => Err(Error::invalid(format!("the type {ty} cannot be converted"))),
        }
    }

    /// Replaces the operation by a value for each of its results. Types may be others than what those become: where they
    /// differ, a cast is made. Gives true.
    ///
    /// # Errors
    /// The values are not as many as the results, or are of another module; or the operation was replaced.
    pub fn replace(&mut self, values: &[Val<'p>]) -> Result<bool> {
        let lists: Vec<_> = values.iter().map(|value| vec![*value]).collect();
        self.replace_by_lists(&lists)
    }

    /// As [`Self::replace`], with any number of values for each result.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub fn replace_by_lists(&mut self, lists: &[Vec<Val<'p>>]) -> Result<bool> {
        let name = op_name(self.op);
        let count = results(self.op).len();
        if count != lists.len() {
            return Err(Error::invalid(format!(
                "'{name}' has {count} results and was to be replaced by {} values",
                lists.len()
            )));
        }
        for value in lists.iter().flatten() {
            origin::check_home(self.context, value, || {
                format!("a value that takes the place of '{name}'")
            })?;
            if let Some(block) = self.op.block() {
                origin::check_value(block, *value, name)?;
            }
            if results(self.op).contains(value) {
                return Err(Error::invalid(format!("'{name}' cannot be replaced by itself")));
            }
        }
        self.finish()?;
        let values: Vec<_> = lists.iter().flatten().map(|value| value.to_raw()).collect();
        let sizes: Vec<_> = lists.iter().map(|list| list.len() as isize).collect();
        // SAFETY: the operation and the values are live, and as many as is said.
        unsafe {
            ffi::phlConversionReplace(
                self.raw,
                self.op.to_raw(),
                values.as_ptr(),
                sizes.as_ptr(),
                sizes.len() as isize,
            );
        }
        Ok(true)
    }

    /// Takes the operation out of the IR. What uses its results is converted as well. Gives true.
    ///
    /// # Errors
    /// The operation was replaced.
    pub fn erase(&mut self) -> Result<bool> {
        self.finish()?;
        // SAFETY: the operation is live.
        unsafe { ffi::phlConversionErase(self.raw, self.op.to_raw()) };
        Ok(true)
    }

    /// Replaces the operation by the same with the values that stand for its operands, converted types of results and of
    /// arguments, and types in attributes. Gives true.
    ///
    /// # Errors
    /// A type cannot be converted, or one of several groups of operands became several values; or the operation was
    /// replaced.
    pub fn retype(&mut self) -> Result<bool> {
        self.finish()?;
        let values: Vec<_> = self.operands.0.iter().flatten().map(|value| value.to_raw()).collect();
        let sizes: Vec<_> = self.operands.0.iter().map(|list| list.len() as isize).collect();
        let mut made = sys::MlirOperation { ptr: std::ptr::null_mut() };
        let reason = print::collect(|callback, user| {
            // SAFETY: the operation and the values are live, and as many as is said.
            made = unsafe {
                ffi::phlConversionRetype(
                    self.raw,
                    self.converter,
                    self.op.to_raw(),
                    values.as_ptr(),
                    sizes.as_ptr(),
                    sizes.len() as isize,
                    callback,
                    user,
                )
            };
        });
        if made.ptr.is_null() {
            self.is_done = false;
            return Err(Error::invalid(String::from_utf8_lossy(&reason)));
        }
        // SAFETY: MLIR made the operation just now.
        note(unsafe { Op::from_raw(made) });
        Ok(true)
    }

    /// Moves the blocks of a region to an operation that the pattern made, into its empty region of
    /// the same index. Converts the types of their arguments.
    ///
    /// # Errors
    /// There are no such regions, or one has blocks already; or a type cannot be converted.
    pub fn move_region(&mut self, index: usize, to: Op<'p>) -> Result<()> {
        use melior::ir::RegionLike;
        let name = op_name(to);
        let here = self.op.regions().nth(index).is_some();
        let there = to.regions().nth(index);
        if !here || there.is_none_or(|region| region.first_block().is_some()) {
            return Err(Error::invalid(format!(
                "region {index} of '{}' cannot move to '{name}', which has none there, or one with blocks",
                op_name(self.op)
            )));
        }
        let mut around = std::iter::successors(Some(to), |op| op.parent_operation());
        if around.any(|op| crate::ir::edit::same(op, self.op)) {
            return Err(Error::invalid(format!("'{name}' is inside of what was to move to it")));
        }
        let (from, to) = (self.op.to_raw(), to.to_raw());
        // SAFETY: both operations are live and have the region.
        let moved = unsafe {
            ffi::phlConversionMoveRegion(self.raw, self.converter, from, to, index as isize)
        };
        match moved {
            true => Ok(()),
            false => Err(Error::invalid("the types of its arguments cannot be converted")),
        }
    }

    fn finish(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_done, true) {
            return Err(Error::invalid(format!("'{}' was replaced already", op_name(self.op))));
        }
        Ok(())
    }
}
