//! Code of a module in this process: functions of the LLVM dialect, compiled by MLIR's execution engine, and functions of
//! the program that they call.
//!
//! What is compiled does what its module says, to any memory of the process: [`Session::jit`] is `unsafe`. The driver of
//! [`crate::Toolkit::main`] runs functions in a process of their own (`--run FUNCTION`), which needs no such word.

use super::Session;
use crate::{Error, Result, ir};
use melior::{
    StringRef,
    ir::{Module, RegionLike, Type, TypeLike, operation::OperationLike},
};
use mlir_sys as sys;
use std::{
    collections::BTreeMap,
    ffi::{CString, c_void},
    fmt,
    io::Write,
};

/// An argument or a result of a compiled function.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// `i1`.
    Bool(bool),
    /// `i8`.
    I8(i8),
    /// `i16`.
    I16(i16),
    /// `i32`.
    I32(i32),
    /// `i64`.
    I64(i64),
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::I8(value) => value.fmt(f),
            Self::I16(value) => value.fmt(f),
            Self::I32(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::F32(value) => value.fmt(f),
            Self::F64(value) => value.fmt(f),
        }
    }
}

impl Number {
    /// The number of a type that a text gives.
    fn parse(ty: &str, text: &str) -> Option<Self> {
        match ty {
            "i1" => text.parse().ok().map(Self::Bool),
            "i8" => text.parse().ok().map(Self::I8),
            "i16" => text.parse().ok().map(Self::I16),
            "i32" => text.parse().ok().map(Self::I32),
            "i64" => text.parse().ok().map(Self::I64),
            "f32" => text.parse().ok().map(Self::F32),
            "f64" => text.parse().ok().map(Self::F64),
            _ => None,
        }
    }

    fn ty(self) -> &'static str {
        match self {
            Self::Bool(_) => "i1",
            Self::I8(_) => "i8",
            Self::I16(_) => "i16",
            Self::I32(_) => "i32",
            Self::I64(_) => "i64",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }

    /// The number in memory.
    fn store(self) -> u64 {
        let mut room = [0_u8; 8];
        let mut put = |bytes: &[u8]| room[..bytes.len()].copy_from_slice(bytes);
        match self {
            Self::Bool(value) => put(&[u8::from(value)]),
            Self::I8(value) => put(&value.to_ne_bytes()),
            Self::I16(value) => put(&value.to_ne_bytes()),
            Self::I32(value) => put(&value.to_ne_bytes()),
            Self::I64(value) => put(&value.to_ne_bytes()),
            Self::F32(value) => put(&value.to_ne_bytes()),
            Self::F64(value) => put(&value.to_ne_bytes()),
        }
        u64::from_ne_bytes(room)
    }

    fn load(ty: &str, room: u64) -> Option<Self> {
        let b = room.to_ne_bytes();
        Some(match ty {
            "i1" => Self::Bool(b[0] & 1 != 0),
            "i8" => Self::I8(i8::from_ne_bytes([b[0]])),
            "i16" => Self::I16(i16::from_ne_bytes([b[0], b[1]])),
            "i32" => Self::I32(i32::from_ne_bytes([b[0], b[1], b[2], b[3]])),
            "i64" => Self::I64(i64::from_ne_bytes(b)),
            "f32" => Self::F32(f32::from_ne_bytes([b[0], b[1], b[2], b[3]])),
            "f64" => Self::F64(f64::from_ne_bytes(b)),
            _ => return None,
        })
    }
}

/// A function of the program that compiled code calls by a name.
#[derive(Clone, Debug)]
pub(crate) struct HostFunction {
    name: String,
    address: usize,
    /// The type that the module has to declare.
    ty: String,
}

mod sealed {
    use super::Number;

    /// A number of a compiled function.
    pub trait Scalar: Sized {
        #[doc(hidden)]
        const TYPE: &'static str;
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "nobody else has such a type")]
        fn number(self) -> Option<Number>;
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "nobody else has such a type")]
        fn of(number: Option<Number>) -> Option<Self>;
    }

    /// The arguments of a compiled function: a tuple of numbers.
    pub trait Arguments {
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "nobody else has such a type")]
        fn numbers(self) -> Vec<Number>;
    }

    /// A function `extern "C"` of numbers.
    pub trait Callable {
        #[doc(hidden)]
        fn ty() -> String;
        #[doc(hidden)]
        fn address(self) -> usize;
    }
}
pub use sealed::Callable;
use sealed::{Arguments, Scalar};

macro_rules! scalar {
    ($ty:ty, $variant:ident, $text:literal) => {
        #[allow(private_interfaces, reason = "nobody else has such a type")]
        impl Scalar for $ty {
            const TYPE: &'static str = $text;
            fn number(self) -> Option<Number> {
                Some(Number::$variant(self))
            }
            fn of(number: Option<Number>) -> Option<Self> {
                match number {
                    Some(Number::$variant(value)) => Some(value),
                    _ => None,
                }
            }
        }
    };
}
scalar!(bool, Bool, "i1");
scalar!(i8, I8, "i8");
scalar!(i16, I16, "i16");
scalar!(i32, I32, "i32");
scalar!(i64, I64, "i64");
scalar!(f32, F32, "f32");
scalar!(f64, F64, "f64");

#[allow(private_interfaces, reason = "nobody else has such a type")]
impl Scalar for () {
    const TYPE: &'static str = "void";
    fn number(self) -> Option<Number> {
        None
    }
    fn of(number: Option<Number>) -> Option<Self> {
        number.is_none().then_some(())
    }
}

/// A number that registers pass as it is.
trait Passed: Scalar {}
impl Passed for () {}
impl Passed for i32 {}
impl Passed for i64 {}
impl Passed for f32 {}
impl Passed for f64 {}

macro_rules! tuples {
    ($($argument:ident),*) => {
        #[allow(private_interfaces, reason = "nobody else has such a type")]
        impl<$($argument: Scalar),*> Arguments for ($($argument,)*) {
            fn numbers(self) -> Vec<Number> {
                #[allow(non_snake_case, reason = "a name for each type")]
                let ($($argument,)*) = self;
                let all: Vec<Option<Number>> = vec![$($argument.number()),*];
                all.into_iter().flatten().collect()
            }
        }

        #[allow(private_bounds, reason = "nobody else has such a type")]
        impl<R: Passed, $($argument: Passed),*> Callable for extern "C" fn($($argument),*) -> R {
            fn ty() -> String {
                let arguments: Vec<&str> = vec![$($argument::TYPE),*];
                format!("!llvm.func<{} ({})>", R::TYPE, arguments.join(", "))
            }
            fn address(self) -> usize {
                self as usize
            }
        }
    };
}
tuples!();
tuples!(A);
tuples!(A, B);
tuples!(A, B, C);
tuples!(A, B, C, D);

impl HostFunction {
    pub fn new<F: Callable>(name: impl Into<String>, function: F) -> Self {
        Self { name: name.into(), address: function.address(), ty: F::ty() }
    }
}

/// The functions that upstream's `vector.print` calls. They write to standard output.
fn printing() -> Vec<HostFunction> {
    fn write(text: fmt::Arguments<'_>) {
        // Nobody can be told that standard output is closed.
        let _ = std::io::stdout().write_fmt(text);
    }
    extern "C" fn int(value: i64) {
        write(format_args!("{value}"));
    }
    extern "C" fn unsigned(value: i64) {
        write(format_args!("{}", value as u64));
    }
    extern "C" fn single(value: f32) {
        write(format_args!("{value}"));
    }
    extern "C" fn double(value: f64) {
        write(format_args!("{value}"));
    }
    extern "C" fn open() {
        write(format_args!("( "));
    }
    extern "C" fn close() {
        write(format_args!(" )"));
    }
    extern "C" fn comma() {
        write(format_args!(", "));
    }
    extern "C" fn newline() {
        write(format_args!("\n"));
    }
    vec![
        HostFunction::new("printI64", int as extern "C" fn(_)),
        HostFunction::new("printU64", unsigned as extern "C" fn(_)),
        HostFunction::new("printF32", single as extern "C" fn(_)),
        HostFunction::new("printF64", double as extern "C" fn(_)),
        HostFunction::new("printOpen", open as extern "C" fn()),
        HostFunction::new("printClose", close as extern "C" fn()),
        HostFunction::new("printComma", comma as extern "C" fn()),
        HostFunction::new("printNewline", newline as extern "C" fn()),
    ]
}

/// The type of a function of the LLVM dialect.
#[derive(Clone, Debug)]
struct Signature {
    arguments: Vec<String>,
    result: String,
}

impl Signature {
    fn of(ty: Type<'_>) -> Self {
        // SAFETY: the type is that of a function of the LLVM dialect, and indices are in range.
        unsafe {
            let raw = ty.to_raw();
            let text = |ty: sys::MlirType| {
                Type::from_raw(ty).to_string().trim_start_matches("!llvm.").to_owned()
            };
            let count = sys::mlirLLVMFunctionTypeGetNumInputs(raw);
            let input = |at| text(sys::mlirLLVMFunctionTypeGetInput(raw, at));
            Self {
                arguments: (0..count).map(input).collect(),
                result: text(sys::mlirLLVMFunctionTypeGetReturnType(raw)),
            }
        }
    }
}

/// MLIR's execution engine.
struct Engine(sys::MlirExecutionEngine);

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: the engine is live, and this is its only owner.
        unsafe { sys::mlirExecutionEngineDestroy(self.0) };
    }
}

// SAFETY: what is compiled belongs to no thread, and is looked up under the engine's own lock.
unsafe impl Send for Engine {}

/// Compiled functions of a module. They live in this process until it is dropped.
pub struct Jit {
    engine: Engine,
    functions: BTreeMap<String, Signature>,
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("functions", &self.functions).finish_non_exhaustive()
    }
}

impl Session {
    /// Compiles a module of the LLVM dialect for this machine. Functions that it declares are those of
    /// [`Toolkit::host`](crate::Toolkit::host), those that `vector.print` calls, or of the C library.
    ///
    /// ```
    /// # use phaseline_toolkit::{Toolkit, upstream};
    /// # fn main() -> phaseline_toolkit::Result<()> {
    /// extern "C" fn half(x: f64) -> f64 {
    ///     x / 2.0
    /// }
    /// let parts = [upstream::arith(), upstream::func(), upstream::llvm()];
    /// let toolkit = Toolkit::new("my tool").upstream(parts);
    /// let session = toolkit.host("half", half as extern "C" fn(f64) -> f64).session();
    /// let text = b"func.func private @half(f64) -> f64
    ///     func.func @f(%x: f64) -> f64 {
    ///       %0 = call @half(%x) : (f64) -> f64
    ///       %1 = arith.addf %0, %x : f64
    ///       return %1 : f64
    ///     }";
    /// let mut module = session.parse(text, "f.mlir")?;
    /// session.run_pipeline(&mut module, "builtin.module(convert-to-llvm)")?;
    /// // SAFETY: the functions divide and add.
    /// let jit = unsafe { session.jit(&module)? };
    /// let y: f64 = jit.call("f", (3.0,))?;
    /// assert_eq!(y, 4.5);
    /// let wrong = jit.call::<i64>("f", (3.0,)).expect_err("is a float");
    /// assert_eq!(wrong.to_string(), "'f' gives f64, and was to give i64");
    /// let wrong = jit.call::<f64>("f", (3_i64,)).expect_err("is an integer");
    /// assert_eq!(wrong.to_string(), "'f' takes (f64), and was given (i64)");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The functions run in this process. With any numbers that [`Jit::call`] is given, they do
    /// only what the process may do.
    ///
    /// # Errors
    /// The module is not valid, or has operations of other dialects. A function that it declares is
    /// nowhere, or of another type.
    pub unsafe fn jit(&self, module: &Module<'_>) -> Result<Jit> {
        self.check_ir(module)?;
        let host = self.host.iter().cloned();
        let known: Vec<_> = printing().into_iter().chain(host).collect();
        let mut functions = BTreeMap::new();
        for op in ir::ops_of(ir::root(module)) {
            match ir::op_name(op) {
                "llvm.func" => {}
                name if name.starts_with("llvm.") => continue,
                name => {
                    return Err(Error::invalid(format!(
                        "'{name}' is not of the LLVM dialect, to which a module is lowered before it is run"
                    )));
                }
            }
            let name = ir::attr_str(op, "sym_name").unwrap_or_default();
            let ty = ir::attr(op, "function_type").and_then(ir::attribute::held_type);
            let ty = ty.ok_or_else(|| Error::internal("a function without a type"))?;
            match op.regions().next().is_some_and(|body| body.first_block().is_some()) {
                true => {
                    functions.insert(name, Signature::of(ty));
                }
                false => declared(&name, &ty.to_string(), &known)?,
            }
        }
        // The engine needs the translation of the module to work: it says what is wrong itself, and gives none then.
        // SAFETY: the module is live and valid.
        let raw = unsafe {
            sys::mlirExecutionEngineCreate(module.to_raw(), 2, 0, std::ptr::null(), false, false)
        };
        if raw.ptr.is_null() {
            return Err(self.failure(
                "the module cannot be compiled: what is not of the LLVM dialect has to be lowered",
            ));
        }
        let engine = Engine(raw);
        for one in known.iter().enumerate().filter_map(|(at, one)| {
            // The last of a name counts.
            let hidden = known[at + 1..].iter().any(|other| other.name == one.name);
            (!hidden).then_some(one)
        }) {
            let name = StringRef::new(&one.name).to_raw();
            // SAFETY: the address is that of a function of the type that its declaration has.
            unsafe {
                sys::mlirExecutionEngineRegisterSymbol(raw, name, one.address as *mut c_void)
            };
        }
        // SAFETY: the engine is live.
        unsafe { sys::mlirExecutionEngineInitialize(raw) };
        Ok(Jit { engine, functions })
    }
}

impl Jit {
    /// Calls a function with a tuple of up to four numbers. The result is a number, or `()`.
    ///
    /// # Errors
    /// There is no such function; it takes or gives other numbers, or anything but numbers.
    pub fn call<R: Scalar>(&self, name: &str, arguments: impl Arguments) -> Result<R> {
        let result = &self.signature(name)?.result;
        if result != R::TYPE {
            return Err(Error::invalid(format!(
                "'{name}' gives {result}, and was to give {}",
                R::TYPE
            )));
        }
        R::of(self.invoke(name, &arguments.numbers())?)
            .ok_or_else(|| Error::internal(format!("'{name}' gave another number than it says")))
    }

    fn invoke(&self, name: &str, arguments: &[Number]) -> Result<Option<Number>> {
        let Signature { arguments: types, result } = self.signature(name)?;
        let given: Vec<_> = arguments.iter().map(|one| one.ty()).collect();
        if given != *types {
            return Err(Error::invalid(format!(
                "'{name}' takes ({}), and was given ({})",
                types.join(", "),
                given.join(", ")
            )));
        }
        let numbers = result == "void" || Number::load(result, 0).is_some();
        if !numbers {
            return Err(Error::invalid(format!(
                "'{name}' gives {result}: functions of numbers can be called"
            )));
        }
        let entry = format!("_mlir_{name}");
        // SAFETY: the engine is live.
        let entry = unsafe {
            sys::mlirExecutionEngineLookup(self.engine.0, StringRef::new(&entry).to_raw())
        };
        if entry.is_null() {
            return Err(Error::invalid(format!("'{name}' could not be linked")));
        }
        let mut rooms: Vec<u64> = arguments.iter().map(|one| one.store()).collect();
        rooms.push(0);
        let mut places: Vec<*mut u64> = rooms.iter_mut().map(std::ptr::from_mut).collect();
        // SAFETY: the engine makes such a function for each that has a body. Its places are as many as arguments and
        // result, each with room for any number; what it does is what `jit` was promised.
        unsafe {
            let entry = std::mem::transmute::<*mut c_void, extern "C" fn(*mut *mut u64)>(entry);
            entry(places.as_mut_ptr());
        }
        Ok(rooms.last().and_then(|room| Number::load(result, *room)))
    }

    /// Reads arguments of a function.
    ///
    /// # Errors
    /// There is no such function, or a text is no number of the type that it takes.
    fn parse(&self, name: &str, texts: &[String]) -> Result<Vec<Number>> {
        let types = &self.signature(name)?.arguments;
        if types.len() != texts.len() {
            return Err(Error::invalid(format!(
                "'{name}' takes ({}), and was given {} numbers",
                types.join(", "),
                texts.len()
            )));
        }
        let pairs = types.iter().zip(texts);
        let number = |(ty, text): (&String, &String)| {
            Number::parse(ty, text.trim())
                .ok_or_else(|| Error::invalid(format!("'{text}' is no {ty}, which '{name}' takes")))
        };
        pairs.map(number).collect()
    }

    fn signature(&self, name: &str) -> Result<&Signature> {
        self.functions.get(name).ok_or_else(|| {
            let names: Vec<_> = self.functions.keys().map(String::as_str).collect();
            Error::invalid(format!(
                "there is no function '{name}'; there are [{}]",
                names.join(", ")
            ))
        })
    }
}

/// Fails if a function that a module declares is nowhere, or of another type.
fn declared(name: &str, ty: &str, known: &[HostFunction]) -> Result<()> {
    if let Some(host) = known.iter().rev().find(|host| host.name == name) {
        return match host.ty == ty {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "the module declares '{name}' as {ty}, and the program has it as {}",
                host.ty
            ))),
        };
    }
    let symbol = CString::new(name).unwrap_or_default();
    // SAFETY: asks for an address only.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
    match found.is_null() && !name.starts_with("llvm.") {
        false => Ok(()),
        true => Err(Error::invalid(format!(
            "the function '{name}' of type {ty} has no body: give the program one by Toolkit::host, or leave out what \
             nothing calls (symbol-dce)"
        ))),
    }
}

/// Compiles a module in this process, calls a function of it, and gives the result.
///
/// # Safety
/// As for [`Session::jit`].
pub(crate) unsafe fn run(
    session: &Session,
    module: &Module<'_>,
    name: &str,
    arguments: &[String],
) -> Result<Option<String>> {
    // SAFETY: the caller's contract.
    let jit = unsafe { session.jit(module)? };
    let arguments = jit.parse(name, arguments)?;
    Ok(jit.invoke(name, &arguments)?.map(|number| number.to_string()))
}
