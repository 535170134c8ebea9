//! Reading packages: folders with the libraries of a model, and what they say about themselves.

mod describe;
mod digest;
mod metadata;

pub use describe::{Embedded, SIGNATURE_SYMBOL, describe_library};
pub use digest::Digest;
pub use metadata::{FORMAT, FileEntry, METADATA_FILE, Metadata, is_inside};
