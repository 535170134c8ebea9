//! Patterns as text in MLIR's `pdl` dialect, which MLIR's greedy driver applies. Constraints and rewrites that the text names
//! are closures.
//!
//! What MLIR's interpreter of patterns trusts is checked: names, the kinds of arguments and results of closures, results of
//! operations by their numbers. Replacements and erasures are done at the end of a rewrite, by a [`Rewriter`], which checks them.
//! A rewrite cannot fail in MLIR's greedy driver: behind an error it goes on with parts that stand in, and the pass fails.

mod value;

pub use value::PdlValue;

use self::value::{Kind, add_type, add_value, list, push, stand_in};
use super::{
    Attribute, Op, OpSpec, Type, Val,
    context::{Access, with_access},
    edit, nesting, origin,
    rewrite::{self, Rewriter, RuleError},
};
use crate::{Error, Result, ffi};
use melior::{
    Context, StringRef,
    ir::{Location, Module, TypeLike, ValueLike, operation::OperationLike},
};
use mlir_sys as sys;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ffi::c_void,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// The dialects that PDL takes.
pub(crate) const DIALECTS: [&str; 2] = ["pdl", "pdl_interp"];

/// Adds the dialects that PDL takes.
///
/// # Safety
/// The registry is live.
pub(crate) unsafe extern "C" fn register(registry: sys::MlirDialectRegistry) {
    // SAFETY: as the caller says; the handles are MLIR's.
    unsafe {
        for handle in
            [sys::mlirGetDialectHandle__pdl__(), sys::mlirGetDialectHandle__pdl_interp__()]
        {
            sys::mlirDialectHandleInsertDialect(handle, registry);
        }
    }
}

type Constraint = dyn for<'c> Fn(&[PdlValue<'c>]) -> Result<bool> + Send + Sync;

type Rewrite = dyn for<'r, 'c> Fn(&mut Rewriter<'r, 'c>, &[PdlValue<'c>]) -> Result<Vec<PdlValue<'c>>>
    + Send
    + Sync;

/// Patterns in MLIR's `pdl` dialect. [`crate::pass::PassCx::rewrite_pdl`] applies them; the toolkit has
/// [`crate::upstream::pdl`].
///
/// ```
/// use phaseline_toolkit::{ir::{self, pdl::Patterns}, prelude::*};
///
/// fn patterns() -> Patterns {
///     Patterns::pdl("
///       pdl.pattern @double : benefit(1) {
///         %type = pdl.type
///         %x = pdl.operand : %type
///         %add = pdl.operation \"arith.addi\"(%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
///         pdl.apply_native_constraint \"is-wide\"(%type : !pdl.type)
///         pdl.rewrite %add {
///           %one = pdl.apply_native_rewrite \"one\"(%type : !pdl.type) : !pdl.value
///           %shl = pdl.operation \"arith.shli\"(%x, %one : !pdl.value, !pdl.value) -> (%type : !pdl.type)
///           pdl.replace %add with %shl
///         }
///       }")
///     .constraint("is-wide", |given| Ok(ir::integer_width(given[0].ty()?).is_some_and(|bits| bits >= 32)))
///     .rewrite("one", |rewriter, given| {
///         let one = rewriter.builder()?.constant_int(given[0].ty()?, 1)?;
///         Ok(vec![one.into()])
///     })
/// }
///
/// pass! {
///     pub Double = "double-by-shifts" on "builtin.module": "Make sums of equal values shifts", |cx| {
///         cx.rewrite_pdl(&patterns())?;
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let toolkit = Toolkit::new("my tool").upstream([upstream::arith(), upstream::func(), upstream::pdl()]);
/// let session = toolkit.run_pass::<Double>()?.session();
/// let text = b"func.func @f(%x: i32, %y: i8) -> (i32, i8) {
///     %0 = arith.addi %x, %x : i32
///     %1 = arith.addi %y, %y : i8
///     return %0, %1 : i32, i8
///   }";
/// let mut module = session.parse(text, "f.mlir")?;
/// session.run_pipeline(&mut module, "builtin.module(double-by-shifts)")?;
/// let names: Vec<_> = ir::edit::walk(ir::root(&module)).into_iter().map(ir::op_name).collect();
/// assert_eq!(names, ["func.func", "arith.constant", "arith.shli", "arith.addi", "func.return"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Patterns {
    text: String,
    constraints: BTreeMap<String, Arc<Constraint>>,
    rewrites: BTreeMap<String, Arc<Rewrite>>,
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.constraints.keys().chain(self.rewrites.keys());
        f.debug_struct("Patterns")
            .field("names", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Patterns {
    /// The patterns of a text, which is read where they are applied: `pdl.pattern` operations.
    pub fn pdl(text: impl Into<String>) -> Self {
        Self { text: text.into(), constraints: BTreeMap::new(), rewrites: BTreeMap::new() }
    }

    /// Gives a constraint that patterns name by `pdl.apply_native_constraint`: it says if the pattern matches. It is given
    /// what the pattern passes, in order.
    #[must_use]
    pub fn constraint(
        mut self,
        name: &str,
        holds: impl for<'c> Fn(&[PdlValue<'c>]) -> Result<bool> + Send + Sync + 'static,
    ) -> Self {
        self.constraints.insert(name.to_owned(), Arc::new(holds));
        self
    }

    /// Gives a rewrite that patterns name. As `pdl.apply_native_rewrite` it builds and sets attributes, and gives what the
    /// pattern goes on with; as `pdl.rewrite %root with "NAME"` it is given the root first, and is the whole rewrite.
    #[must_use]
    pub fn rewrite(
        mut self,
        name: &str,
        rewrite: impl for<'r, 'c> Fn(
            &mut Rewriter<'r, 'c>,
            &[PdlValue<'c>],
        ) -> Result<Vec<PdlValue<'c>>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.rewrites.insert(name.to_owned(), Arc::new(rewrite));
        self
    }

    /// Applies the patterns to what is in an operation. Gives the number of changes.
    pub(crate) fn apply<'c>(&self, op: Op<'c>) -> std::result::Result<u64, RuleError<'c>> {
        let context = super::context_of(op);
        let at = |error: Error| RuleError { location: op.location(), message: error.to_string() };
        let shared = Shared {
            context,
            root: op.location(),
            error: RefCell::new(None),
            gone: RefCell::default(),
            changes: Cell::new(0),
        };
        let (module, sites) = self.sites(context, &shared).map_err(at)?;
        let module = std::mem::ManuallyDrop::new(module);
        // SAFETY: the set takes the module, and is destroyed behind the driver; the sites outlive it, at their places.
        let converged = unsafe {
            let patterns = sys::mlirPDLPatternModuleFromModule(module.to_raw());
            for site in &sites {
                let (name, user) = (StringRef::new(&site.name).to_raw(), std::ptr::from_ref(site));
                let user = user.cast_mut().cast::<c_void>();
                match site.work {
                    Work::Constraint(_) => sys::mlirPDLPatternModuleRegisterConstraintFunction(
                        patterns,
                        name,
                        Some(call),
                        user,
                    ),
                    _ => sys::mlirPDLPatternModuleRegisterRewriteFunction(
                        patterns,
                        name,
                        Some(call),
                        user,
                    ),
                }
            }
            let set = sys::mlirRewritePatternSetFromPDLPatternModule(patterns);
            sys::mlirPDLPatternModuleDestroy(patterns);
            rewrite::greedy(op, set)
        };
        match shared.error.take() {
            Some(error) => Err(error),
            None if !converged => {
                Err(at(Error::invalid("the PDL patterns change the operations without an end")))
            }
            None => Ok(shared.changes.get()),
        }
    }

    /// Reads the text; each place that calls a closure, replaces or erases becomes a site with a name of its own.
    fn sites<'s, 'c>(
        &self,
        context: &'c Context,
        shared: &'s Shared<'c>,
    ) -> Result<(Module<'c>, Vec<Site<'s, 'c>>)> {
        for dialect in DIALECTS {
            // SAFETY: the context is live.
            let known = unsafe {
                sys::mlirContextGetOrLoadDialect(context.to_raw(), StringRef::new(dialect).to_raw())
            };
            if known.ptr.is_null() {
                return Err(Error::invalid(format!(
                    "PDL patterns take the dialect '{dialect}': add upstream::pdl() to the toolkit"
                )));
            }
        }
        nesting::check_text(self.text.as_bytes())
            .map_err(|(line, what)| Error::invalid(format!("PDL patterns:{line}: {what}")))?;
        let module = super::parse_module(context, self.text.as_bytes(), "PDL patterns")
            .ok_or_else(|| Error::invalid("the PDL patterns are not valid MLIR"))?;
        let mut sites = Sites { patterns: self, shared, all: vec![] };
        for pattern in super::ops_of(super::root(&module)) {
            if super::op_name(pattern) != "pdl.pattern" {
                return Err(Error::invalid(format!(
                    "the PDL patterns have a {}; a pdl.pattern is wanted",
                    super::op_name(pattern)
                )));
            }
            sites.of_pattern(pattern)?;
        }
        let all = sites.all;
        Ok((module, all))
    }
}

/// The state that the sites of one application share.
struct Shared<'c> {
    context: &'c Context,
    /// The operation that the patterns are applied to.
    root: Location<'c>,
    error: RefCell<Option<RuleError<'c>>>,
    /// Operations that the rewrite which runs is to erase, and by what it is to replace them.
    gone: RefCell<Vec<(Op<'c>, Option<Vec<Val<'c>>>)>>,
    changes: Cell<u64>,
}

/// The work of a site.
enum Work {
    Constraint(Arc<Constraint>),
    /// A rewrite in the middle of others, or a whole one.
    Rewrite(Arc<Rewrite>, bool),
    /// An operation is replaced by what follows.
    Replace,
    /// An operation is erased.
    Erase,
    /// The end of a rewrite.
    End,
}

/// A place of the patterns that calls back.
struct Site<'s, 'c> {
    name: String,
    /// Its name in messages.
    about: String,
    work: Work,
    arguments: Vec<Kind>,
    results: Vec<Kind>,
    shared: &'s Shared<'c>,
}

/// The places of patterns.
struct Sites<'p, 's, 'c> {
    patterns: &'p Patterns,
    shared: &'s Shared<'c>,
    all: Vec<Site<'s, 'c>>,
}

impl Sites<'_, '_, '_> {
    fn of_pattern(&mut self, pattern: Op<'_>) -> Result<()> {
        let first =
            edit::walk(pattern).into_iter().find(|op| super::op_name(*op) == "pdl.operation");
        for op in edit::walk(pattern) {
            let name = super::op_name(op);
            let text = super::attr(op, "name").and_then(edit::string);
            match (name, text) {
                ("pdl.apply_native_constraint", Some(text)) => {
                    let found = self.patterns.constraints.get(&text).cloned();
                    let found = found.ok_or_else(|| {
                        unknown("constraint", &text, self.patterns.constraints.keys())
                    })?;
                    if !super::results(op).is_empty() {
                        return Err(Error::invalid(format!(
                            "the PDL constraint '{text}' is to give results: a constraint here gives true or false"
                        )));
                    }
                    self.native(op, format!("constraint {text}"), Work::Constraint(found))?;
                }
                ("pdl.apply_native_rewrite", Some(text)) => {
                    let found = self.rewrite(&text)?;
                    self.native(op, format!("rewrite {text}"), Work::Rewrite(found, false))?;
                }
                ("pdl.rewrite", text) => {
                    let last = edit::entry_block(op)
                        .and_then(|block| super::ops(block).into_iter().last());
                    match (text, last, first) {
                        (Some(text), None, _) => {
                            let found = self.rewrite(&text)?;
                            self.native(op, format!("rewrite {text}"), Work::Rewrite(found, true))?;
                        }
                        (_, Some(last), Some(first)) => {
                            self.insert(last, true, Work::End, &[super::result0(first)?])?;
                        }
                        _ => {}
                    }
                }
                ("pdl.erase", _) => {
                    self.insert(op, false, Work::Erase, &super::operands(op))?;
                    edit::remove(op)?;
                }
                ("pdl.replace", _) => {
                    self.insert(op, false, Work::Replace, &super::operands(op))?;
                    edit::remove(op)?;
                }
                ("pdl.result", _) => check_result(op)?,
                ("pdl.operation", _) => check_creation(op)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn rewrite(&self, name: &str) -> Result<Arc<Rewrite>> {
        let found = self.patterns.rewrites.get(name).cloned();
        found.ok_or_else(|| unknown("rewrite", name, self.patterns.rewrites.keys()))
    }

    /// Gives a call of a closure a name of its own.
    fn native(&mut self, op: Op<'_>, about: String, work: Work) -> Result<()> {
        let mut arguments = kinds(&super::operands(op), &about)?;
        if matches!(work, Work::Rewrite(_, true)) && arguments.first() != Some(&Kind::Operation) {
            return Err(Error::invalid(format!(
                "the PDL {about} is to have the root of its pattern"
            )));
        }
        let results = kinds(&super::results(op), &about)?;
        let name = self.add(about, work, std::mem::take(&mut arguments), results);
        let name = melior::ir::attribute::StringAttribute::new(super::context_of(op), &name);
        edit::set_attr(op, "name", name.into());
        Ok(())
    }

    /// Has the interpreter call in front of an operation of a pattern, or behind it.
    fn insert<'x>(
        &mut self,
        at: Op<'x>,
        behind: bool,
        work: Work,
        given: &[Val<'x>],
    ) -> Result<()> {
        let about = super::op_name(at).to_owned();
        let arguments = kinds(given, &about)?;
        let name = self.add(about, work, arguments, vec![]);
        let builder = match (behind, at.block()) {
            (true, Some(block)) => {
                super::Builder::at_end(super::context_of(at), block, at.location())
            }
            _ => super::Builder::before(at)?,
        };
        let attributes = vec![("name", builder.str_attr(&name))];
        builder.create(
            "pdl.apply_native_rewrite",
            OpSpec { operands: given, attributes, ..Default::default() },
        )?;
        Ok(())
    }

    fn add(
        &mut self,
        about: String,
        work: Work,
        arguments: Vec<Kind>,
        results: Vec<Kind>,
    ) -> String {
        let name = format!("phaseline.{}", self.all.len());
        let site =
            Site { name: name.clone(), about, work, arguments, results, shared: self.shared };
        self.all.push(site);
        name
    }
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n String>) -> Error {
    let known: Vec<_> = known.map(String::as_str).collect();
    let known = match known.is_empty() {
        true => "there is none".to_owned(),
        false => format!("there are: {}", known.join(", ")),
    };
    Error::invalid(format!(
        "the PDL patterns name the {what} '{name}', which is not given; {known}"
    ))
}

/// The kinds of values of patterns.
fn kinds(values: &[Val<'_>], about: &str) -> Result<Vec<Kind>> {
    let kind = |value: &Val<'_>| {
        let ty = value.r#type();
        // SAFETY: the type is live.
        let is = |test: unsafe extern "C" fn(sys::MlirType) -> bool| unsafe { test(ty.to_raw()) };
        Ok(match () {
            () if is(sys::mlirTypeIsAPDLAttributeType) => Kind::Attribute,
            () if is(sys::mlirTypeIsAPDLOperationType) => Kind::Operation,
            () if is(sys::mlirTypeIsAPDLTypeType) => Kind::Type,
            () if is(sys::mlirTypeIsAPDLValueType) => Kind::Value,
            () => match ty.to_string().as_str() {
                "!pdl.range<type>" => Kind::Types,
                "!pdl.range<value>" => Kind::Values,
                _ => {
                    return Err(Error::invalid(format!(
                        "the PDL {about} has a {ty}, which closures do not take: ranges are of types or of values"
                    )));
                }
            },
        })
    };
    values.iter().map(kind).collect()
}

/// Fails for a result of an operation that may not have so many, in a rewrite, where nothing asks.
fn check_result(op: Op<'_>) -> Result<()> {
    if op.parent_operation().is_none_or(|around| super::op_name(around) != "pdl.rewrite") {
        return Ok(());
    }
    let index = super::attr(op, "index").and_then(super::attribute::int).unwrap_or(0);
    let of = super::operands(op).first().copied().and_then(edit::defining_op);
    let types = of
        .into_iter()
        .flat_map(super::operands)
        .filter(|value| value.r#type().to_string() == "!pdl.type");
    match i64::try_from(types.count()).is_ok_and(|count| index < count) {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "the PDL patterns take result {index} of an operation without the type of that: write it, as -> (%type : !pdl.type)"
        ))),
    }
}

/// Fails for an operation that a rewrite makes with types that MLIR infers, of operands that may not fit.
fn check_creation(op: Op<'_>) -> Result<()> {
    let is_made =
        op.parent_operation().is_some_and(|around| super::op_name(around) == "pdl.rewrite");
    let name = super::attr(op, "opName").and_then(edit::string);
    let Some(name) = name.filter(|_| is_made) else { return Ok(()) };
    let has_types = super::operands(op).iter().any(|value| {
        let text = value.r#type().to_string();
        text == "!pdl.type" || text == "!pdl.range<type>"
    });
    // SAFETY: the name and the context are live.
    let infers = unsafe {
        sys::mlirOperationImplementsInterfaceStatic(
            StringRef::new(&name).to_raw(),
            super::context_of(op).to_raw(),
            sys::mlirInferTypeOpInterfaceTypeID(),
        )
    };
    match infers && !has_types {
        true => Err(Error::invalid(format!(
            "the PDL patterns make {name} without the types of its results: write -> (%type : !pdl.type)"
        ))),
        false => Ok(()),
    }
}

unsafe extern "C" fn call(
    rewriter: sys::MlirPatternRewriter,
    results: sys::MlirPDLResultList,
    count: usize,
    values: *mut sys::MlirPDLValue,
    user: *mut c_void,
) -> sys::MlirLogicalResult {
    // SAFETY: `user` is a site of `Patterns::apply`, which outlives the driver; MLIR gives so many values.
    let is_ok = unsafe {
        let site = &*user.cast::<Site<'_, '_>>();
        let values = match count {
            0 => &[],
            count => std::slice::from_raw_parts(values, count),
        };
        site.call(sys::mlirPatternRewriterAsBase(rewriter), values, results)
    };
    sys::MlirLogicalResult { value: i8::from(is_ok) }
}

impl<'c> Site<'_, 'c> {
    /// Does the work; false for a constraint that does not hold, and behind an error.
    ///
    /// # Safety
    /// The interpreter of patterns calls with values of its own.
    unsafe fn call(
        &self,
        raw: sys::MlirRewriterBase,
        values: &[sys::MlirPDLValue],
        results: sys::MlirPDLResultList,
    ) -> bool {
        let is_constraint = matches!(self.work, Work::Constraint(_));
        let has_failed = self.shared.error.borrow().is_some();
        let made = match has_failed {
            true => None,
            // SAFETY: as the caller says.
            false => unsafe { self.try_work(raw, values) },
        };
        match made {
            Some(made) => made.is_some_and(|made| {
                for value in made {
                    // SAFETY: the list is that of this call, and takes live values.
                    unsafe { push(results, value) };
                }
                true
            }),
            None if is_constraint => false,
            None => {
                if matches!(self.work, Work::End) {
                    self.shared.gone.borrow_mut().clear();
                }
                let rewriter = self.rewriter(raw);
                for kind in &self.results {
                    if let Ok(value) = stand_in(&rewriter, *kind) {
                        // SAFETY: as above.
                        unsafe { push(results, value) };
                    }
                }
                true
            }
        }
    }

    fn rewriter(&self, raw: sys::MlirRewriterBase) -> Rewriter<'_, 'c> {
        let only_builds = matches!(self.work, Work::Rewrite(_, false));
        Rewriter::new(raw, self.shared.context, self.shared.changes.get(), only_builds)
    }

    /// Does the work; none behind an error, which is noted.
    ///
    /// # Safety
    /// As [`Self::call`].
    unsafe fn try_work(
        &self,
        raw: sys::MlirRewriterBase,
        values: &[sys::MlirPDLValue],
    ) -> Option<Option<Vec<PdlValue<'c>>>> {
        // SAFETY: as the caller says.
        let given = unsafe { self.read(values) };
        let location = given.iter().flatten().find_map(|value| match value {
            PdlValue::Operation(op) => Some(op.location()),
            PdlValue::Value(value) => edit::defining_op(*value).map(|op| op.location()),
            PdlValue::Values(values) => {
                values.iter().find_map(|value| edit::defining_op(*value)).map(|op| op.location())
            }
            PdlValue::Attribute(_) | PdlValue::Type(_) | PdlValue::Types(_) => None,
        });
        let work = || {
            if super::context::is_cancelled(self.shared.context) {
                return Err(Error::invalid("the patterns were cancelled"));
            }
            let given =
                given.as_deref().ok_or_else(|| Error::internal("values of another kind"))?;
            self.work(raw, given)
        };
        let message = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(made)) => return Some(made),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => {
                let text = super::context::panic_text(panic.as_ref());
                format!("panicked: {text}; the pattern passes {}", list(&self.arguments))
            }
        };
        let location = location.unwrap_or(self.shared.root);
        let message = format!("{message} [PDL {}]", self.about);
        *self.shared.error.borrow_mut() = Some(RuleError { location, message });
        None
    }

    fn work(
        &self,
        raw: sys::MlirRewriterBase,
        given: &[PdlValue<'c>],
    ) -> Result<Option<Vec<PdlValue<'c>>>> {
        match &self.work {
            Work::Constraint(holds) => {
                let holds = with_access(Access::Read, || holds(given))?;
                Ok(holds.then(Vec::new))
            }
            Work::Rewrite(rewrite, is_whole) => {
                let mut rewriter = self.rewriter(raw);
                let made = catch_unwind(AssertUnwindSafe(|| {
                    with_access(Access::Rewriter, || rewrite(&mut rewriter, given))
                }));
                rewriter.finish();
                let made = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                if *is_whole {
                    self.shared.changes.set(self.shared.changes.get() + 1);
                }
                self.check(&made)?;
                Ok(Some(made))
            }
            Work::Replace => {
                let with = given[1..].iter().flat_map(|value| match value {
                    PdlValue::Operation(op) => super::results(*op),
                    PdlValue::Value(value) => vec![*value],
                    PdlValue::Values(values) => values.clone(),
                    PdlValue::Attribute(_) | PdlValue::Type(_) | PdlValue::Types(_) => vec![],
                });
                self.shared.gone.borrow_mut().push((given[0].op()?, Some(with.collect())));
                Ok(Some(vec![]))
            }
            Work::Erase => {
                self.shared.gone.borrow_mut().push((given[0].op()?, None));
                Ok(Some(vec![]))
            }
            Work::End => {
                let mut rewriter = self.rewriter(raw);
                let gone = self.shared.gone.take();
                let done = gone.into_iter().try_for_each(|(op, with)| match with {
                    Some(with) => rewriter.replace(op, &with),
                    None => rewriter.erase(op),
                });
                rewriter.finish();
                self.shared.changes.set(self.shared.changes.get() + 1);
                done.map(|()| Some(vec![]))
            }
        }
    }

    fn check(&self, made: &[PdlValue<'c>]) -> Result<()> {
        let found: Vec<_> = made.iter().map(PdlValue::kind).collect();
        if found != self.results {
            return Err(Error::invalid(format!(
                "gives {}, and the pattern takes {}",
                list(&found),
                list(&self.results)
            )));
        }
        let context = self.shared.context;
        let what = || "what a rewrite gives".to_owned();
        made.iter().try_for_each(|value| match value {
            PdlValue::Attribute(attribute) => origin::check_home(context, attribute, what),
            PdlValue::Operation(op) => origin::check_home(context, op, what),
            PdlValue::Type(ty) => origin::check_home(context, ty, what),
            PdlValue::Types(types) => {
                types.iter().try_for_each(|ty| origin::check_home(context, ty, what))
            }
            PdlValue::Value(value) => origin::check_home(context, value, what),
            PdlValue::Values(values) => {
                values.iter().try_for_each(|value| origin::check_home(context, value, what))
            }
        })
    }

    /// The values of a call, by their kinds.
    ///
    /// # Safety
    /// As [`Self::call`].
    unsafe fn read(&self, values: &[sys::MlirPDLValue]) -> Option<Vec<PdlValue<'c>>> {
        let one = |(value, kind): (&sys::MlirPDLValue, &Kind)| {
            // SAFETY: the value is live, and what it is comes back null if it is of another kind.
            unsafe {
                Some(match kind {
                    Kind::Attribute => {
                        let raw = sys::mlirPDLValueAsAttribute(*value);
                        (!raw.ptr.is_null()).then(|| Attribute::from_raw(raw))?.into()
                    }
                    Kind::Operation => {
                        let raw = sys::mlirPDLValueAsOperation(*value);
                        (!raw.ptr.is_null()).then(|| Op::from_raw(raw))?.into()
                    }
                    Kind::Type => {
                        let raw = sys::mlirPDLValueAsType(*value);
                        (!raw.ptr.is_null()).then(|| Type::from_raw(raw))?.into()
                    }
                    Kind::Value => {
                        let raw = sys::mlirPDLValueAsValue(*value);
                        (!raw.ptr.is_null()).then(|| Val::from_raw(raw))?.into()
                    }
                    Kind::Types => {
                        let mut types: Vec<Type<'c>> = vec![];
                        let user = (&raw mut types).cast();
                        ffi::phlPdlTypes(*value, Some(add_type), user).then_some(())?;
                        types.into()
                    }
                    Kind::Values => {
                        let mut values: Vec<Val<'c>> = vec![];
                        let user = (&raw mut values).cast();
                        ffi::phlPdlValues(*value, Some(add_value), user).then_some(())?;
                        values.into()
                    }
                })
            }
        };
        (values.len() == self.arguments.len()).then_some(())?;
        values.iter().zip(&self.arguments).map(one).collect()
    }
}
