//! Sizes and attributes of convolutions.

/// x: batch, channels, spatial dimensions; w: filters, input channels per group, taps.
pub struct Conv {
    pub x: &'static [i64],
    pub w: &'static [i64],
    pub attributes: &'static str,
    pub y: &'static [i64],
}

/// One channel in each group, whose neighbours in memory are another task's.
pub const SINGLE: &[Conv] =
    &[Conv { x: &[1, 8, 4, 4], w: &[2, 4, 1, 1], attributes: "group = 2", y: &[1, 2, 4, 4] }];

pub const CONVS: &[Conv] = &[
    Conv {
        x: &[1, 3, 9, 11],
        w: &[5, 3, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 5, 9, 11],
    },
    Conv {
        x: &[2, 16, 7, 7],
        w: &[40, 16, 3, 3],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1]",
        y: &[2, 40, 4, 4],
    },
    Conv { x: &[1, 33, 5, 13], w: &[70, 33, 1, 1], attributes: "", y: &[1, 70, 5, 13] },
    Conv { x: &[3, 8, 6, 6], w: &[8, 8, 1, 1], attributes: "strides = [2, 2]", y: &[3, 8, 3, 3] },
    Conv {
        x: &[1, 6, 12, 10],
        w: &[9, 2, 3, 2],
        attributes: "pads = [0, 1, 2, 0] group = 3",
        y: &[1, 9, 12, 10],
    },
    Conv {
        x: &[1, 4, 15, 15],
        w: &[16, 4, 3, 3],
        attributes: "pads = [2, 2, 2, 2] dilations = [2, 2]",
        y: &[1, 16, 15, 15],
    },
    Conv {
        x: &[1, 3, 20, 20],
        w: &[17, 3, 7, 7],
        attributes: "strides = [2, 2] pads = [3, 3, 3, 3]",
        y: &[1, 17, 10, 10],
    },
    Conv {
        x: &[1, 2, 1, 30],
        w: &[3, 2, 1, 9],
        attributes: "pads = [0, 4, 0, 4]",
        y: &[1, 3, 1, 30],
    },
    Conv { x: &[1, 5, 4, 1], w: &[1, 5, 4, 1], attributes: "", y: &[1, 1, 1, 1] },
    // One column, where rows are cut into tiles.
    Conv { x: &[2, 5, 19, 3], w: &[20, 5, 4, 3], attributes: "", y: &[2, 20, 16, 1] },
    Conv {
        x: &[1, 6, 14, 7],
        w: &[18, 6, 3, 5],
        attributes: "strides = [2, 3] pads = [1, 0, 1, 0]",
        y: &[1, 18, 7, 1],
    },
];

pub const DEPTHWISE: &[Conv] = &[
    // Two and four filters for each channel, and eight, which fill vectors of their own.
    Conv {
        x: &[1, 5, 9, 8],
        w: &[10, 1, 3, 3],
        attributes: "pads = [1, 1, 1, 1] group = 5",
        y: &[1, 10, 9, 8],
    },
    Conv {
        x: &[2, 7, 6, 11],
        w: &[28, 1, 3, 2],
        attributes: "strides = [2, 2] group = 7",
        y: &[2, 28, 2, 5],
    },
    Conv {
        x: &[1, 33, 7, 6],
        w: &[66, 1, 3, 3],
        attributes: "pads = [2, 2, 2, 2] dilations = [2, 2] group = 33",
        y: &[1, 66, 7, 6],
    },
    Conv { x: &[1, 3, 5, 6], w: &[24, 1, 2, 2], attributes: "group = 3", y: &[1, 24, 4, 5] },
    Conv {
        x: &[1, 20, 9, 21],
        w: &[20, 1, 3, 3],
        attributes: "pads = [1, 1, 1, 1] group = 20",
        y: &[1, 20, 9, 21],
    },
    Conv {
        x: &[2, 33, 8, 8],
        w: &[33, 1, 3, 3],
        attributes: "strides = [2, 2] pads = [0, 0, 1, 1] group = 33",
        y: &[2, 33, 4, 4],
    },
    Conv {
        x: &[1, 8, 7, 7],
        w: &[8, 1, 5, 5],
        attributes: "pads = [2, 2, 2, 2] group = 8",
        y: &[1, 8, 7, 7],
    },
    Conv {
        x: &[1, 3, 10, 12],
        w: &[3, 1, 3, 3],
        attributes: "pads = [2, 2, 2, 2] dilations = [2, 2] group = 3",
        y: &[1, 3, 10, 12],
    },
    // Each input channel has two filters.
    Conv { x: &[1, 4, 6, 6], w: &[8, 1, 3, 3], attributes: "group = 4", y: &[1, 8, 4, 4] },
];

/// Images of one and of three spatial dimensions, and windows that reach far beyond the image.
pub const RANKS: &[Conv] = &[
    Conv { x: &[1, 5, 40], w: &[20, 5, 3], attributes: "pads = [1, 1]", y: &[1, 20, 40] },
    Conv {
        x: &[2, 8, 31],
        w: &[12, 4, 5],
        attributes: "strides = [3] pads = [2, 3] dilations = [2] group = 2",
        y: &[2, 12, 10],
    },
    Conv { x: &[1, 3, 50], w: &[17, 3, 24], attributes: "pads = [12, 11]", y: &[1, 17, 50] },
    Conv { x: &[1, 40, 9], w: &[16, 40, 1], attributes: "", y: &[1, 16, 9] },
    Conv {
        x: &[1, 2, 5, 6, 7],
        w: &[20, 2, 3, 3, 3],
        attributes: "pads = [1, 1, 1, 1, 1, 1]",
        y: &[1, 20, 5, 6, 7],
    },
    Conv {
        x: &[2, 6, 7, 5, 9],
        w: &[4, 3, 2, 3, 1],
        attributes: "strides = [2, 1, 3] pads = [0, 2, 0, 1, 0, 1] dilations = [2, 1, 1] group = 2",
        y: &[2, 4, 3, 5, 4],
    },
    Conv { x: &[1, 7, 3, 4, 5], w: &[18, 7, 1, 1, 1], attributes: "", y: &[1, 18, 3, 4, 5] },
    Conv {
        x: &[1, 3, 9, 21],
        w: &[4, 3, 3, 15],
        attributes: "pads = [1, 7, 1, 7]",
        y: &[1, 4, 9, 21],
    },
];

pub const DEPTHWISE_RANKS: &[Conv] = &[
    Conv {
        x: &[1, 20, 70],
        w: &[20, 1, 5],
        attributes: "pads = [2, 2] group = 20",
        y: &[1, 20, 70],
    },
    Conv {
        x: &[2, 9, 33],
        w: &[9, 1, 31],
        attributes: "strides = [2] pads = [15, 15] group = 9",
        y: &[2, 9, 17],
    },
    Conv {
        x: &[1, 18, 4, 6, 5],
        w: &[18, 1, 3, 3, 3],
        attributes: "strides = [1, 2, 1] pads = [1, 1, 1, 1, 1, 1] group = 18",
        y: &[1, 18, 4, 3, 5],
    },
];

/// w: input channels, filters per group, taps.
pub const TRANSPOSED: &[Conv] = &[
    Conv { x: &[1, 6, 5, 7], w: &[6, 9, 2, 2], attributes: "strides = [2, 2]", y: &[1, 9, 10, 14] },
    Conv {
        x: &[2, 5, 4, 6],
        w: &[5, 17, 4, 3],
        attributes: "strides = [2, 3] pads = [1, 0, 1, 1]",
        y: &[2, 17, 8, 17],
    },
    Conv {
        x: &[1, 4, 5, 5],
        w: &[4, 3, 3, 3],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1] output_padding = [1, 1]",
        y: &[1, 3, 10, 10],
    },
    Conv {
        x: &[1, 8, 6, 5],
        w: &[8, 3, 3, 2],
        attributes: "pads = [1, 2, 0, 1] dilations = [2, 3] group = 2",
        y: &[1, 6, 9, 5],
    },
    Conv {
        x: &[1, 12, 5, 6],
        w: &[12, 1, 4, 4],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1] group = 12",
        y: &[1, 12, 10, 12],
    },
    // Phases with fewer taps than others, and with none.
    Conv {
        x: &[1, 6, 5, 7],
        w: &[6, 48, 3, 3],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1] output_padding = [1, 1]",
        y: &[1, 48, 10, 14],
    },
    Conv {
        x: &[2, 9, 4, 5],
        w: &[9, 19, 2, 2],
        attributes: "strides = [3, 3]",
        y: &[2, 19, 11, 14],
    },
    Conv { x: &[1, 8, 5, 4], w: &[8, 33, 1, 1], attributes: "strides = [2, 2]", y: &[1, 33, 9, 7] },
    Conv {
        x: &[1, 10, 6, 5],
        w: &[10, 20, 5, 4],
        attributes: "strides = [3, 2] group = 2",
        y: &[1, 40, 20, 12],
    },
    Conv {
        x: &[1, 7, 12],
        w: &[7, 5, 16],
        attributes: "strides = [8] pads = [4, 4]",
        y: &[1, 5, 96],
    },
    Conv {
        x: &[1, 3, 3, 4, 2],
        w: &[3, 4, 2, 3, 2],
        attributes: "strides = [2, 1, 2] pads = [0, 1, 0, 0, 1, 0]",
        y: &[1, 4, 6, 4, 4],
    },
    // More is cut off than a window has.
    Conv {
        x: &[1, 2, 9],
        w: &[2, 3, 2],
        attributes: "strides = [3] pads = [5, 4]",
        y: &[1, 3, 17],
    },
];
