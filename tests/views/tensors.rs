//! A plain evaluation of operations on f32: one element after the other, in f64, from the definitions.

/// The elements of a tensor in row-major order.
#[derive(Clone, Debug)]
pub struct Array {
    pub dims: Vec<usize>,
    pub data: Vec<f32>,
}

/// All positions of a shape, in row-major order.
pub fn positions(dims: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for size in dims {
        all = all
            .into_iter()
            .flat_map(|place: Vec<usize>| {
                (0..*size).map(move |at| [place.clone(), vec![at]].concat())
            })
            .collect();
    }
    all
}

impl Array {
    pub fn from(dims: &[usize], mut element: impl FnMut(&[usize]) -> f32) -> Self {
        let data = positions(dims).iter().map(|place| element(place)).collect();
        Self { dims: dims.to_vec(), data }
    }

    pub fn at(&self, place: &[usize]) -> f32 {
        let index = place.iter().zip(&self.dims).fold(0, |sum, (at, size)| sum * size + at);
        self.data[index]
    }

    /// The element at a place that may be outside.
    fn inside(&self, place: &[isize]) -> Option<f32> {
        let place: Option<Vec<usize>> = place
            .iter()
            .zip(&self.dims)
            .map(|(at, size)| usize::try_from(*at).ok().filter(|at| at < size))
            .collect();
        place.map(|place| self.at(&place))
    }

    pub fn greatest(&self) -> f32 {
        self.data.iter().fold(0.0, |greatest, x| x.abs().max(greatest))
    }

    pub fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        let data = self.data.iter().map(|x| function(f64::from(*x)) as f32).collect();
        Self { dims: self.dims.clone(), data }
    }

    /// Combines two tensors element by element. Dimensions of `other` of size 1, or those that it
    /// lacks, are repeated.
    pub fn with(&self, other: &Self, function: impl Fn(f64, f64) -> f64) -> Self {
        let lacks = self.dims.len() - other.dims.len();
        Self::from(&self.dims, |place| {
            let theirs = place[lacks..].iter().zip(&other.dims);
            let theirs: Vec<usize> =
                theirs.map(|(at, size)| if *size == 1 { 0 } else { *at }).collect();
            function(f64::from(self.at(place)), f64::from(other.at(&theirs))) as f32
        })
    }

    /// `count` elements of an axis from `start` on, each so many from the one before.
    pub fn slice(&self, axis: usize, start: usize, step: isize, count: usize) -> Self {
        let mut dims = self.dims.clone();
        dims[axis] = count;
        Self::from(&dims, |place| {
            let mut place = place.to_vec();
            place[axis] = start.wrapping_add_signed(step * place[axis] as isize);
            self.at(&place)
        })
    }

    pub fn concat(parts: &[&Self], axis: usize) -> Self {
        let mut dims = parts[0].dims.clone();
        dims[axis] = parts.iter().map(|part| part.dims[axis]).sum();
        Self::from(&dims, |place| {
            let mut place = place.to_vec();
            for part in parts {
                match place[axis].checked_sub(part.dims[axis]) {
                    None => return part.at(&place),
                    Some(rest) => place[axis] = rest,
                }
            }
            unreachable!("a place outside")
        })
    }

    pub fn transpose(&self, perm: &[usize]) -> Self {
        let dims: Vec<usize> = perm.iter().map(|axis| self.dims[*axis]).collect();
        Self::from(&dims, |place| {
            let mut from = vec![0; place.len()];
            perm.iter().zip(place).for_each(|(axis, at)| from[*axis] = *at);
            self.at(&from)
        })
    }

    pub fn reshape(&self, dims: &[usize]) -> Self {
        Self { dims: dims.to_vec(), data: self.data.clone() }
    }

    /// With so many more elements before and behind along an axis: those at the edge, or a number.
    pub fn pad(&self, axis: usize, (before, behind): (usize, usize), number: Option<f32>) -> Self {
        let mut dims = self.dims.clone();
        dims[axis] += before + behind;
        let size = self.dims[axis];
        Self::from(&dims, |place| {
            let mut from: Vec<isize> = place.iter().map(|at| *at as isize).collect();
            from[axis] -= before as isize;
            if number.is_none() {
                from[axis] = from[axis].clamp(0, size as isize - 1);
            }
            self.inside(&from).or(number).expect("an element or a number")
        })
    }

    /// Applies `result` to the elements inside of the image of each window over the last two
    /// dimensions. `of` has the number of result channels, and the input channels of each.
    pub fn windows(
        &self,
        window: &Window,
        of: (usize, impl Fn(usize) -> std::ops::Range<usize>),
        result: impl Fn(usize, &[(usize, usize, f64)]) -> f64,
    ) -> Self {
        let [h, w] = [2, 3].map(|axis| window.count(self.dims[axis], axis - 2));
        Self::from(&[self.dims[0], of.0, h, w], |place| {
            let mut found = vec![];
            for (index, channel) in (of.1)(place[1]).enumerate() {
                for tap in 0..window.kernel.iter().product() {
                    let tap_at = [tap / window.kernel[1], tap % window.kernel[1]];
                    let at = [0, 1].map(|i| {
                        (place[i + 2] * window.strides[i] + tap_at[i]) as isize
                            - window.pads[i] as isize
                    });
                    let at = [place[0] as isize, channel as isize, at[0], at[1]];
                    found.extend(self.inside(&at).map(|x| (index, tap, f64::from(x))));
                }
            }
            result(place[1], &found) as f32
        })
    }

    /// Applies a function along one axis, which is kept with the size of the function's result.
    pub fn along(&self, axis: usize, function: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let all = |place: &[usize]| {
            let mut place = place.to_vec();
            let elements = (0..self.dims[axis]).map(|at| {
                place[axis] = at;
                f64::from(self.at(&place))
            });
            function(&elements.collect::<Vec<_>>())
        };
        let mut dims = self.dims.clone();
        dims[axis] = all(&vec![0; dims.len()]).len();
        Self::from(&dims, |place| all(place)[place[axis]] as f32)
    }

    /// Product with a matrix over the last axis.
    pub fn times(&self, matrix: &Self) -> Self {
        let last = self.dims.len() - 1;
        let mut dims = self.dims.clone();
        dims[last] = matrix.dims[1];
        Self::from(&dims, |place| {
            let mut from = place.to_vec();
            let terms = (0..self.dims[last]).map(|k| {
                from[last] = k;
                f64::from(self.at(&from)) * f64::from(matrix.at(&[k, place[last]]))
            });
            terms.sum::<f64>() as f32
        })
    }
}

/// Windows over the last two dimensions of an image.
pub struct Window {
    pub kernel: [usize; 2],
    pub strides: [usize; 2],
    /// Before and behind each dimension.
    pub pads: [usize; 4],
}

impl Window {
    /// Number of windows along a dimension.
    pub fn count(&self, size: usize, dim: usize) -> usize {
        let padded = size + self.pads[dim] + self.pads[dim + 2];
        (padded - self.kernel[dim]) / self.strides[dim] + 1
    }

    /// The attributes of strides and pads.
    pub fn attributes(&self) -> String {
        format!("strides = {:?} pads = {:?}", self.strides, self.pads)
    }
}
