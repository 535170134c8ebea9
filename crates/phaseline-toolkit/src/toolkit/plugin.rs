//! Plugins: libraries with dialects and passes in Rust that a program loads while it runs.
//!
//! A plugin has Rust of its own, this crate among it; MLIR and the C++ of this crate are the program's. The two share values of
//! Rust, so both have to be built by one compiler of one version of this crate. What says so is read in the file,
//! before any code of the library runs.

use super::{Dialect, Toolkit};
use crate::{
    Error, Result, ffi,
    ir::{
        body::{Bodies, Body},
        context::{Carried, Statistic, panic_text},
        print,
        rewrite::Rule,
        shared,
    },
    upstream::Upstream,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use melior::StringRef;
use mlir_sys as sys;
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::BTreeMap,
    ffi::c_void,
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The symbol with the [`IDENTITY`] of a plugin.
const IDENTITY_SYMBOL: &str = "PHASELINE_PLUGIN";
/// The symbol of the function that registers.
const ENTRY: &[u8] = b"phaseline_plugin";
/// Symbols of plugins in C++.
const CPP: [&str; 2] = ["mlirGetPassPluginInfo", "mlirGetDialectPluginInfo"];

/// The things that a plugin gives to a toolkit, besides passes.
#[derive(Clone)]
pub(super) struct Given {
    pub all: Option<unsafe extern "C" fn(sys::MlirDialectRegistry)>,
    pub parts: Vec<Upstream>,
    pub dialects: Vec<Dialect>,
    pub bodies: Bodies,
}

/// Plugins of the process, by their files.
type Loaded = Mutex<BTreeMap<PathBuf, Given>>;

fn loaded() -> &'static Loaded {
    // SAFETY: nobody else asks for the place.
    unsafe { shared::value(ffi::PhlShared::PHL_SHARED_PLUGINS, Loaded::default) }
}

/// Loads a plugin, or gives what it gave before; nothing if it is one in C++.
pub(super) fn load(path: &Path) -> Result<Option<Given>> {
    let refuse = |reason: String| {
        Error::invalid(format!("the plugin '{}' cannot be loaded: {reason}", path.display()))
    };
    let file = match path.canonicalize().and_then(|file| Ok((fs::read(&file)?, file))) {
        Ok((bytes, file)) => match examine(&bytes).map_err(refuse)? {
            Language::Cpp => return Ok(None),
            Language::Rust => file,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(refuse("there is no such file".to_owned()));
        }
        Err(error) => return Err(refuse(error.to_string())),
    };
    let lock = || loaded().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(given) = lock().get(&file) {
        return Ok(Some(given.clone()));
    }
    let given = enter_library(&file).map_err(refuse)?;
    lock().insert(file, given.clone());
    Ok(Some(given))
}

/// The language of a plugin.
enum Language {
    Cpp,
    Rust,
}

/// Tells a plugin by its bytes, which are to be those of one that fits; the error is the reason if it cannot be loaded.
fn examine(bytes: &[u8]) -> Result<Language, String> {
    let file = object::File::parse(bytes).ok().filter(|file| file.kind() == ObjectKind::Dynamic);
    let file = file.ok_or("it is no shared library")?;
    let find = |name: &str| {
        file.dynamic_symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name))
    };
    let Some(symbol) = find(IDENTITY_SYMBOL) else {
        return match CPP.iter().any(|name| find(name).is_some()) {
            true => Ok(Language::Cpp),
            false => Err(format!(
                "it is no plugin: one in Rust says phaseline_toolkit::plugin!, one in C++ has {}",
                CPP.join(" or ")
            )),
        };
    };
    let identity = file
        .sections()
        .find_map(|section| section.data_range(symbol.address(), symbol.size()).ok().flatten());
    let theirs = String::from_utf8_lossy(identity.unwrap_or_default());
    let ours = String::from_utf8_lossy(&IDENTITY);
    let value = |text: &str, name: &str| -> String {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("nothing that is known", str::trim).to_owned()
    };
    let names = ours.lines().filter_map(|line| line.split_once(' '));
    let differences: Vec<_> = names
        .map(|(name, _)| (name, value(&theirs, name), value(&ours, name)))
        .filter(|(_, theirs, ours)| theirs != ours)
        .map(|(name, theirs, ours)| format!("{name} {theirs}, and this program with {ours}"))
        .collect();
    match differences.is_empty() {
        true => Ok(Language::Rust),
        false => Err(format!(
            "it was built with {}.\nBuild both with one compiler, and one version of phaseline-toolkit",
            differences.join("; with ")
        )),
    }
}

/// The function that `plugin!` makes.
type Entry = unsafe extern "C" fn(*mut c_void, sys::MlirStringCallback, *mut c_void) -> bool;

/// Opens a library, and has it register.
fn enter_library(file: &Path) -> Result<Given, String> {
    let program = Library::this();
    // SAFETY: the symbol is not called.
    if unsafe { program.get::<*const c_void>(b"phlShare") }.is_err() {
        return Err("this program exports nothing to plugins.\nIts build script is to say \
                    Build::new()?.loads_rust_plugins(\"PROGRAM\")"
            .to_owned());
    }
    // The library allocates by the program's allocator from its first function on.
    // SAFETY: nobody else asks for the place.
    unsafe { shared::value(ffi::PhlShared::PHL_SHARED_ALLOCATOR, || OURS) };
    // SAFETY: the library is a plugin of the same compiler and crate.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| {
        let error = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        match error.split_once("undefined symbol: ") {
            Some((_, symbol)) => format!(
                "this program lacks {symbol}.\nThe function comes with a part of upstream that the program's toolkit does \
                 not have"
            ),
            None => error,
        }
    })?;
    let mut given: Option<Given> = None;
    let mut succeeds = false;
    let reason = print::collect(|callback, user| {
        // SAFETY: the identity says that this is the type of the function and of the place, which live during the call.
        unsafe {
            if let Ok(entry) = library.get::<Entry>(ENTRY) {
                succeeds = entry((&raw mut given).cast(), callback, user);
            }
        }
    });
    // Passes that are registered live as long as the process.
    std::mem::forget(library);
    match given {
        Some(given) if succeeds => Ok(given),
        _ if reason.is_empty() => Err("it has no entry phaseline_plugin".to_owned()),
        _ => Err(String::from_utf8_lossy(&reason).into_owned()),
    }
}

/// Registers what a plugin has: the body of the function that `plugin!` makes.
///
/// # Safety
/// `given` is a place for an `Option<Given>`; the callback and `user` live during the call.
pub unsafe fn enter(
    register: impl FnOnce(Toolkit) -> Result<Toolkit>,
    given: *mut c_void,
    fault: sys::MlirStringCallback,
    user: *mut c_void,
) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(|| register(Toolkit::new("plugin"))?.into_given()));
    let reason = match outcome {
        Ok(Ok(made)) => {
            // SAFETY: the caller's contract.
            unsafe { *given.cast::<Option<Given>>() = Some(made) };
            return true;
        }
        Ok(Err(error)) => error.to_string(),
        Err(payload) => format!("its function panicked: {}", panic_text(payload.as_ref())),
    };
    // SAFETY: the caller's contract.
    fault.inspect(|fault| unsafe { fault(StringRef::new(&reason).to_raw(), user) });
    false
}

/// Functions of an allocator.
struct Functions {
    alloc: extern "C" fn(usize, usize) -> *mut u8,
    alloc_zeroed: extern "C" fn(usize, usize) -> *mut u8,
    realloc: unsafe extern "C" fn(*mut u8, usize, usize, usize) -> *mut u8,
    dealloc: unsafe extern "C" fn(*mut u8, usize, usize),
}

/// Those of the program.
const OURS: Functions = Functions { alloc, alloc_zeroed, realloc, dealloc };

fn layout(size: usize, align: usize) -> Layout {
    // SAFETY: both are of a layout.
    unsafe { Layout::from_size_align_unchecked(size, align) }
}

extern "C" fn alloc(size: usize, align: usize) -> *mut u8 {
    // SAFETY: an allocator is asked for as much as is allocated.
    unsafe { std::alloc::alloc(layout(size, align)) }
}

extern "C" fn alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    // SAFETY: as above.
    unsafe { std::alloc::alloc_zeroed(layout(size, align)) }
}

unsafe extern "C" fn realloc(at: *mut u8, size: usize, align: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { std::alloc::realloc(at, layout(size, align), new) }
}

unsafe extern "C" fn dealloc(at: *mut u8, size: usize, align: usize) {
    // SAFETY: the caller's contract.
    unsafe { std::alloc::dealloc(at, layout(size, align)) }
}

/// The allocator of a plugin: that of the program, since they free what the other has allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

impl Allocator {
    fn functions() -> Option<&'static Functions> {
        // SAFETY: nothing else is at the place.
        unsafe {
            ffi::phlShare(ffi::PhlShared::PHL_SHARED_ALLOCATOR, std::ptr::null())
                .cast::<Functions>()
                .as_ref()
        }
    }
}

// SAFETY: all is passed on, to one allocator: the program says which before it opens a plugin.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match Self::functions() {
            Some(functions) => (functions.alloc)(layout.size(), layout.align()),
            // SAFETY: the caller's contract.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match Self::functions() {
            Some(functions) => (functions.alloc_zeroed)(layout.size(), layout.align()),
            // SAFETY: the caller's contract.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe {
            match Self::functions() {
                Some(functions) => (functions.realloc)(at, layout.size(), layout.align(), new),
                None => System.realloc(at, layout, new),
            }
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe {
            match Self::functions() {
                Some(functions) => (functions.dealloc)(at, layout.size(), layout.align()),
                None => System.dealloc(at, layout),
            }
        }
    }
}

/// The files that say what a program and a plugin share.
const SOURCES: &[&[u8]] = &[
    include_bytes!("plugin.rs"),
    include_bytes!("../toolkit.rs"),
    include_bytes!("../upstream.rs"),
    include_bytes!("../ir/blob.rs"),
    include_bytes!("../ir/body.rs"),
    include_bytes!("../ir/context.rs"),
    include_bytes!("../ir/rewrite.rs"),
    include_bytes!("../ir/shared.rs"),
    include_bytes!("../pass/cx.rs"),
    include_bytes!("../pass/mod.rs"),
    include_bytes!("../pass/options.rs"),
    include_bytes!("../pass/register.rs"),
    include_bytes!("../../capi/Analysis.h"),
    include_bytes!("../../capi/Body.h"),
    include_bytes!("../../capi/Context.h"),
    include_bytes!("../../capi/Conversion.h"),
    include_bytes!("../../capi/Dataflow.h"),
    include_bytes!("../../capi/Driver.h"),
    include_bytes!("../../capi/Effects.h"),
    include_bytes!("../../capi/Elements.h"),
    include_bytes!("../../capi/Infer.h"),
    include_bytes!("../../capi/Pass.h"),
    include_bytes!("../../capi/Reduce.h"),
    include_bytes!("../../capi/Rewrite.h"),
    include_bytes!("../../capi/Shared.h"),
    include_bytes!("../../capi/Upstream.h"),
];

/// Sizes of what is shared: types of other crates are in it, whose versions may be others.
const SIZES: [usize; 10] = [
    size_of::<Carried>(),
    align_of::<Carried>(),
    size_of::<Body>(),
    size_of::<Rule>(),
    size_of::<Statistic>(),
    size_of::<Given>(),
    size_of::<Dialect>(),
    size_of::<bytes::Bytes>(),
    size_of::<BTreeMap<String, Body>>(),
    size_of::<std::collections::HashMap<usize, bytes::Bytes>>(),
];

/// A hash of the above.
#[allow(long_running_const_eval, reason = "it reads 200 kB")]
const fn fingerprint() -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut file = 0;
    while file < SOURCES.len() {
        let mut rest = SOURCES[file];
        hash = (hash ^ rest.len() as u64).wrapping_mul(PRIME);
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME);
            rest = after;
        }
        while let Some((byte, after)) = rest.split_first() {
            hash = (hash ^ *byte as u64).wrapping_mul(PRIME);
            rest = after;
        }
        file += 1;
    }
    let mut at = 0;
    while at < SIZES.len() {
        hash = (hash ^ SIZES[at] as u64).wrapping_mul(PRIME);
        at += 1;
    }
    hash
}

const BEGIN: &str = concat!(
    "compiler ",
    env!("PHASELINE_RUSTC"),
    "\ntarget ",
    env!("PHASELINE_TARGET"),
    "\nflags ",
    env!("PHASELINE_FLAGS"),
    "\nLLVM ",
    env!("PHASELINE_LLVM_VERSION"),
    "\nphaseline-toolkit ",
    env!("CARGO_PKG_VERSION"),
    " (",
);

/// The length of [`IDENTITY`].
pub const LENGTH: usize = BEGIN.len() + 18;

/// The things that a program and a plugin need to have in common, as lines of a name and a value.
pub const IDENTITY: [u8; LENGTH] = {
    let (mut text, begin, mut at) = ([b' '; LENGTH], BEGIN.as_bytes(), 0);
    while at < begin.len() {
        text[at] = begin[at];
        at += 1;
    }
    let mut rest = fingerprint();
    while at < LENGTH - 2 {
        text[at] = b"0123456789abcdef"[(rest >> 60) as usize];
        rest <<= 4;
        at += 1;
    }
    text[at] = b')';
    text[at + 1] = b'\n';
    text
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phases;

    /// The reason that a function is refused with; none if it registers.
    fn refused(register: impl FnOnce(Toolkit) -> Result<Toolkit>) -> Option<String> {
        let (mut given, mut succeeds): (Option<Given>, _) = (None, false);
        let reason = print::collect(|callback, user| {
            // SAFETY: the place, the callback and its place live during the call.
            succeeds = unsafe { enter(register, (&raw mut given).cast(), callback, user) };
        });
        assert_eq!(succeeds, given.is_some());
        (!succeeds).then(|| String::from_utf8_lossy(&reason).into_owned())
    }

    #[test]
    fn a_function_registers_or_gives_its_reason() {
        assert_eq!(refused(Ok), None);
        let failed = refused(|_| Err(Error::invalid("no licence"))).expect("fails");
        assert_eq!(failed, "no licence");
        let panicked = refused(|_| std::panic::panic_any("out of memory")).expect("panics");
        assert_eq!(panicked, "its function panicked: out of memory");
        let phases = |toolkit: Toolkit| {
            toolkit.phases(Phases::new().then("one", "builtin.module(canonicalize)")?)
        };
        let refused = refused(phases).expect("has phases");
        assert!(refused.contains("are the program's"), "{refused}");
    }

    #[test]
    fn the_identity_names_what_a_plugin_depends_on() {
        let text = String::from_utf8_lossy(&IDENTITY);
        let names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(' ')?.0)).collect();
        assert_eq!(names, ["compiler", "target", "flags", "LLVM", "phaseline-toolkit"]);
        assert!(text.contains(concat!("phaseline-toolkit ", env!("CARGO_PKG_VERSION"), " (")));
    }

    #[test]
    fn all_headers_are_in_the_identity() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/capi"));
        let files = fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path());
        for header in files.filter(|path| path.extension().is_some_and(|kind| kind == "h")) {
            let bytes = fs::read(&header).expect("reads");
            assert!(SOURCES.contains(&bytes.as_slice()), "{} is not", header.display());
        }
    }

    #[test]
    fn a_test_that_exports_nothing_loads_no_plugin() {
        let program = std::env::current_exe().expect("a program");
        let refused = Toolkit::new("test").plugin(&program).expect_err("is no plugin").to_string();
        assert!(refused.contains("it is no plugin: one in Rust says"), "{refused}");
        let refused = enter_library(&program).err().expect("exports nothing");
        assert!(refused.contains("loads_rust_plugins(\"PROGRAM\")"), "{refused}");
    }
}
