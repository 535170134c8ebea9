//! Random networks in which several operations use a value and views of it.

use super::tensors::{Array, Window};
use std::fmt::Write as _;

/// Numbers that look random, the same ones for a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random =
            Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number << 20) ^ 0x5851_f42d);
        (0..4).for_each(|_| {
            random.next();
        });
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most + 1 - least)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn array(&mut self, dims: &[usize], scale: f32) -> Array {
        Array::from(dims, |_| (self.below(2001) as f32 - 1000.0) / 1000.0 * scale)
    }
}

/// A value of a network, with what it is for the network's inputs.
#[derive(Clone)]
struct Value {
    name: String,
    is: Array,
}

/// A network in the graph dialect, inputs for it, and what it computes of them.
pub struct Network {
    pub text: String,
    pub inputs: Vec<Array>,
    pub outputs: Vec<Array>,
}

/// The most elements of a value.
const LARGEST: usize = 6_000;

struct Graph {
    random: Random,
    text: String,
    values: Vec<Value>,
    /// Values that some operation uses.
    used: Vec<bool>,
    names: usize,
}

fn tensor(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

impl Network {
    pub fn random(seed: u64, number: u64) -> Self {
        let mut random = Random::new(seed, number);
        let mut graph = Graph {
            random: Random(random.next()),
            text: String::new(),
            values: vec![],
            used: vec![],
            names: 0,
        };
        let mut dims = vec![random.between(2, 6), random.between(3, 12), 2 * random.between(2, 8)];
        if random.chance(70) {
            dims.insert(0, random.between(1, 2));
        }
        let count = random.between(1, 2);
        let inputs: Vec<Array> = (0..count).map(|_| random.array(&dims, 2.0)).collect();
        for (index, is) in inputs.iter().enumerate() {
            graph.add(Value { name: format!("%x{index}"), is: is.clone() });
        }
        for _ in 0..random.between(4, 13) {
            graph.grow();
        }
        let leaves = graph.values.iter().zip(&graph.used).skip(count);
        let leaves: Vec<&Value> =
            leaves.filter(|(_, used)| !**used).map(|(value, _)| value).collect();
        let list = |of: &dyn Fn(&Value) -> String| {
            leaves.iter().map(|value| of(value)).collect::<Vec<_>>().join(", ")
        };
        let types = list(&|value| tensor(&value.is.dims));
        let arguments: Vec<String> =
            (0..count).map(|index| format!("%x{index}: {}", tensor(&dims))).collect();
        let text = format!(
            "func.func @main({}) -> ({types}) {{\n{}  return {} : {types}\n}}\n",
            arguments.join(", "),
            graph.text,
            list(&|value| value.name.clone())
        );
        let outputs = leaves.iter().map(|value| value.is.clone()).collect();
        Self { text, inputs, outputs }
    }
}

impl Graph {
    fn add(&mut self, value: Value) {
        self.values.push(value);
        self.used.push(false);
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("a string");
    }

    fn constant(&mut self, is: Array) -> Value {
        let name = self.fresh();
        let bytes = is.data.iter().flat_map(|x| x.to_le_bytes());
        let hex: String = bytes.map(|byte| format!("{byte:02X}")).collect();
        self.line(&format!("{name} = graph.constant dense<\"0x{hex}\"> : {}", tensor(&is.dims)));
        Value { name, is }
    }

    fn integers(&mut self, numbers: &[i64]) -> String {
        let name = self.fresh();
        let count = numbers.len();
        self.line(&format!("{name} = graph.constant dense<{numbers:?}> : tensor<{count}xi64>"));
        name
    }

    /// Adds an operation: `what` has the name and attributes with `@` for the operands. Operations whose
    /// type is printed once say `alone`.
    fn op(&mut self, what: &str, operands: &[&Value], is: Array) -> Value {
        let name = self.fresh();
        let list: Vec<&str> = operands.iter().map(|value| value.name.as_str()).collect();
        let from: Vec<String> = operands.iter().map(|value| tensor(&value.is.dims)).collect();
        let what = what.replace('@', &list.join(", "));
        let to = tensor(&is.dims);
        self.line(&format!("{name} = graph.{what} : ({}) -> {to}", from.join(", ")));
        self.made(name, operands, is)
    }

    fn alone(&mut self, what: &str, x: &Value, is: Array) -> Value {
        let name = self.fresh();
        let what = what.replace('@', &x.name);
        self.line(&format!("{name} = graph.{what} : {}", tensor(&is.dims)));
        self.made(name, &[x], is)
    }

    fn made(&mut self, name: String, operands: &[&Value], is: Array) -> Value {
        for (value, used) in self.values.iter().zip(&mut self.used) {
            *used |= operands.iter().any(|operand| operand.name == value.name);
        }
        let value = Value { name, is };
        self.add(value.clone());
        value
    }

    /// A value: often one that is used already.
    fn pick(&mut self) -> Value {
        let count = self.values.len();
        let back = if self.random.chance(45) { count } else { count.min(4) };
        self.values[count - 1 - self.random.below(back)].clone()
    }

    /// A value of the same shape, if there is another one, or a constant.
    fn like(&mut self, x: &Value) -> Value {
        let is_other = |value: &&Value| value.is.dims == x.is.dims && value.name != x.name;
        let same: Vec<Value> = self.values.iter().filter(is_other).cloned().collect();
        if !same.is_empty() && self.random.chance(75) {
            return same[self.random.below(same.len())].clone();
        }
        let from = self.random.below(x.is.dims.len());
        let array = self.random.array(&x.is.dims[from..], 1.5);
        self.constant(array)
    }

    fn grow(&mut self) {
        let x = self.pick();
        match self.random.below(100) {
            0..16 => drop(self.unary(&x)),
            16..34 => self.binary(&x),
            34..46 => self.slice(&x),
            46..54 => self.split(&x),
            54..62 => self.concat(&x),
            62..69 => drop(self.transpose(&x)),
            69..75 => drop(self.reshape(&x)),
            75..80 => self.pad(&x),
            80..86 => self.rotate(&x),
            86..91 => self.conv(&x),
            91..95 => self.pool(&x),
            95..98 => self.along(&x),
            _ => self.product(&x),
        }
    }

    fn unary(&mut self, x: &Value) -> Value {
        type Function = fn(f64) -> f64;
        let functions: [(&str, Function); 5] = [
            ("tanh @", f64::tanh),
            ("relu @", |x| x.max(0.0)),
            ("neg @", |x| -x),
            ("abs @", f64::abs),
            ("sigmoid @", |x| 1.0 / (1.0 + (-x).exp())),
        ];
        let (what, function) = functions[self.random.below(functions.len())];
        self.alone(what, x, x.is.map(function))
    }

    fn binary(&mut self, x: &Value) {
        let y = self.like(x);
        type Function = fn(f64, f64) -> f64;
        let functions: [(&str, Function); 5] = [
            ("add @", |x, y| x + y),
            ("sub @", |x, y| x - y),
            ("mul @", |x, y| x * y),
            ("min @", f64::min),
            ("max @", f64::max),
        ];
        let large = x.is.greatest() * y.is.greatest() > 100.0;
        let (what, function) = functions[if large { 3 } else { self.random.below(5) }];
        self.op(what, &[x, &y], x.is.with(&y.is, function));
    }

    /// Some elements of an axis, with steps or from behind.
    fn slice(&mut self, x: &Value) {
        let axis = self.random.below(x.is.dims.len());
        let size = x.is.dims[axis];
        let step: isize = [1, 1, 1, 2, -1][self.random.below(5)];
        let first = self.random.below(size);
        let most = if step < 0 { first + 1 } else { (size - first).div_ceil(step as usize) };
        let count = self.random.between(most.div_ceil(2), most);
        let end = first as i64 + (step * count as isize) as i64;
        // Behind the front it counts from the end.
        let end = if end < 0 { -(size as i64) - 1 } else { end.min(size as i64) };
        let [from, to, axes, steps] =
            [first as i64, end, axis as i64, step as i64].map(|number| self.integers(&[number]));
        let is = x.is.slice(axis, first, step, count);
        let name = self.fresh();
        let one = "tensor<1xi64>";
        let (given, made) = (tensor(&x.is.dims), tensor(&is.dims));
        self.line(&format!(
            "{name} = graph.slice {}, {from}, {to} axes {axes} steps {steps} : ({given}, {one}, {one}, \
             {one}, {one}) -> {made}",
            x.name
        ));
        self.made(name, &[x], is);
    }

    fn split(&mut self, x: &Value) {
        let axis = self.random.below(x.is.dims.len());
        let size = x.is.dims[axis];
        if size < 2 {
            return;
        }
        let at = if size.is_multiple_of(2) && self.random.chance(60) {
            size / 2
        } else {
            self.random.between(1, size - 1)
        };
        let parts = [x.is.slice(axis, 0, 1, at), x.is.slice(axis, at, 1, size - at)];
        let name = self.fresh();
        let types = parts.each_ref().map(|part| tensor(&part.dims)).join(", ");
        self.line(&format!(
            "{name}:2 = graph.split {} axis = {axis} split = [{at}, {}] : ({}) -> ({types})",
            x.name,
            size - at,
            tensor(&x.is.dims)
        ));
        let [first, second] = parts;
        self.made(format!("{name}#0"), &[x], first);
        self.made(format!("{name}#1"), &[x], second);
    }

    fn concat(&mut self, x: &Value) {
        let axis = self.random.below(x.is.dims.len());
        let fits = |value: &&Value| {
            let others = |dims: &[usize]| [&dims[..axis], &dims[axis + 1..]].concat();
            value.is.dims.len() == x.is.dims.len() && others(&value.is.dims) == others(&x.is.dims)
        };
        let fitting: Vec<Value> = self.values.iter().filter(fits).cloned().collect();
        let mut parts = vec![x.clone()];
        for _ in 0..self.random.between(1, 2) {
            let place = self.random.below(parts.len() + 1);
            parts.insert(place, fitting[self.random.below(fitting.len())].clone());
        }
        if parts.iter().map(|part| part.is.data.len()).sum::<usize>() > LARGEST {
            return;
        }
        let arrays: Vec<&Array> = parts.iter().map(|part| &part.is).collect();
        let is = Array::concat(&arrays, axis);
        self.op(&format!("concat @ axis = {axis}"), &parts.iter().collect::<Vec<_>>(), is);
    }

    fn transpose(&mut self, x: &Value) -> Value {
        let rank = x.is.dims.len();
        let mut perm: Vec<usize> = (0..rank).collect();
        for _ in 0..self.random.between(1, 2) {
            let (a, b) = (self.random.below(rank), self.random.below(rank));
            perm.swap(a, b);
        }
        self.op(&format!("transpose @ perm = {perm:?}"), &[x], x.is.transpose(&perm))
    }

    fn reshape(&mut self, x: &Value) -> Value {
        let size = x.is.data.len();
        let divides: Vec<usize> = (1..=size.min(24)).filter(|n| size.is_multiple_of(*n)).collect();
        let rows = divides[self.random.below(divides.len())];
        let rest: Vec<usize> =
            divides.into_iter().filter(|n| (size / rows).is_multiple_of(*n)).collect();
        let columns = rest[self.random.below(rest.len())];
        let last = size / rows / columns;
        let dims = match self.random.below(3) {
            0 => vec![rows, columns * last],
            1 => vec![rows, columns, last],
            _ => vec![1, rows, columns, last],
        };
        self.as_shape(x, &dims)
    }

    fn as_shape(&mut self, x: &Value, dims: &[usize]) -> Value {
        let numbers: Vec<i64> = dims.iter().map(|size| *size as i64).collect();
        let shape = self.integers(&numbers);
        let (from, to, rank) = (tensor(&x.is.dims), tensor(dims), dims.len());
        let name = self.fresh();
        self.line(&format!(
            "{name} = graph.reshape {}, {shape} : ({from}, tensor<{rank}xi64>) -> {to}",
            x.name
        ));
        self.made(name, &[x], x.is.reshape(dims))
    }

    fn pad(&mut self, x: &Value) {
        let (axis, rank) = (self.random.below(x.is.dims.len()), x.is.dims.len());
        let amounts = (self.random.below(3), self.random.between(1, 2));
        let size = x.is.dims[axis];
        if x.is.data.len() / size * (size + 4) > LARGEST {
            return;
        }
        let edge = self.random.chance(30);
        let is = x.is.pad(axis, amounts, Some(0.0).filter(|_| !edge));
        let mut pads = vec![0; 2 * rank];
        (pads[axis], pads[rank + axis]) = (amounts.0 as i64, amounts.1 as i64);
        let pads = self.integers(&pads);
        let name = self.fresh();
        let mode = if edge { " mode = \"edge\"" } else { "" };
        let (from, to) = (tensor(&x.is.dims), tensor(&is.dims));
        self.line(&format!(
            "{name} = graph.pad {}, {pads}{mode} : ({from}, tensor<{}xi64>) -> {to}",
            x.name,
            2 * rank
        ));
        self.made(name, &[x], is);
    }

    /// Half of an axis rotated: x * cos + concat(-x2, x1) * sin, as in transformers.
    fn rotate(&mut self, x: &Value) {
        let axis = x.is.dims.len() - 1;
        let size = x.is.dims[axis];
        if !size.is_multiple_of(2) || x.is.greatest() > 30.0 {
            return;
        }
        let x = if self.random.chance(60) { self.unary(x) } else { x.clone() };
        self.split_at(&x, axis, size / 2);
        let count = self.values.len();
        let (first, second) = (self.values[count - 2].clone(), self.values[count - 1].clone());
        let negated = self.alone("neg @", &second, second.is.map(|x| -x));
        let is = Array::concat(&[&negated.is, &first.is], axis);
        let turned = self.op(&format!("concat @ axis = {axis}"), &[&negated, &first], is);
        let [cos, sin] = [0, 1].map(|_| {
            let array = self.random.array(&x.is.dims[1..], 1.0);
            self.constant(array)
        });
        let a = self.op("mul @", &[&x, &cos], x.is.with(&cos.is, |x, y| x * y));
        let b = self.op("mul @", &[&turned, &sin], turned.is.with(&sin.is, |x, y| x * y));
        self.op("add @", &[&a, &b], a.is.with(&b.is, |x, y| x + y));
    }

    /// The two parts of an axis, as slices.
    fn split_at(&mut self, x: &Value, axis: usize, at: usize) {
        let size = x.is.dims[axis];
        for (first, end) in [(0, at), (at, size)] {
            let [from, to, axes] =
                [first as i64, end as i64, axis as i64].map(|number| self.integers(&[number]));
            let is = x.is.slice(axis, first, 1, end - first);
            let name = self.fresh();
            let (given, made) = (tensor(&x.is.dims), tensor(&is.dims));
            self.line(&format!(
                "{name} = graph.slice {}, {from}, {to} axes {axes} : ({given}, tensor<1xi64>, \
                 tensor<1xi64>, tensor<1xi64>) -> {made}",
                x.name
            ));
            self.made(name, &[x], is);
        }
    }

    /// Reshapes a value to an image.
    fn image(&mut self, x: &Value) -> Option<Value> {
        let dims = &x.is.dims;
        let shape = match dims[..] {
            [_, _, _, _] => return Some(x.clone()),
            [a, b, c] => [1, a, b, c],
            _ => return None,
        };
        Some(self.as_shape(x, &shape))
    }

    fn window(&mut self, dims: &[usize]) -> Window {
        let pads = if self.random.chance(50) {
            [1, 1, 1, 1]
        } else {
            [0; 4].map(|_| self.random.below(2))
        };
        let most = |axis: usize| dims[axis].min(3);
        let kernel = [2, 3].map(|axis| self.random.between(1, most(axis)));
        let pads = [0, 1, 2, 3].map(|i| if kernel[i % 2] > pads[i] { pads[i] } else { 0 });
        let strides = if self.random.chance(60) { [1, 1] } else { [self.random.between(1, 2), 2] };
        Window { kernel, strides, pads }
    }

    fn conv(&mut self, x: &Value) {
        let Some(x) = self.image(x) else { return };
        let window = self.window(&x.is.dims);
        let channels = x.is.dims[1];
        let is_depthwise = channels > 1 && self.random.chance(60);
        let (count, group) =
            if is_depthwise { (channels, channels) } else { (self.random.between(1, 4), 1) };
        let each = channels / group;
        let [h, w] = window.kernel;
        let scale = 1.5 / ((each * h * w) as f32).sqrt();
        let filters = self.random.array(&[count, each, h, w], scale);
        let weights = self.constant(filters);
        let filters = weights.is.clone();
        let from = |to: usize| if is_depthwise { to..to + 1 } else { 0..channels };
        let is = x.is.windows(&window, (count, from), |to, taps| {
            let terms = taps
                .iter()
                .map(|(index, tap, x)| x * f64::from(filters.at(&[to, *index, tap / w, tap % w])));
            terms.sum()
        });
        let attributes = window.attributes();
        let group = if group > 1 { format!(" group = {group}") } else { String::new() };
        self.op(&format!("conv @ {attributes}{group}"), &[&x, &weights], is);
    }

    fn pool(&mut self, x: &Value) {
        let Some(x) = self.image(x) else { return };
        let window = self.window(&x.is.dims);
        let channels = x.is.dims[1];
        let is_max = self.random.chance(60);
        let is = x.is.windows(&window, (channels, |to| to..to + 1), |_, taps| {
            let elements = taps.iter().map(|(_, _, x)| *x);
            match is_max {
                true => elements.fold(f64::NEG_INFINITY, f64::max),
                false => elements.sum::<f64>() / taps.len() as f64,
            }
        });
        let name = if is_max { "max_pool" } else { "average_pool" };
        let (kernel, attributes) = (window.kernel, window.attributes());
        self.op(&format!("{name} @ kernel_shape = {kernel:?} {attributes}"), &[&x], is);
    }

    fn along(&mut self, x: &Value) {
        let axis = self.random.below(x.is.dims.len());
        let softmax = |x: &[f64]| {
            let greatest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = x.iter().map(|x| (x - greatest).exp()).sum();
            x.iter().map(|x| (x - greatest).exp() / sum).collect()
        };
        match self.random.below(3) {
            0 => {
                drop(self.alone(&format!("softmax @ axis = {axis}"), x, x.is.along(axis, softmax)))
            }
            1 => {
                let is = x.is.along(axis, |x| vec![x.iter().sum::<f64>() / x.len() as f64]);
                self.op(&format!("reduce_mean @ axes = [{axis}]"), &[x], is);
            }
            _ => {
                let is =
                    x.is.along(axis, |x| vec![x.iter().copied().fold(f64::NEG_INFINITY, f64::max)]);
                self.op(&format!("reduce_max @ axes = [{axis}]"), &[x], is);
            }
        }
    }

    fn product(&mut self, x: &Value) {
        let last = x.is.dims[x.is.dims.len() - 1];
        let columns = self.random.between(2, 9);
        if x.is.data.len() / last * columns > LARGEST {
            return;
        }
        let array = self.random.array(&[last, columns], 1.5 / (last as f32).sqrt());
        let matrix = self.constant(array);
        self.op("matmul @", &[x, &matrix], x.is.times(&matrix.is));
    }
}
