//! Command streams: calls as bytes, for devices that take their work in one submission.
//!
//! All numbers are little-endian. A stream is a header, then the commands in the order in which
//! they run:
//!
//! ```text
//! header   16 bytes: "PHLS", u16 version (1), u16 0, u32 number of commands, u32 bytes of the stream
//! command   8 bytes: u16 opcode, u16 number of arguments, u32 0; then the arguments
//! argument 16 bytes: u8 kind, u8 space, u16 index, u32 bytes, and 8 bytes of payload
//!   kind 0: an integer (i64)      kind 1: a float (f64)
//!   kind 2: a buffer: space 0 input, 1 output (index says which), 2 weights, 3 scratch; the
//!           payload is the offset in bytes (u64), `bytes` the size
//!   kind 3: none
//! ```

/// Memory that a buffer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// An input of the region.
    Input(u16),
    /// An output of the region.
    Output(u16),
    /// The packed constants.
    Weights,
    /// Working memory.
    Scratch,
}

/// An argument of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// So many bytes, from an offset.
    Buffer(Space, u64, u32),
    /// Nothing.
    Null,
}

/// A stream that is written.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    bytes: Vec<u8>,
    commands: u32,
}

const MAGIC: &[u8; 4] = b"PHLS";
const HEADER: usize = 16;

impl Stream {
    /// Appends a command.
    pub fn push(&mut self, opcode: u16, arguments: &[Argument]) {
        self.commands += 1;
        self.bytes.extend(opcode.to_le_bytes());
        self.bytes.extend((arguments.len() as u16).to_le_bytes());
        self.bytes.extend([0; 4]);
        for argument in arguments {
            self.argument(*argument);
        }
    }

    fn argument(&mut self, argument: Argument) {
        let (kind, space, index, size, payload) = match argument {
            Argument::Int(value) => (0, 0, 0, 0, value.to_le_bytes()),
            Argument::Float(value) => (1, 0, 0, 0, value.to_le_bytes()),
            Argument::Buffer(space, offset, size) => {
                let (space, index) = match space {
                    Space::Input(index) => (0, index),
                    Space::Output(index) => (1, index),
                    Space::Weights => (2, 0),
                    Space::Scratch => (3, 0),
                };
                (2, space, index, size, offset.to_le_bytes())
            }
            Argument::Null => (3, 0, 0, 0, [0; 8]),
        };
        self.bytes.extend([kind, space]);
        self.bytes.extend(index.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(payload);
    }

    /// The whole stream with its header.
    pub fn finish(self) -> Vec<u8> {
        let mut all = MAGIC.to_vec();
        all.extend(1_u16.to_le_bytes());
        all.extend([0; 2]);
        all.extend(self.commands.to_le_bytes());
        all.extend(((HEADER + self.bytes.len()) as u32).to_le_bytes());
        all.extend(self.bytes);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_its_size_and_its_commands_in_order() {
        let mut stream = Stream::default();
        stream.push(7, &[Argument::Int(-1), Argument::Buffer(Space::Output(2), 64, 5)]);
        stream.push(9, &[]);
        let bytes = stream.finish();
        assert_eq!(&bytes[..6], b"PHLS\x01\0");
        assert_eq!(bytes[8], 2);
        assert_eq!(bytes[12] as usize, bytes.len());
        assert_eq!(bytes[16..20], [7, 0, 2, 0]);
        assert_eq!(bytes[24..40], [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(bytes[40..56], [2, 1, 2, 0, 5, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[56..60], [9, 0, 0, 0]);
    }
}
