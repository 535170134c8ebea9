//! Packages that `compile` wrote, and the arrays that are fed to them.

use crate::{
    campaign::{corpus, root},
    judge::{self, Case, program},
    random::Random,
    text::{self, Dictionary},
    wire::{self, Kind},
};
use std::{
    fs,
    io::{Cursor, Read, Write},
    path::PathBuf,
    process::Command,
};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

/// A package and arrays for it.
pub struct Package {
    files: Vec<(String, Vec<u8>)>,
    inputs: Vec<u8>,
    tensors: Vec<PathBuf>,
}

impl Package {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |arguments: &str| {
            let arguments = arguments.split(' ');
            let status = Command::new(program())
                .args(arguments)
                .current_dir(folder.path())
                .status()
                .expect("runs");
            assert!(status.success());
        };
        let network = root().join("tests/lit/cli/Inputs/net.mlir");
        fs::copy(network, folder.path().join("net.mlir")).expect("copies");
        run("compile net.mlir -t vanilla,llvm -o p");
        // The network's output is an array like its input, under another name.
        run("run p --random-inputs 1 --outputs y.npz");
        let files: Vec<_> = judge::tree(&folder.path().join("p"))
            .into_iter()
            .filter(|(name, _)| folder.path().join("p").join(name).is_file())
            .map(|(name, bytes)| (format!("p/{}", name.display()), bytes))
            .collect();
        let mut npy = npy_of(&fs::read(folder.path().join("y.npz")).expect("reads"));
        let text = String::from_utf8_lossy(&npy).into_owned();
        assert!(text.contains("(1, 4, 4, 4)"), "the network's output has this shape");
        let at = npy.windows(12).position(|w| w == b"(1, 4, 4, 4)").expect("the shape");
        npy[at..at + 12].copy_from_slice(b"(1, 1, 8, 8)");
        let tensors = corpus("build/test-data/suite", "input_0.pb", 4 << 10);
        Self { files, inputs: npy, tensors }
    }

    /// Arrays with damage to the archive, the header or the elements.
    pub fn damaged_array(&self, random: &mut Random) -> Case {
        let mut files = self.files.clone();
        if random.chance(25) {
            files.push(("x/input_0.pb".to_owned(), self.damaged_tensor(random)));
            return Case::new(files, "run p --inputs x --outputs y.npz");
        }
        let mut npy = self.inputs.clone();
        match random.below(4) {
            0 => npy = random.noise(&npy),
            1 => npy.truncate(random.below(npy.len())),
            _ => {
                let end = npy.iter().position(|byte| *byte == b'\n').expect("a header");
                let header = String::from_utf8_lossy(&npy[10..end]).into_owned();
                let dictionary =
                    Dictionary::new([&*header, "'>f8' <i4 |b1 U O True c16 |S3 <f2 1e9"]);
                let mut header = text::mutate(random, &header, &dictionary, "");
                if random.chance(80) {
                    header.push(b'\n');
                }
                let mut length = header.len() as i64;
                if random.chance(15) {
                    length = random.number(length);
                }
                let mut bytes = npy[..8].to_vec();
                bytes.extend((length as u16).to_le_bytes());
                bytes.extend(header);
                bytes.extend(&npy[end + 1..]);
                npy = bytes;
            }
        }
        let name =
            if random.chance(80) { "x.npy" } else { random.pick(&["y.npy", "x", "../x.npy", ""]) };
        let mut bytes = npz_of(name, &npy, if random.chance(10) { 2 } else { 1 });
        if random.chance(20) {
            bytes = random.noise(&bytes);
        }
        files.push(("x.npz".to_owned(), bytes));
        Case::new(files, "run p --inputs x.npz --outputs y.npz")
    }

    fn damaged_tensor(&self, random: &mut Random) -> Vec<u8> {
        let bytes = fs::read(random.pick(&self.tensors)).expect("reads");
        let Some(mut fields) = wire::parse(Kind::Tensor, &bytes) else { return bytes };
        let mut pool = wire::Pool::default();
        pool.add(Kind::Tensor, &fields);
        pool.texts.push(b"x".to_vec());
        for _ in 0..=random.below(4) {
            wire::mutate(random, Kind::Tensor, &mut fields, &pool);
        }
        wire::bytes(&fields)
    }

    /// Packages with damage to one of their files.
    pub fn damaged_package(&self, random: &mut Random) -> Case {
        let mut files = self.files.clone();
        let metadata = files.iter().position(|(name, _)| name.ends_with(".json")).expect("one");
        if random.chance(75) {
            let text = String::from_utf8_lossy(&files[metadata].1).into_owned();
            let dictionary =
                Dictionary::new([&*text, "int8 bool string null true false {} [] ../ /"]);
            files[metadata].1 = text::mutate(random, &text, &dictionary, &text);
        } else {
            let at = random.below(files.len());
            match random.below(4) {
                0 => drop(files.remove(at)),
                1 => files[at].1.clear(),
                _ => files[at].1 = random.noise(&files[at].1),
            }
        }
        let command = if random.chance(10) {
            "bench p --random-inputs 1 --min-time 0 --min-runs 1"
        } else {
            "run p --random-inputs 1 --outputs y.npz"
        };
        Case::new(files, command)
    }
}

/// The only array of an archive.
fn npy_of(npz: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(npz)).expect("an archive");
    let mut bytes = vec![];
    archive.by_index(0).expect("an array").read_to_end(&mut bytes).expect("reads");
    bytes
}

/// An archive with an array, `count` times under numbered names.
fn npz_of(name: &str, npy: &[u8], count: usize) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(vec![]));
    for index in 0..count {
        let name = if index == 0 { name.to_owned() } else { format!("{index}{name}") };
        writer.start_file(name, SimpleFileOptions::default()).expect("starts");
        writer.write_all(npy).expect("writes");
    }
    writer.finish().expect("finishes").into_inner()
}
