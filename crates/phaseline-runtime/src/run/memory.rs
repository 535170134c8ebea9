//! The memory that a run is given: one arena and one block of constants, or those of each pool of a
//! board, by arrays of their addresses.

use crate::{
    Error, Result,
    artifact::{PoolUse, Port, PortPlace, Signature},
    tensor::{AlignedBuffer, BUFFER_ALIGN},
};
use bytes::Bytes;
use std::ffi::c_void;

/// The constants of a model.
pub enum Constants {
    /// In this process, shared with the result of a compile.
    Shared(Bytes),
    /// In the code that the executable keeps.
    Linked(*const c_void),
    /// In several blocks, of this process or in the code.
    InPools {
        /// Blocks of this process.
        _blocks: Vec<Block>,
        /// Their addresses, by pool.
        addresses: Vec<*const c_void>,
    },
}

// SAFETY: linked constants are read-only and live as long as the code.
unsafe impl Send for Constants {}
// SAFETY: as above.
unsafe impl Sync for Constants {}

impl Constants {
    /// Constants that a compile collected, copied where they have to be elsewhere.
    pub fn of(bytes: Bytes, signature: &Signature) -> Result<Self> {
        if signature.pools.is_empty() {
            let is_aligned = (bytes.as_ptr() as usize).is_multiple_of(BUFFER_ALIGN);
            return Ok(Self::Shared(match is_aligned {
                true => bytes,
                false => Bytes::from_owner(AlignedBuffer::copy_of(&bytes)?),
            }));
        }
        let mut blocks = vec![];
        for pool in &signature.pools {
            let end = pool.constants_offset.saturating_add(pool.constants_bytes);
            let part = bytes.get(pool.constants_offset.min(end)..end);
            let part = part.or_else(|| (pool.constants_bytes == 0).then_some(&[][..]));
            let part = part.ok_or_else(|| {
                Error::internal(format!("the constants of pool '{}' are incomplete", pool.name))
            })?;
            let mut block = Block::new(pool.constants_bytes, pool.alignment)?;
            block.bytes_mut().copy_from_slice(part);
            blocks.push(block);
        }
        let addresses = blocks.iter_mut().map(|block| block.address().cast_const()).collect();
        Ok(Self::InPools { _blocks: blocks, addresses })
    }

    /// Constants of a package, whose symbols are given.
    pub fn linked(
        signature: &Signature,
        symbol: &dyn Fn(&str) -> Result<*const c_void>,
    ) -> Result<Self> {
        if signature.pools.is_empty() {
            return Ok(Self::Linked(match signature.constants_bytes {
                0 => std::ptr::null(),
                _ => symbol(&format!("{}_constants", signature.name))?,
            }));
        }
        let address = |pool: &PoolUse| match pool.constants_bytes {
            0 => Ok(std::ptr::null()),
            _ => symbol(&signature.constants_symbol(pool)),
        };
        let addresses = signature.pools.iter().map(address).collect::<Result<_>>()?;
        Ok(Self::InPools { _blocks: vec![], addresses })
    }

    /// The argument of the entry point.
    pub fn address(&self) -> *const c_void {
        match self {
            Self::Shared(bytes) => bytes.as_ptr().cast(),
            Self::Linked(address) => *address,
            Self::InPools { addresses, .. } => addresses.as_ptr().cast(),
        }
    }

    /// Fails unless all blocks are at multiples of what the code assumes.
    pub fn check(&self, signature: &Signature) -> Result<()> {
        let is_aligned = |address: *const c_void| (address as usize).is_multiple_of(BUFFER_ALIGN);
        let good = match self {
            Self::InPools { addresses, .. } => addresses.iter().all(|address| is_aligned(*address)),
            _ => signature.constants_bytes == 0 || is_aligned(self.address()),
        };
        match good {
            true => Ok(()),
            false => Err(Error::internal("the constants of the model are not aligned")),
        }
    }
}

/// The working memory of a run.
pub struct Arena {
    blocks: Vec<Block>,
    addresses: Vec<*mut c_void>,
    in_pools: bool,
}

// SAFETY: the addresses are those of the blocks, which are owned and move with it.
unsafe impl Send for Arena {}

impl Arena {
    /// Allocates what a model asks for.
    pub fn new(signature: &Signature) -> Result<Self> {
        let in_pools = !signature.pools.is_empty();
        let mut blocks = match in_pools {
            false => vec![Block::new(signature.arena_bytes, BUFFER_ALIGN)?],
            true => {
                let blocks = signature.pools.iter();
                blocks
                    .map(|pool| Block::new(pool.values_bytes, pool.alignment))
                    .collect::<Result<_>>()?
            }
        };
        let addresses = blocks.iter_mut().map(Block::address).collect();
        Ok(Self { blocks, addresses, in_pools })
    }

    /// The argument of the entry point.
    pub fn address(&mut self) -> *mut c_void {
        match self.in_pools {
            true => self.addresses.as_mut_ptr().cast(),
            false => self.addresses.first().copied().unwrap_or(std::ptr::null_mut()),
        }
    }
}

impl Arena {
    /// Copies inputs to where they are in pools.
    ///
    /// # Safety
    /// The addresses are those of the inputs, with their sizes; of one in a pool, in the host's memory.
    pub unsafe fn give(&mut self, signature: &Signature, sources: &[*const c_void]) -> Result<()> {
        for (port, source) in signature.inputs.iter().zip(sources) {
            if let Some(place) = self.port(signature, port)? {
                // SAFETY: the caller's contract; the pool is memory of its own.
                unsafe { place.as_mut_ptr().copy_from_nonoverlapping(source.cast(), place.len()) };
            }
        }
        Ok(())
    }

    /// Copies outputs from where they are in pools.
    ///
    /// # Safety
    /// As of [`Arena::give`], with the outputs' addresses.
    pub unsafe fn take(&mut self, signature: &Signature, targets: &[*mut c_void]) -> Result<()> {
        for (port, target) in signature.outputs.iter().zip(targets) {
            if let Some(place) = self.port(signature, port)? {
                // SAFETY: as above.
                unsafe { place.as_ptr().copy_to_nonoverlapping(target.cast(), place.len()) };
            }
        }
        Ok(())
    }

    /// The bytes of an input or output that is in a pool.
    fn port(&mut self, signature: &Signature, port: &Port) -> Result<Option<&mut [u8]>> {
        let Some(PortPlace { pool, offset }) = &port.place else { return Ok(None) };
        let bytes = port.bytes()?;
        let index = signature.pools.iter().position(|known| known.name == *pool);
        let block = index.and_then(|index| self.blocks.get_mut(index));
        let part = block.and_then(|block| block.bytes_mut().get_mut(*offset..)?.get_mut(..bytes));
        part.map(Some).ok_or_else(|| {
            Error::invalid(format!(
                "'{}' is outside of pool '{pool}': compile the model again",
                port.name
            ))
        })
    }
}

/// Zero bytes at a multiple of some number.
pub struct Block {
    buffer: AlignedBuffer,
    start: usize,
    bytes: usize,
}

impl Block {
    fn new(bytes: usize, alignment: usize) -> Result<Self> {
        let more = if alignment > BUFFER_ALIGN { alignment } else { 0 };
        let mut buffer = AlignedBuffer::zeroed(bytes.saturating_add(more))?;
        let address = buffer.as_mut_slice().as_ptr() as usize;
        let start = if more > 0 { address.next_multiple_of(alignment) - address } else { 0 };
        Ok(Self { buffer, start, bytes })
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.start + self.bytes;
        &mut self.buffer.as_mut_slice()[self.start..end]
    }

    fn address(&mut self) -> *mut c_void {
        self.bytes_mut().as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    /// A model whose input and output share a pool of 64 bytes, beside a pool with 8 bytes of constants.
    fn signature(offset: usize) -> Signature {
        let port = |name: &str, offset| Port {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![2],
            place: Some(PortPlace { pool: "fast".to_owned(), offset }),
        };
        let pool = |name: &str, values_bytes, constants_bytes, alignment| PoolUse {
            name: name.to_owned(),
            values_bytes,
            constants_bytes,
            alignment,
            ..Default::default()
        };
        Signature {
            states: vec![],
            bounds: None,
            name: "net".to_owned(),
            inputs: vec![port("x", 0)],
            fixed: vec![],
            outputs: vec![port("y", offset)],
            arena_bytes: 0,
            arena_lower_bound: 0,
            arena_peak: String::new(),
            constants_bytes: 8,
            weights: None,
            pools: vec![pool("fast", 64, 0, 64), pool("slow", 0, 8, 4096)],
            devices: vec![],
            operations: vec![],
        }
    }

    #[test]
    fn ports_in_pools_are_copied_there_and_back() {
        let (input, mut output) = ([1.0f32, 2.0], [0.0f32; 2]);
        // The model does nothing: its output is where its input is.
        let same = signature(0);
        let mut arena = Arena::new(&same).unwrap();
        // SAFETY: both arrays have the size of the ports.
        unsafe {
            arena.give(&same, &[input.as_ptr().cast()]).unwrap();
            arena.take(&same, &[output.as_mut_ptr().cast()]).unwrap();
        }
        assert_eq!(input, output);
        let outside = signature(60);
        // SAFETY: as above; nothing is copied.
        let taken = unsafe { arena.take(&outside, &[output.as_mut_ptr().cast()]) };
        let error = taken.unwrap_err().to_string();
        assert_eq!(error, "'y' is outside of pool 'fast': compile the model again");
    }

    #[test]
    fn constants_of_pools_have_their_alignment() {
        let signature = signature(0);
        let constants = Constants::of(Bytes::from_static(&[7; 8]), &signature).unwrap();
        constants.check(&signature).unwrap();
        let Constants::InPools { addresses, _blocks: mut blocks } = constants else {
            panic!("constants are in pools")
        };
        assert!((addresses[1] as usize).is_multiple_of(4096));
        assert_eq!(blocks[1].bytes_mut(), [7; 8]);
        let error = Constants::of(Bytes::from_static(&[7; 4]), &signature).err().unwrap();
        assert!(error.to_string().contains("the constants of pool 'slow' are incomplete"));
    }
}
