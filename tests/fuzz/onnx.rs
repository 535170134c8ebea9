//! ONNX models, with data inside and in files of their own.

use crate::{
    campaign::corpus,
    judge::Case,
    random::Random,
    wire::{self, Field, Kind, Pool, Value},
};
use std::{fs, path::PathBuf};

/// Commands that are run on a damaged model.
const COMMANDS: [&str; 6] = [
    "compile m.onnx -t llvm --emit=import",
    "compile m.onnx -t vanilla,llvm --emit=plan-memory",
    "compile m.onnx -t npu,vanilla,llvm --emit=codegen",
    "compile m.onnx -t c -o out",
    "run m.onnx -t llvm --random-inputs 1 --outputs y.npz",
    "partition m.onnx -t cmsis-nn,vanilla,llvm --explain --html out.html",
];

pub struct Models {
    files: Vec<PathBuf>,
}

impl Models {
    pub fn new() -> Self {
        let mut files = corpus("build/test-data/suite", "model.onnx", 64 << 10);
        files.extend(corpus("build/test-data/ops", "model.onnx", 64 << 10));
        files.extend(corpus("build/test-data/quantized", "model.onnx", 64 << 10));
        files.extend(corpus("build/test-data/models", "model.onnx", 256 << 10));
        Self { files }
    }

    fn any(&self, random: &mut Random) -> Vec<Field> {
        // The suite is most of the files, and the others have more structure.
        let from = if random.chance(50) { 0 } else { self.files.len() * 2 / 3 };
        let file = &self.files[from + random.below(self.files.len() - from)];
        wire::parse(Kind::Model, &fs::read(file).expect("reads")).expect("an ONNX file")
    }

    /// A model with one to four mutations; half get material from another model.
    pub fn damaged(&self, random: &mut Random) -> Case {
        let mut model = self.any(random);
        let mut pool = Pool::default();
        pool.add(Kind::Model, &model);
        if random.chance(50) {
            pool.add(Kind::Model, &self.any(random));
        }
        let mut files = vec![];
        if random.chance(15) {
            files.push(("data.bin".to_owned(), externalize(random, &mut model)));
        }
        for _ in 0..=random.below(4) {
            wire::mutate(random, Kind::Model, &mut model, &pool);
        }
        let mut bytes = wire::bytes(&model);
        if random.chance(8) {
            bytes = random.noise(&bytes);
        }
        files.push(("m.onnx".to_owned(), bytes));
        Case::new(files, random.pick::<&str>(&COMMANDS))
    }
}

/// Moves the raw data of initializers into a file, which may be too short or damaged.
fn externalize(random: &mut Random, model: &mut [Field]) -> Vec<u8> {
    let mut data = vec![];
    for field in model {
        let Value::Message(Kind::Graph, graph) = &mut field.value else { continue };
        for field in graph {
            let Value::Message(Kind::Tensor, tensor) = &mut field.value else { continue };
            externalize_tensor(random, tensor, &mut data);
        }
    }
    if random.chance(20) { random.noise(&data) } else { data }
}

fn externalize_tensor(random: &mut Random, tensor: &mut Vec<Field>, data: &mut Vec<u8>) {
    let raw = tensor.iter().position(|field| field.number == 9);
    let Some(Value::Bytes(raw)) = raw.map(|at| tensor.remove(at).value) else { return };
    let (offset, length) = (data.len(), raw.len());
    data.extend(raw);
    let mut offset = offset.to_string();
    let mut location = "data.bin";
    if random.chance(20) {
        location = *random.pick(&["", ".", "/dev/zero", "../m.onnx", "m.onnx", "/", "no"]);
    }
    if random.chance(20) {
        offset = random.number(8).to_string();
    }
    let length = if random.chance(20) { random.number(8).to_string() } else { length.to_string() };
    let text = |number, text: &str| Field { number, value: Value::Bytes(text.as_bytes().to_vec()) };
    for (key, value) in [("location", location), ("offset", &*offset), ("length", &*length)] {
        let entry = vec![text(1, key), text(2, value)];
        tensor.push(Field { number: 13, value: Value::Message(Kind::Entry, entry) });
    }
    tensor.push(Field { number: 14, value: Value::Number(1) });
}
