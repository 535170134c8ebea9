//! Devices that are data only, beside the built-in one.

use super::cases::{Device, Random, conv, dense, product};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The built-in device under another name, from a directory.
fn strawberry() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("strawberry");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory");
    for entry in std::fs::read_dir(root().join("targets/vanilla")).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let text = text.replace("\nname = \"vanilla\"", "\nname = \"strawberry\"");
        std::fs::write(directory.join(path.file_name().expect("a name")), text).expect("room");
    }
    directory
}

#[test]
fn a_copy_under_another_name_gives_the_same() {
    let path = strawberry();
    let spec = "a: strawberry -scratchpad=16k, b: strawberry";
    for seed in [11, 12, 13] {
        let copy = Device {
            spec: spec.to_owned(),
            path: Some(path.clone()),
            calls: "vanilla_".to_owned(),
            sizes: String::new(),
        };
        let layer = |random: &mut Random| match seed {
            11 => conv(random, 1, false, 40),
            12 => conv(random, 1, true, 40),
            _ => dense(random, 300),
        };
        let case = layer(&mut Random(seed));
        let (code, found) = case.check(&mut Random(seed), &copy);
        let original = Device::new("vanilla -scratchpad=16k");
        let (expected_code, expected) = case.check(&mut Random(seed), &original);
        assert_eq!(found, expected);
        // But for the names of targets and models, the C is the same.
        let lines = |code: &str| code.lines().filter(|l| l.contains("device, ")).count();
        assert_eq!(lines(&code), lines(&expected_code));
    }
}

fn slab(options: &str) -> Device {
    Device {
        spec: format!("slab {options}"),
        path: Some(root().join("tests/targets")),
        calls: "slab_multiply".to_owned(),
        sizes: String::new(),
    }
}

#[test]
fn another_engine_computes_products_of_any_size() {
    let random = &mut Random(0x51AB);
    for options in ["", "-memory=256", "-memory=512 -lanes=3", "-memory=4k -lanes=16", "-lanes=1"] {
        for limit in [5, 70] {
            product(random, [40, limit, limit]).check(random, &slab(options));
        }
    }
    product(random, [1, 1, 1]).check(random, &slab("-memory=256"));
    product(random, [33, 7, 13]).check(random, &slab("").sizes("m=5:k=2"));
}

#[test]
fn sums_in_pieces_get_bias_and_relu_once() {
    let random = &mut Random(5);
    let (code, _) = product(random, [4, 600, 9]).check(random, &slab("-memory=256"));
    for part in [".first = 1", ".first = 0", "slab_load(device, ", "slab_store(device, "] {
        assert!(code.contains(part), "{part}\n{code}");
    }
}

#[test]
fn a_match_whose_least_tile_does_not_fit_is_refused() {
    // A row of 16 columns, of the result and of weights, is 128 bytes already.
    let case = product(&mut Random(1), [2, 40, 65]);
    let device = slab("-memory=128 -lanes=16");
    let (_, code) = device.build(&case.module()).expect("compiles for the host");
    assert!(!code.contains("slab_"), "{code}");
}
