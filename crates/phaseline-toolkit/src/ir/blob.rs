//! The data of constants: who owns it, and when it goes.
//!
//! MLIR keeps a blob until its context goes. Passes that pack, fold or transpose weights leave one behind each
//! time, so that a compile would need several times the memory of its weights. A session notes the blobs that
//! are made from Rust, and [`free_unused`] frees those that a module names no more. Who reads a blob shares
//! it ([`Data`]), so that what was read stays valid however long it is kept.

use super::{Op, context};
use crate::{Error, Result, ffi};
use bytes::Bytes;
use melior::{
    StringRef,
    ir::{Attribute, AttributeLike, Module, Type, TypeLike},
};
use mlir_sys as sys;
use std::{
    collections::{HashMap, HashSet},
    ffi::c_void,
    ops::Deref,
};

/// The bytes of a constant.
#[derive(Clone, Debug)]
pub enum Data<'c> {
    /// Bytes of the context, which keeps them.
    Kept(&'c [u8]),
    /// Bytes shared with a blob of the context, which may go before.
    Shared(Bytes),
}

impl Data<'_> {
    /// The same as shared bytes, copied where they are the context's.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Kept(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Deref for Data<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Kept(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Data<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

/// A type whose values are their bytes.
///
/// # Safety
/// It has no padding, and each pattern of its bits is a value.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty),*) => {
        // SAFETY: numbers of a fixed width.
        $(unsafe impl Plain for $ty {})*
    };
}
plain!(u8, i8, i16, i32, i64, half::f16, half::bf16, f32, f64);

/// The bytes of numbers.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: by the contract of the trait; the length is that of the values.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The numbers in bytes, without a copy; none unless they are aligned, and a whole number of them.
pub fn values_in<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: by the contract of the trait.
    let (before, values, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(values)
}

/// Numbers as the owner of their bytes.
struct Values<T>(Vec<T>);

impl<T: Plain> AsRef<[u8]> for Values<T> {
    fn as_ref(&self) -> &[u8] {
        bytes_of(&self.0)
    }
}

/// The bytes of numbers, taken over.
pub fn shared<T: Plain>(values: Vec<T>) -> Bytes {
    Bytes::from_owner(Values(values))
}

/// A blob of a context.
struct Blob {
    bytes: Bytes,
    /// Number of blobs made before.
    number: usize,
    /// The attribute that it was made with.
    attribute: usize,
}

/// The blobs of a context that can be freed.
#[derive(Default)]
pub(crate) struct Blobs {
    /// Blobs by the address of their bytes. Only looked up, so its order is of no effect.
    by_address: HashMap<usize, Blob>,
    made: usize,
}

impl Blobs {
    fn insert(&mut self, bytes: Bytes, attribute: usize) {
        let number = self.made;
        self.made += 1;
        let blob = self.by_address.entry(bytes.as_ptr() as usize);
        // Several may share their first byte: the oldest decides when it goes.
        let blob = blob.or_insert_with(|| Blob { bytes: bytes.clone(), number, attribute });
        if blob.bytes.len() < bytes.len() {
            blob.bytes = bytes;
        }
    }
}

/// Blobs that were there before something began.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

unchecked! {
    /// The blobs that were made in a context so far.
    pub fn mark(module: &Module<'_>) -> Mark {
        let carried = context::carried(super::context_of(super::root(module)));
        Mark(carried.map_or(0, |carried| carried.blobs().made))
    }
}

/// A `dense_resource` attribute whose data is `bytes`, which are aligned to `align`.
pub(crate) fn resource<'c>(
    ty: Type<'c>,
    name: &str,
    bytes: Bytes,
    align: usize,
) -> Result<Attribute<'c>> {
    unsafe extern "C" fn free(user: *mut c_void, _: *const c_void, _: usize, _: usize) {
        // SAFETY: `user` is the box leaked below, and MLIR calls this once.
        drop(unsafe { Box::from_raw(user.cast::<Bytes>()) });
    }
    let (address, length) = (bytes.as_ptr(), bytes.len());
    let owner = Box::into_raw(Box::new(bytes.clone()));
    // SAFETY: a live type has a live context; the bytes stay where they are, and as they are, until MLIR frees
    // their owner.
    unsafe {
        let carried = context::carried_raw(sys::mlirTypeGetContext(ty.to_raw()));
        let name = carried.map_or_else(|| name.to_owned(), |carried| carried.resource_name(name));
        let raw = sys::mlirUnmanagedDenseResourceElementsAttrGet(
            ty.to_raw(),
            StringRef::new(&name).to_raw(),
            address.cast_mut().cast(),
            length,
            align,
            false,
            Some(free),
            owner.cast(),
        );
        let attribute = Attribute::from_option_raw(raw)
            .ok_or_else(|| Error::internal("MLIR refused a resource"))?;
        if let Some(carried) = carried.filter(|_| length > 0) {
            carried.blobs().insert(bytes, raw.ptr as usize);
        }
        Ok(attribute)
    }
}

/// Stored data of an elements attribute; none for other attributes, and blobs without data.
pub(crate) fn stored(attribute: Attribute<'_>) -> Option<Data<'_>> {
    let raw = attribute.to_raw();
    let mut size = 0;
    // SAFETY: the kind is checked first. What a session made is shared, and all else lives as long as the
    // context.
    unsafe {
        if !sys::mlirAttributeIsAElements(raw) {
            return None;
        }
        let data = ffi::phlElementsBytes(raw, &mut size).cast::<u8>();
        if data.is_null() || size == 0 {
            return (size == 0).then_some(Data::Kept(&[]));
        }
        let carried = context::carried_raw(sys::mlirAttributeGetContext(raw));
        let blobs = carried.map(|carried| carried.blobs());
        let blob = blobs.as_ref().and_then(|blobs| blobs.by_address.get(&(data as usize)));
        // A shorter one is another blob at this address, and the context keeps the one that is asked for.
        Some(match blob.filter(|blob| size <= blob.bytes.len()) {
            Some(blob) => Data::Shared(blob.bytes.slice(..size)),
            None => Data::Kept(std::slice::from_raw_parts(data, size)),
        })
    }
}

/// Bytes of blobs from which on it is worth to look for those that are not used.
const WORTH: usize = 1 << 20;

unchecked! {
    /// Frees the blobs that were made since `since` and that nothing in the module names: to whoever made them
    /// they are the module's, since passes hand attributes to nobody else. Does nothing while a pipeline runs in
    /// the context, which is so where an observer of one compiles something else.
    pub fn free_unused(module: &mut Module<'_>, since: Mark) {
        let root = super::root(module);
        let Some(carried) = context::carried(super::context_of(root)) else { return };
        if carried.runs() {
            return;
        }
        let blobs = carried.blobs();
        let new = blobs.by_address.values().filter(|blob| blob.number >= since.0);
        if new.map(|blob| blob.bytes.len()).sum::<usize>() < WORTH {
            return;
        }
        drop(blobs);
        let used = used(root);
        let unused =
            |address: &usize, blob: &mut Blob| blob.number >= since.0 && !used.contains(address);
        let gone: Vec<Blob> = {
            let mut blobs = carried.blobs();
            blobs.by_address.extract_if(unused).map(|(_, blob)| blob).collect()
        };
        for blob in gone {
            // SAFETY: an attribute lives as long as its context. Nobody reads the blob: no pass runs, and readers in
            // Rust share the bytes.
            unsafe {
                ffi::phlElementsFree(sys::MlirAttribute { ptr: blob.attribute as *const c_void })
            };
        }
    }
}

/// The addresses of the blobs that a module names.
fn used(root: Op<'_>) -> HashSet<usize> {
    unsafe extern "C" fn note(user: *mut c_void, data: *const c_void) {
        // SAFETY: `user` is the set below, which is borrowed by nobody else during the walk.
        unsafe { &mut *user.cast::<HashSet<usize>>() }.insert(data as usize);
    }
    let mut used = HashSet::new();
    // SAFETY: the operation is live, and the walk does not change it.
    unsafe { ffi::phlOperationBlobs(root.to_raw(), Some(note), (&raw mut used).cast()) };
    used
}
