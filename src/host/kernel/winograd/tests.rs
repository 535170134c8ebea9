//! Tests for the convolutions that have tiles, and for what these need.

use super::*;
use crate::host::kernel::{Extensions, Types};

/// A convolution of 3 x 3 taps on an image of `size` x `size` points and as many channels as it gives.
fn conv(channels: i64, size: i64) -> Contraction {
    let view = View {
        row: size * channels,
        col: channels,
        channel: 1,
        batch: size * size * channels,
        ..View::default()
    };
    Contraction {
        rows: size,
        cols: size,
        window: Window {
            kernel: [1, 3, 3],
            stride: [1; AXES],
            dilation: [1; AXES],
            pad: [0, 1, 1],
            input: [1, size, size],
        },
        x: view,
        y: view,
        ..shape(channels)
    }
}

fn shape(channels: i64) -> Contraction {
    Contraction {
        types: Types::F32,
        batch: 1,
        planes: 1,
        rows: 1,
        cols: 1,
        groups: 1,
        channels,
        sections: vec![],
        depth: channels,
        window: Window::point([1; AXES]),
        x: View::default(),
        weights: Weights::Packed,
        weights_batch: 0,
        weights_plane: 0,
        scales: None,
        start: None,
        amx: None,
        y: View::default(),
        operands: vec![],
    }
}

fn isa() -> Isa {
    Isa::of_vector_bits(512, Extensions::default()).expect("vectors")
}

fn tiles() -> Tiles {
    Tiles { near: true, ..Tiles::of(None, 0) }
}

#[test]
fn packages_grow_by_no_more_than_there_is_room_for() {
    let spec = conv(256, 56);
    let grown = |room| Winograd::of(&spec, isa(), Tiles { room, ..tiles() }).map(|w| w.growth());
    let (large, small) = (grown(1 << 30).expect("tiles"), grown(3 << 20).expect("tiles"));
    assert_eq!((large, small), ((27 * 4) << 16, (7 * 4) << 16));
    assert_eq!(grown(1 << 20), None);
    // Filters of a module of their own may become half as large again, and 8 MiB larger.
    assert_eq!(Tiles::of(None, 4 << 20).room, 10 << 20);
}

#[test]
fn tasks_have_memory_for_their_blocks() {
    for (channels, size) in [(64, 56), (256, 14), (48, 224), (512, 28)] {
        let spec = conv(channels, size);
        let Some(found) = Winograd::of(&spec, isa(), Tiles { room: 1 << 30, ..tiles() }) else {
            panic!("{channels} channels have no tiles")
        };
        let blocks = ceil_div(found.count(), found.tiles);
        assert_eq!(found.tasks(), ceil_div(blocks, found.blocks) * found.parts);
        let image = 4 * 2 * channels * size * size;
        let memory = found.memory().bytes();
        let few = (MIN_TASKS + found.parts) * (found.memory_of_task() * 4);
        assert!(memory <= image.max(few), "{memory} bytes for images of {image}");
    }
}
