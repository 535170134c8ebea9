//! Typed pass options.

use crate::ffi;
use melior::StringRef;

/// The type of an option. Values are checked by it where a pipeline is read, so a pass never sees a malformed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text; braces or quotes group text with spaces.
    Text,
    /// A 64-bit integer.
    Int,
    /// `true` or `false`.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A floating-point number.
    Float,
    /// Values of one type, separated by commas, which braces may hold together: `{1,2}`.
    List(&'static OptionKind),
    /// Passes, as in a pipeline on any operation: `{canonicalize,cse}`.
    Pipeline,
}

impl OptionKind {
    /// Fails for text that is no value of the type, with the reason.
    pub fn check(self, text: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::Int => i64::from_text(text).map(drop),
            Self::Bool => bool::from_text(text).map(drop),
            Self::Float => f64::from_text(text).map(drop),
            Self::Choice(words) if words.contains(&text) => Ok(()),
            Self::Choice(words) => Err(format!("'{text}' is none of {}", words.join(", "))),
            Self::List(kind) => parts(text).try_for_each(|part| kind.check(part)),
            Self::Pipeline => PipelineText::from_text(text).map(drop),
        }
    }
}

/// The values of a list.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let bare = |open, close| text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    let text = bare('{', '}').or_else(|| bare('[', ']')).unwrap_or(text);
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// The declaration of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name in the pipeline text, kebab-case.
    pub name: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
    /// Type of the value.
    pub kind: OptionKind,
    /// The default, as text.
    pub default: &'static str,
}

/// Option values of one run of a pass, as text in the order of its declaration.
#[derive(Clone, Debug, Default)]
pub struct OptionValues(pub Vec<String>);

impl OptionValues {
    /// Reads the values into the pass's option struct.
    pub fn parse<T: PassOptions>(&self) -> Result<T, String> {
        T::from_values(self)
    }

    /// The text of option `index`; empty when there is none.
    pub fn text(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }
}

/// A struct of options; [`pass_options!`](crate::pass_options) implements it.
pub trait PassOptions: Sized {
    /// The declarations, in field order.
    const SPECS: &'static [OptionSpec];
    /// Builds the struct from texts that MLIR has checked.
    fn from_values(values: &OptionValues) -> Result<Self, String>;
}

/// A field type that an option may have.
#[doc(hidden)]
pub trait OptionField: Sized {
    /// The type of its values.
    const KIND: OptionKind;
    /// Converts checked text.
    fn from_text(text: &str) -> Result<Self, String>;
}

impl OptionField for i64 {
    const KIND: OptionKind = OptionKind::Int;
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("'{text}' is not an integer"))
    }
}

impl OptionField for bool {
    const KIND: OptionKind = OptionKind::Bool;
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("'{text}' is neither true nor false"))
    }
}

impl OptionField for String {
    const KIND: OptionKind = OptionKind::Text;
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl OptionField for f64 {
    const KIND: OptionKind = OptionKind::Float;
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("'{text}' is not a number"))
    }
}

impl<T: OptionField> OptionField for Vec<T> {
    const KIND: OptionKind = OptionKind::List(&T::KIND);
    fn from_text(text: &str) -> Result<Self, String> {
        parts(text).map(T::from_text).collect()
    }
}

/// Passes that an option names, for [`crate::pass::PassCx::run_pipeline`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineText(String);

impl PipelineText {
    /// The passes, as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl OptionField for PipelineText {
    const KIND: OptionKind = OptionKind::Pipeline;
    fn from_text(text: &str) -> Result<Self, String> {
        let bare = text.trim();
        let bare = bare.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(bare);
        crate::ir::nesting::check_text(bare.as_bytes()).map_err(|(_, what)| what.to_owned())?;
        let mut is_valid = bare.is_empty();
        let reason = crate::ir::print::collect(|callback, user| {
            let text = StringRef::new(bare).to_raw();
            // SAFETY: the text, the callback and its place are live during the call.
            let check = || unsafe { ffi::phlPipelineCheck(text, callback, user) };
            is_valid = is_valid || super::reading(check);
        });
        match is_valid {
            true => Ok(Self(bare.to_owned())),
            false => {
                let reason = String::from_utf8_lossy(&reason);
                Err(format!("'{bare}' is no list of passes: {}", reason.trim()))
            }
        }
    }
}

/// A pass without options.
impl PassOptions for () {
    const SPECS: &'static [OptionSpec] = &[];
    fn from_values(_: &OptionValues) -> Result<Self, String> {
        Ok(())
    }
}

/// Declares the words that an option may be: an enum, whose variants have a word each.
///
/// ```
/// phaseline_toolkit::pass_choice! {
///     /// What is counted.
///     pub enum Counted {
///         /// Operations.
///         Operations = "operations",
///         /// Their results.
///         Results = "results",
///     }
/// }
/// phaseline_toolkit::pass_options! {
///     /// Options of `count-something`.
///     pub struct CountOptions {
///         what: Counted = "operations", "What is counted";
///     }
/// }
/// ```
#[macro_export]
macro_rules! pass_choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$about])* $variant,)*
        }
        impl $crate::pass::OptionField for $name {
            const KIND: $crate::pass::OptionKind = $crate::pass::OptionKind::Choice(&[$($word,)*]);
            fn from_text(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    other => Err(format!("'{other}' is none of {}", [$($word,)*].join(", "))),
                }
            }
        }
    };
}

/// Declares the options of a pass: a struct whose fields have a name, a help text and a default.
///
/// ```
/// phaseline_toolkit::pass_options! {
///     /// Options of `tile-something`.
///     pub struct TileOptions {
///         bytes: i64 = "65536", "Size of the scratchpad in bytes";
///         double_buffer: bool = "true", "Overlap transfers with computation";
///     }
/// }
/// ```
#[macro_export]
macro_rules! pass_options {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($field:ident: $ty:ty = $default:literal, $help:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $(#[doc = $help] pub $field: $ty,)*
        }
        impl $crate::pass::PassOptions for $name {
            const SPECS: &'static [$crate::pass::OptionSpec] = &[
                $($crate::pass::OptionSpec {
                    name: stringify!($field),
                    help: $help,
                    kind: <$ty as $crate::pass::OptionField>::KIND,
                    default: $default,
                },)*
            ];
            fn from_values(values: &$crate::pass::OptionValues) -> Result<Self, String> {
                let mut index = 0..;
                Ok(Self {
                    $($field: <$ty as $crate::pass::OptionField>::from_text(
                        values.text(index.next().unwrap_or_default()),
                    )
                    .map_err(|reason| format!("option '{}': {reason}", stringify!($field)))?,)*
                })
            }
        }
    };
}
