//! The tables of a TensorFlow Lite file, as far as the import reads them.
//!
//! Slots and defaults are those of the format's schema, version 3: a table of a file may lack any
//! of its fields, which then have their default. Only verified bytes become tables ([`model`]), so
//! that what is read lies within the file.

use flatbuffers::{
    Follow, ForwardsUOffset, InvalidFlatbuffer, SIZE_VOFFSET, Table, VOffsetT, Vector, Verifiable,
    Verifier, VerifierOptions,
};

/// Bytes 4 to 8 of each file.
const IDENTIFIER: &str = "TFL3";

/// Position of a field's offset in the table of offsets, behind two sizes.
const fn slot(number: VOffsetT) -> VOffsetT {
    (2 + number) * SIZE_VOFFSET as VOffsetT
}

type List<'a, T> = Vector<'a, ForwardsUOffset<T>>;

/// Target of a slot's reference. The table was verified with this type in that slot, or with a
/// union whose variant it is.
fn reference<'a, T: Follow<'a> + 'a>(table: Table<'a>, number: VOffsetT) -> Option<T::Inner> {
    // SAFETY: tables are made of verified bytes only, and their accessors keep to what was verified.
    unsafe { table.get::<ForwardsUOffset<T>>(slot(number), None) }
}

/// One accessor: a scalar has a default, a reference may be absent.
macro_rules! field {
    ($(#[$doc:meta])* $name:ident, $slot:literal, ($ty:ty = $default:expr)) => {
        $(#[$doc])*
        pub fn $name(self) -> $ty {
            // SAFETY: the table was verified, with this slot as one of this type.
            unsafe { self.0.get::<$ty>(slot($slot), Some($default)) }.unwrap_or($default)
        }
    };
    ($(#[$doc:meta])* $name:ident, $slot:literal, [$ty:ty]) => {
        $(#[$doc])*
        pub fn $name(self) -> Option<<$ty as Follow<'a>>::Inner> {
            reference::<$ty>(self.0, $slot)
        }
    };
}

macro_rules! checked {
    ($visitor:ident, $name:ident, $slot:literal, ($ty:ty = $default:expr)) => {
        $visitor.visit_field::<$ty>(stringify!($name), slot($slot), false)?
    };
    ($visitor:ident, $name:ident, $slot:literal, [$ty:ty]) => {
        $visitor.visit_field::<ForwardsUOffset<$ty>>(stringify!($name), slot($slot), false)?
    };
}

/// A table with its accessors.
macro_rules! reader {
    ($(#[$doc:meta])* $table:ident {
        $($(#[$field_doc:meta])* $name:ident: $slot:literal $ty:tt;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $table<'a>(Table<'a>);

        impl<'a> $table<'a> {
            $(field!($(#[$field_doc])* $name, $slot, $ty);)*
        }

        impl<'a> Follow<'a> for $table<'a> {
            type Inner = Self;
            unsafe fn follow(bytes: &'a [u8], at: usize) -> Self {
                // SAFETY: the caller's promise is the same.
                Self(unsafe { Table::new(bytes, at) })
            }
        }
    };
}

/// A reader that is verified field by field.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident {
        $($(#[$field_doc:meta])* $name:ident: $slot:literal $ty:tt;)*
    }) => {
        reader! { $(#[$doc])* $table { $($(#[$field_doc])* $name: $slot $ty;)* } }

        impl<'a> Verifiable for $table<'a> {
            fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                let visitor = v.visit_table(at)?;
                $(let visitor = checked!(visitor, $name, $slot, $ty);)*
                visitor.finish();
                Ok(())
            }
        }
    };
}

table! {
    /// A model.
    Model {
        version: 0 (u32 = 0);
        operator_codes: 1 [List<'a, OperatorCode<'a>>];
        subgraphs: 2 [List<'a, SubGraph<'a>>];
        buffers: 4 [List<'a, Buffer<'a>>];
    }
}

table! {
    /// An operator that the model uses.
    OperatorCode {
        /// The number, if it is below 127.
        small_code: 0 (i8 = 0);
        custom_code: 1 [&'a str];
        version: 2 (i32 = 1);
        code: 3 (i32 = 0);
    }
}

table! {
    /// A graph.
    SubGraph {
        tensors: 0 [List<'a, Tensor<'a>>];
        inputs: 1 [Vector<'a, i32>];
        outputs: 2 [Vector<'a, i32>];
        operators: 3 [List<'a, Operator<'a>>];
    }
}

table! {
    /// A value of a graph.
    Tensor {
        shape: 0 [Vector<'a, i32>];
        element: 1 (i8 = 0);
        /// Buffer 0 is none.
        buffer: 2 (u32 = 0);
        name: 3 [&'a str];
        quantization: 4 [Quantization<'a>];
        is_variable: 5 (bool = false);
        sparsity: 6 [Sparsity<'a>];
    }
}

table! {
    /// Quantization of a tensor.
    Quantization {
        scale: 2 [Vector<'a, f32>];
        zero_point: 3 [Vector<'a, i64>];
        dimension: 6 (i32 = 0);
    }
}

table! {
    /// Sparsity: a tensor is stored without its zeros.
    Sparsity {
        traversal_order: 0 [Vector<'a, i32>];
    }
}

table! {
    /// Bytes of a constant; those of files above 2 GiB lie behind the tables.
    Buffer {
        data: 0 [Vector<'a, u8>];
        offset: 1 (u64 = 0);
        size: 2 (u64 = 0);
    }
}

reader! {
    /// The use of an operator.
    Operator {
        code: 0 (u32 = 0);
        inputs: 1 [Vector<'a, i32>];
        outputs: 2 [Vector<'a, i32>];
        options_type: 3 (u8 = 0);
    }
}

/// The options of operators: number of the union's variant, name of the table, and its fields.
macro_rules! options {
    ($($(#[$doc:meta])* $key:literal $table:ident { $($name:ident: $slot:literal $ty:tt;)* })*) => {
        $(table! { $(#[$doc])* $table { $($name: $slot $ty;)* } })*

        $(impl<'a> Options<'a> for $table<'a> {
            const KEY: u8 = $key;
        })*

        impl Verifiable for Operator<'_> {
            fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                let visitor = v.visit_table(at)?;
                let visitor = checked!(visitor, code, 0, (u32 = 0));
                let visitor = checked!(visitor, inputs, 1, [Vector<'_, i32>]);
                let visitor = checked!(visitor, outputs, 2, [Vector<'_, i32>]);
                visitor
                    .visit_union::<u8, _>("options", slot(3), "options", slot(4), false, |key, v, at| {
                        match key {
                            $($key => v.verify_union_variant::<ForwardsUOffset<$table<'_>>>(stringify!($table), at),)*
                            _ => Ok(()),
                        }
                    })?
                    .finish();
                Ok(())
            }
        }
    };
}

/// Options of an operator.
pub trait Options<'a>: Follow<'a, Inner = Self> + Sized {
    /// The number of the union's variant.
    const KEY: u8;
}

impl<'a> Operator<'a> {
    /// The options, if they are of that table.
    pub fn options<T: Options<'a> + 'a>(self) -> Option<T> {
        if self.options_type() != T::KEY {
            return None;
        }
        reference::<T>(self.0, 4)
    }
}

options! {
    1 Conv2DOptions {
        padding: 0 (i8 = 0); stride_w: 1 (i32 = 0); stride_h: 2 (i32 = 0); activation: 3 (i8 = 0);
        dilation_w: 4 (i32 = 1); dilation_h: 5 (i32 = 1);
    }
    2 DepthwiseConv2DOptions {
        padding: 0 (i8 = 0); stride_w: 1 (i32 = 0); stride_h: 2 (i32 = 0); activation: 4 (i8 = 0);
        dilation_w: 5 (i32 = 1); dilation_h: 6 (i32 = 1);
    }
    5 Pool2DOptions {
        padding: 0 (i8 = 0); stride_w: 1 (i32 = 0); stride_h: 2 (i32 = 0); filter_w: 3 (i32 = 0);
        filter_h: 4 (i32 = 0); activation: 5 (i8 = 0);
    }
    8 FullyConnectedOptions { activation: 0 (i8 = 0); weights_format: 1 (i8 = 0); keep_num_dims: 2 (bool = false); }
    9 SoftmaxOptions { beta: 0 (f32 = 0.0); }
    10 ConcatenationOptions { axis: 0 (i32 = 0); activation: 1 (i8 = 0); }
    11 AddOptions { activation: 0 (i8 = 0); }
    12 L2NormOptions { activation: 0 (i8 = 0); }
    15 ResizeBilinearOptions { align_corners: 2 (bool = false); half_pixel_centers: 3 (bool = false); }
    17 ReshapeOptions { new_shape: 0 [Vector<'a, i32>]; }
    19 SpaceToDepthOptions { block_size: 0 (i32 = 0); }
    21 MulOptions { activation: 0 (i8 = 0); }
    23 GatherOptions { axis: 0 (i32 = 0); batch_dims: 1 (i32 = 0); }
    27 ReducerOptions { keep_dims: 0 (bool = false); }
    28 SubOptions { activation: 0 (i8 = 0); }
    29 DivOptions { activation: 0 (i8 = 0); }
    30 SqueezeOptions { squeeze_dims: 0 [Vector<'a, i32>]; }
    32 StridedSliceOptions {
        begin_mask: 0 (i32 = 0); end_mask: 1 (i32 = 0); ellipsis_mask: 2 (i32 = 0);
        new_axis_mask: 3 (i32 = 0); shrink_axis_mask: 4 (i32 = 0); offset: 5 (bool = false);
    }
    49 TransposeConvOptions {
        stride_w: 1 (i32 = 0); stride_h: 2 (i32 = 0); activation: 3 (i8 = 0);
    }
    59 PackOptions { axis: 1 (i32 = 0); }
    64 UnpackOptions { axis: 1 (i32 = 0); }
    74 ResizeNearestOptions { align_corners: 0 (bool = false); half_pixel_centers: 1 (bool = false); }
    75 LeakyReluOptions { alpha: 0 (f32 = 0.0); }
    77 MirrorPadOptions { mode: 0 (i8 = 0); }
    94 DepthToSpaceOptions { block_size: 0 (i32 = 0); }
    101 BatchMatMulOptions { adj_x: 0 (bool = false); adj_y: 1 (bool = false); }
    102 CumsumOptions { exclusive: 0 (bool = false); reverse: 1 (bool = false); }
    116 GeluOptions { approximate: 0 (bool = false); }
}

/// The model in verified bytes.
///
/// # Errors
/// They are of another format, or lead outside of the file.
pub fn model(bytes: &[u8]) -> Result<Model<'_>, String> {
    if bytes.len() < 8 || !flatbuffers::buffer_has_identifier(bytes, IDENTIFIER, false) {
        return Err(format!("bytes 4 to 8 are not \"{IDENTIFIER}\""));
    }
    let options = VerifierOptions {
        max_tables: 1 << 22,
        max_apparent_size: usize::MAX,
        ..VerifierOptions::default()
    };
    flatbuffers::root_with_opts::<Model<'_>>(&options, bytes).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or("the tables are damaged").trim_end_matches('.').to_owned()
    })
}
