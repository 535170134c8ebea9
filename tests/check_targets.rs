//! Every pattern of every target here takes graphs that are made from its own text, and gives the
//! host's numbers for them; defects that are planted in targets are found. `make mutate` plants many
//! more.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use std::{path::Path, process::Command};

/// Runs `check-target`; gives its standard output, its messages, and whether it passes.
fn check(target: &str, arguments: &[&str]) -> (String, String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(["check-target", target])
        .args(arguments)
        .output()
        .expect("phaseline starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

/// Checks a target, and gives the number of near misses that were run: what a pattern leaves,
/// others and the host get right. One graph that matches for each pattern; more take minutes.
fn near_misses(target: &str) -> u64 {
    near_misses_beside(target, &[])
}

/// The same for a target that is found in, or needs others of, these folders.
fn near_misses_beside(target: &str, folders: &[String]) -> u64 {
    let mut arguments = vec!["--samples", "1", "--json"];
    arguments.extend(folders.iter().flat_map(|folder| ["--target-path", folder]));
    let (text, problems, passes) = check(target, &arguments);
    let reports: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{target}: {text}\n{problems}"));
    let report = &reports[0];
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(0), "{report}");
    let patterns = report["patterns"].as_array().expect("a list");
    for pattern in patterns {
        let number = |key: &str| pattern[key].as_u64().unwrap_or_default();
        assert!(number("matched") > 0 && number("compared") > 0, "nothing ran: {pattern}");
        let notes = pattern["notes"].as_array().expect("a list");
        assert!(notes.iter().all(|note| note["level"] == "warning"), "{pattern}");
    }
    assert!(passes, "{target}: {problems}");
    patterns.iter().filter_map(|pattern| pattern["near_misses"].as_u64()).sum()
}

/// A copy of one of the tests' targets with a text in one of its files replaced.
fn broken(target: &str, file: &str, from: &str, to: &str) -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/targets").join(target);
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(source).expect("a target") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        let text = std::fs::read_to_string(&path).expect("a text");
        let is_meant = name == file;
        assert!(!is_meant || text.contains(from), "{target}: {file} has no '{from}'");
        let text = if is_meant { text.replacen(from, to, 1) } else { text };
        std::fs::write(folder.path().join(name), text).expect("can be written");
    }
    folder
}

/// Output of the check of a broken target, which does not pass.
fn findings(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let (text, problems, passes) = check(&folder.path().to_string_lossy(), arguments);
    assert!(!passes, "passes: {text}");
    assert!(problems.contains("does not pass the check"), "{problems}");
    text
}

#[test]
fn cmsis_nn() {
    assert!(near_misses("cmsis-nn") > 20);
}

#[test]
fn gemm16() {
    assert!(near_misses("gemm16") > 4);
}

#[test]
fn npu() {
    assert!(near_misses("npu") > 5);
}

#[test]
fn vanilla() {
    assert!(near_misses("vanilla") > 2);
}

#[test]
fn vecdsp() {
    assert!(near_misses("vecdsp") > 10);
}

#[test]
fn dnnl_and_openblas() {
    assert!(near_misses("dnnl") > 2);
    assert!(near_misses("openblas") > 2);
}

#[test]
fn targets_of_the_tests() {
    let folder = |target: &str| format!("{}/tests/targets/{target}", env!("CARGO_MANIFEST_DIR"));
    for target in ["toy", "slab", "banks", "kit", "far", "lanes", "trio", "unit"] {
        near_misses(&folder(target));
    }
    near_misses_beside("slab-dram", &[folder("slab"), folder("slab-dram")]);
    near_misses(&folder("weft"));
    near_misses_beside("warp", &[folder("weft"), folder("warp")]);
}

#[test]
fn a_device_that_writes_behind_its_scratch_is_named_and_the_next_pattern_is_checked() {
    let folder =
        broken("toy", "target.toml", "scratch 4 * w.shape[0]", "scratch 4 * w.shape[0] - 4");
    let text = findings(&folder, &["--samples", "2"]);
    let place = text.find("the device").unwrap_or_else(|| panic!("{text}"));
    assert!(text[place..].contains("graph.conv"), "{text}");
    assert!(text.find("conv2d: ").is_some_and(|start| start < place), "{text}");
    assert!(text.contains("\ndense: ") && text.contains("toy: 2 errors"), "{text}");
}

/// The convolutions of `warp` alone have blocks, where the first four extents are not the whole buffer.
#[test]
fn what_holds_in_one_layout_alone_is_found_in_another() {
    let wrong =
        "void weft_mul(in a as given, in b as given, out y as given, size prod(given.shape[:4]))";
    let right = wrong.replace("prod(given.shape[:4])", "given.size");
    let folder = broken("weft", "target.toml", &right, wrong);
    let weft = folder.path().to_string_lossy();
    let warp = format!("{}/tests/targets/warp", env!("CARGO_MANIFEST_DIR"));
    let arguments =
        ["--target-path", &weft, "--target-path", &warp, "--samples", "6", "--pattern", "mul"];
    let (text, problems, passes) = check("warp", &arguments);
    assert!(!passes && text.contains("target and host differ"), "{text}\n{problems}");
}

#[test]
fn a_body_in_a_header_that_writes_behind_its_output_is_named() {
    let folder = broken("unit", "unit.h", "i < 16", "i < 17");
    let text = findings(&folder, &["--samples", "2", "--pattern", "add"]);
    assert!(text.contains("the device writes behind output 0"), "{text}");
}

#[test]
fn a_device_that_crashes_ends_its_own_process_only() {
    let crash = "volatile int *volatile nowhere = 0;\n  *nowhere = 1;\n  device->calls++;";
    let folder = broken("toy", "toy.c", "device->calls++;", crash);
    let text = findings(&folder, &["--samples", "1", "--pattern", "conv2d"]);
    assert!(text.contains("SEGV") || text.contains("signal 11") || text.contains("null"), "{text}");
}

#[test]
fn what_is_left_of_an_earlier_run_shows() {
    let folder = broken(
        "kit",
        "kit.c",
        "float sum = 0.0f;\n    for (int32_t j = 0; j < columns; j++, x++)",
        "static float sum;\n    for (int32_t j = 0; j < columns; j++, x++)",
    );
    let text = findings(&folder, &["--samples", "2", "--pattern", "cumsum"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn a_pattern_without_compute_runs_on_the_device() {
    let folder = broken("kit", "target.toml", "i32 x.size, f32 0)", "i32 x.size, f32 0.5)");
    let text = findings(&folder, &["--samples", "2", "--pattern", "relu"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn an_attribute_that_the_call_leaves_out_shows() {
    let folder = broken("kit", "target.toml", "f32 leaky_relu.alpha", "f32 0.01");
    let text = findings(&folder, &["--samples", "4", "--pattern", "leaky_relu"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn pieces_of_sums_are_tried() {
    let folder = broken("slab", "target.toml", "first = first(k)", "first = true");
    let text = findings(&folder, &["--samples", "8"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn a_pattern_that_earlier_passes_leave_nothing_of_is_an_error() {
    let folder =
        broken("kit", "target.toml", "match = \"relu(x)\"", "match = \"relu(identity(x))\"");
    let text = findings(&folder, &["--samples", "2", "--pattern", "relu"]);
    assert!(text.contains("none of them has run on the device"), "{text}");
    assert!(text.contains("left no match of it"), "{text}");
}

#[test]
fn long_rows_are_tried() {
    let folder = broken(
        "kit",
        "kit.c",
        "for (int32_t j = 0; j < columns; j++, x++)",
        "for (int32_t j = 0; j < columns && j < 1024; j++, x++)",
    );
    let text = findings(&folder, &["--samples", "6", "--pattern", "cumsum"]);
    assert!(text.contains("target and host differ"), "{text}");
}

/// A target with one pattern of these conditions, and a function that does nothing.
fn target(expression: &str, conditions: &[&str], inputs: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = format!(
        "version = 1\n[target]\nname = \"idle\"\nrole = \"device\"\ndoc = \"None\"\n\
         [[pattern]]\nname = \"one\"\nmatch = \"{expression}\"\nwhere = {conditions:?}\n\
         call = \"int idle({inputs}, out y)\"\n[codegen]\nsources = [\"idle.c\"]\n"
    );
    std::fs::write(folder.path().join("target.toml"), manifest).expect("can be written");
    let code = "int idle(const void *a, const void *b, void *y) {\n  (void)a, (void)b, (void)y;\n  \
                return 0;\n}\n";
    std::fs::write(folder.path().join("idle.c"), code).expect("can be written");
    folder
}

#[test]
fn conditions_that_hardly_any_graph_meets_are_met() {
    let weights = target(
        "matmul(x, dequantize_linear(w: const, s: const))",
        &[
            "x.dtype == f32 and x.rank == 2 and w.dtype == i4 and w.rank == 2 and s.rank == 2",
            "dequantize_linear.block_size == 32 and dequantize_linear.axis == 0",
            "w.shape[0] % 64 == 0 and w.shape[1] % 16 == 0",
        ],
        "in x, in s",
    );
    let heads = target(
        "matmul(softmax(mul(matmul(q, transpose(k)), s: const)), v)",
        &[
            "q.dtype == f32 and q.rank == 4 and k.rank == 4 and v.rank == 4 and s.size == 1",
            "transpose.perm == [0, 1, 3, 2] and q.shape[1] == k.shape[1]",
            "q.shape[3] % 8 == 0 and v.shape[3] == q.shape[3]",
        ],
        "in q, in k",
    );
    for folder in [weights, heads] {
        // What does nothing is found out, if anything matches.
        let text = findings(&folder, &["--samples", "12"]);
        assert!(text.contains("target and host differ"), "{text}");
    }
}

#[test]
fn sums_of_f16_are_found_where_f32_is_promised() {
    let check_sums = |sum: &str, promise: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = format!(
            "version = 1\n[target]\nname = \"half\"\nrole = \"device\"\ndoc = \"Products\"\n\
             [capabilities]\ndtypes = [\"f16\"]\n{promise}\n[[pattern]]\nname = \"product\"\n\
             match = \"matmul(x, w)\"\nwhere = [\"x.rank == 2 and w.rank == 2\"]\n\
             call = \"int half_product(in x, in w, out y, i32 x.shape[0], i32 x.shape[1], i32 \
             w.shape[1])\"\n[codegen]\nsources = [\"half.c\"]\n"
        );
        std::fs::write(folder.path().join("target.toml"), manifest).expect("can be written");
        let code = "#include <stdint.h>
int half_product(const void *x, const void *w, void *y, int32_t m, int32_t k, int32_t n) {
  const _Float16 *a = x, *b = w;
  _Float16 *c = y;
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) {
      SUM sum = 0;
      for (int32_t p = 0; p < k; p++)
        sum += (SUM)((float)a[i * k + p] * (float)b[p * n + j]);
      c[i * n + j] = (_Float16)sum;
    }
  return 0;
}
";
        std::fs::write(folder.path().join("half.c"), code.replace("SUM", sum)).expect("is written");
        check(&folder.path().to_string_lossy(), &["--samples", "12"])
    };
    for (sum, promise, is_right) in [
        ("float", "accumulate = \"f32\"", true),
        ("_Float16", "accumulate = \"f32\"", false),
        ("_Float16", "", true),
    ] {
        let (text, problems, passes) = check_sums(sum, promise);
        assert_eq!(passes, is_right, "{sum} {promise}: {text}{problems}");
    }
    let (_, problems, _) = check_sums("float", "accumulate = \"i7\"");
    assert!(problems.contains("accumulate is 'i7'"), "{problems}");
}
