//! The cases: what they are called, and the kernels that they stand for.

use phaseline::host::kernel::{
    Buffer, Contraction, Depthwise, Element, Fold, Isa, Types, View, Weights, Window,
    weights::Source,
    window::{COL, ROW},
};
use std::error::Error;

/// Layers of ResNet-50, MobileNetV2 and a BERT encoder.
pub const STANDARD: &[&str] = &[
    "conv=224,224,3,64,7,2,3",
    "conv=56,56,64,64,1,1,0",
    "conv=56,56,64,64,3,1,1",
    "conv=56,56,64,256,1,1,0",
    "conv=56,56,256,64,1,1,0",
    "conv=56,56,128,128,3,2,1",
    "conv=56,56,256,512,1,2,0",
    "conv=28,28,128,128,3,1,1",
    "conv=28,28,512,128,1,1,0",
    "conv=14,14,256,256,3,1,1",
    "conv=14,14,1024,256,1,1,0",
    "conv=7,7,512,512,3,1,1",
    "conv=7,7,2048,512,1,1,0",
    "matmul=1,1000,2048",
    "conv=224,224,3,32,3,2,1",
    "depthwise=112,112,32,3,1,1",
    "conv=112,112,32,16,1,1,0",
    "conv=112,112,16,96,1,1,0",
    "depthwise=112,112,96,3,2,1",
    "conv=56,56,24,144,1,1,0",
    "depthwise=56,56,144,3,1,1",
    "conv=56,56,144,24,1,1,0",
    "depthwise=28,28,192,3,1,1",
    "depthwise=14,14,576,3,1,1",
    "conv=14,14,96,576,1,1,0",
    "depthwise=7,7,960,3,1,1",
    "conv=7,7,160,960,1,1,0",
    "max=112,112,64,3,2,1",
    "mean=7,7,2048,7,1,0",
    "matmul=128,768,768",
    "matmul=128,3072,768",
    "matmul=128,768,3072",
    "product=128,128,64",
    "product=128,64,128",
    "product=512,512,512",
    "product=1024,1024,1024",
];

/// A kernel and its name.
pub struct Case {
    pub name: String,
    pub spec: Spec,
}

pub enum Spec {
    Contraction(Contraction),
    Depthwise(Depthwise),
}

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn take<const N: usize>(numbers: &[i64]) -> Result<[i64; N]> {
    let numbers = numbers.get(..N).ok_or_else(|| format!("{N} numbers are needed"))?;
    Ok(<[i64; N]>::try_from(numbers)?)
}

impl Case {
    /// Reads `KIND=NUMBER,..`.
    pub fn parse(text: &str) -> Result<Self> {
        let (kind, list) = text.split_once('=').ok_or("a case is KIND=NUMBER,NUMBER,..")?;
        let numbers: Vec<i64> = list.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let spec = match kind {
            "conv" => conv(&numbers)?,
            "matmul" => product(take(&numbers)?, Weights::Packed),
            "product" => {
                let sizes: [i64; 3] = take(&numbers)?;
                product(sizes, Weights::Rows(sizes[1]))
            }
            "depthwise" => depthwise(take(&numbers)?, Fold::Weighted),
            "max" => depthwise(take(&numbers)?, Fold::Max),
            "mean" => depthwise(take(&numbers)?, Fold::Mean),
            other => return Err(format!("no kind of case is called '{other}'").into()),
        };
        Ok(Self { name: text.to_owned(), spec })
    }

    pub fn x_len(&self) -> usize {
        let (window, x) = match &self.spec {
            Spec::Contraction(spec) => (&spec.window, &spec.x),
            Spec::Depthwise(spec) => (&spec.window, &spec.x),
        };
        (window.input[0] * window.input[1] * x.col) as usize
    }

    pub fn w_len(&self) -> usize {
        let count = match &self.spec {
            Spec::Contraction(spec) => spec.groups * spec.channels * spec.reduction(),
            Spec::Depthwise(spec) if spec.fold == Fold::Weighted => {
                spec.channels * spec.window.kernel.iter().product::<i64>()
            }
            Spec::Depthwise(_) => 0,
        };
        count as usize
    }

    pub fn y_len(&self) -> usize {
        let count = match &self.spec {
            Spec::Contraction(spec) => spec.rows * spec.cols * spec.groups * spec.channels,
            Spec::Depthwise(spec) => spec.rows * spec.cols * spec.channels,
        };
        count as usize
    }

    /// Multiplications and additions, those on padding included.
    pub fn flops(&self) -> f64 {
        let depth = match &self.spec {
            Spec::Contraction(spec) => spec.reduction(),
            Spec::Depthwise(spec) => spec.window.kernel.iter().product(),
        };
        2.0 * self.y_len() as f64 * depth as f64
    }

    /// Layout of the weights before they are packed.
    fn source(&self) -> Source {
        match &self.spec {
            Spec::Contraction(spec) => Source::Filters {
                groups: spec.groups as usize,
                filters: spec.channels as usize,
                depth: spec.depth as usize,
                taps: spec.window.taps() as usize,
            },
            Spec::Depthwise(spec) => Source::Filters {
                groups: spec.channels as usize,
                filters: 1,
                depth: 1,
                taps: spec.window.taps() as usize,
            },
        }
    }

    pub fn pack(&self, isa: Isa, w: &[f32]) -> Vec<f32> {
        match &self.spec {
            Spec::Contraction(spec) if spec.weights == Weights::Packed => {
                self.source().pack(w, &spec.blocking(isa).channels, spec.grouping(isa))
            }
            Spec::Depthwise(spec) if spec.fold == Fold::Weighted => {
                self.source().pack_depthwise(w, &spec.blocking(isa).channels)
            }
            _ => w.to_vec(),
        }
    }

    /// The kernel's buffers, which may be flat.
    pub fn buffers(&self, isa: Isa) -> Vec<Buffer> {
        let row = |count: usize| Buffer::row(count as i64, Element::F32);
        let packed = self.pack(isa, &vec![0.0; self.w_len()]).len();
        let mut buffers = vec![row(self.x_len())];
        if packed > 0 {
            buffers.push(row(packed));
        }
        buffers.push(row(self.y_len()));
        buffers
    }
}

fn conv(numbers: &[i64]) -> Result<Spec> {
    let [h, w, c, f, k, stride, pad] = take(numbers)?;
    let dilation = numbers.get(7).copied().unwrap_or(1);
    let groups = numbers.get(8).copied().unwrap_or(1);
    let mut window = Window {
        kernel: [1, k, k],
        stride: [1, stride, stride],
        dilation: [dilation; 3],
        pad: [0, pad, pad],
        input: [1, h, w],
    };
    let (mut rows, mut cols) = (window.output(ROW, pad), window.output(COL, pad));
    if k == 1 && stride == 1 && pad == 0 {
        (rows, cols) = (1, h * w);
        window = Window::point([1, rows, cols]);
    }
    Ok(Spec::Contraction(Contraction {
        types: Types::F32,
        batch: 1,
        planes: 1,
        rows,
        cols,
        groups,
        channels: f / groups,
        sections: vec![],
        depth: c / groups,
        window,
        x: View { row: window.input[COL] * c, col: c, channel: 1, ..Default::default() },
        weights: Weights::Packed,
        weights_batch: 0,
        weights_plane: 0,
        scales: None,
        start: None,
        amx: None,
        y: View { row: cols * f, col: f, channel: 1, ..Default::default() },
        operands: vec![],
    }))
}

fn product([m, n, k]: [i64; 3], weights: Weights) -> Spec {
    Spec::Contraction(Contraction {
        types: Types::F32,
        batch: 1,
        planes: 1,
        rows: 1,
        cols: m,
        groups: 1,
        channels: n,
        sections: vec![],
        depth: k,
        window: Window::point([1, 1, m]),
        x: View { col: k, channel: 1, ..Default::default() },
        weights,
        weights_batch: 0,
        weights_plane: 0,
        scales: None,
        start: None,
        amx: None,
        y: View { col: n, channel: 1, ..Default::default() },
        operands: vec![],
    })
}

fn depthwise([h, w, c, k, stride, pad]: [i64; 6], fold: Fold) -> Spec {
    let window = Window {
        kernel: [1, k, k],
        stride: [1, stride, stride],
        dilation: [1; 3],
        pad: [0, pad, pad],
        input: [1, h, w],
    };
    let (rows, cols) = (window.output(ROW, pad), window.output(COL, pad));
    Spec::Depthwise(Depthwise {
        types: Types::F32,
        fold,
        batch: 1,
        planes: 1,
        rows,
        cols,
        channels: c,
        shared: 1,
        window,
        x: View { row: w * c, col: c, channel: 1, ..Default::default() },
        weights: Weights::Packed,
        start: None,
        y: View { row: cols * c, col: c, channel: 1, ..Default::default() },
        operands: vec![],
    })
}
