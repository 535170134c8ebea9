//! Tests of target kinds, specs and the registry.

use super::*;
use crate::{
    Phase,
    expr::{OptionValue, Val},
    graph::text::test_table,
};

const NPU: &str = r#"
version = 1
[target]
name = "npu"
role = "device"
doc = "A test device"

[[option]]
name = "sram"
type = "size"
default = "64k"
min = "4k"
max = "1m"
doc = "Bytes of SRAM"

[[option]]
name = "fast-math"
type = "bool"
default = false
doc = "Faster"

[[option]]
name = "clock"
type = "float"
min = 0.5
doc = "GHz"

[[option]]
name = "mode"
type = "enum"
values = ["eco", "turbo"]
default = "eco"
doc = "Power"

[[option]]
name = "cores"
type = "int"
default = 2
min = 1
max = 8
doc = "Cores"

[capabilities]
dtypes = ["f32", "i8", "u8"]
multi-output = true
taps = true
merge = false

[[pool]]
name = "sram"
bytes = "option.sram / option.cores"
alignment = 64

[[pool]]
name = "flash"
bytes = "2m"
scope = "constants"

[[pattern]]
name = "conv_relu"
match = "relu(conv2d(x, w: const))"
where = [
  "conv2d.group == 1",
  "w.bytes <= option.sram and not option.fast_math",
]
call = "int npu_conv(in x, in w, out y, i32 x.shape[1])"

[[op]]
op = "add"
where = ["add.a.shape == add.b.shape"]
compute = false

[phases]
pre-partition = "canonicalize"
tir-schedule = "tile{bytes=${option.sram} cores=${option.cores}}, label{id=${id}}"

[codegen]
kind = "c"
headers = ["npu.h"]
"#;

fn npu_with(from: &str, to: &str) -> Result<TargetKind, crate::Error> {
    assert!(NPU.contains(from), "{from}");
    manifest::parse(&NPU.replace(from, to), "npu/target.toml", Files::Embedded(&[]))
}

fn registry() -> Registry {
    let mut registry = Registry::builtin().unwrap_or_else(|error| panic!("{error}"));
    registry.remove("npu");
    registry.add(npu_with("npu", "npu").unwrap_or_else(|error| panic!("{error}"))).expect("new");
    registry
}

fn resolve(text: &str) -> Result<Vec<TargetInstance>, crate::Error> {
    registry().resolve(&text.parse()?)
}

fn fails(text: &str) -> String {
    resolve(text).expect_err("is bad").to_string()
}

#[test]
fn patterns_share_definitions() {
    let define = |text: &str| {
        let text = format!("[define]\n{text}\n[codegen]");
        manifest::parse(
            &NPU.replace("[codegen]", &text).replace("relu(conv2d(x, w: const))", "relu(${body})"),
            "npu/target.toml",
            Files::Embedded(&[]),
        )
    };
    let kind = define("body = \"conv2d(${x}, w: const)\"\nx = \"x\"").expect("reads");
    assert_eq!(kind.patterns[0].spec.matches, "relu(conv2d(x, w: const))");
    let fault = |text: &str| define(text).expect_err("is bad").to_string();
    assert!(fault("bodi = \"x\"").contains("nothing is defined as 'body'; did you mean 'bodi'"));
    assert!(fault("body = \"${body}\"").contains("use one another in a circle"));
}

#[test]
fn a_manifest_gives_everything() {
    let kind = npu_with("npu", "npu").expect("reads");
    assert_eq!(kind.role, Role::Device);
    assert_eq!(kind.options.len(), 5);
    assert_eq!(kind.patterns.len(), 2);
    assert_eq!(kind.pipeline(Phase::PrePartition), Some("canonicalize"));
    assert!(kind.capabilities.taps && !kind.capabilities.merge);
    assert_eq!(kind.codegen.kind, CodegenKind::C);
    let patterns = kind.load_patterns(&test_table()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(patterns[1].spec.matches, "add(...)");
    assert_eq!(patterns[1].spec.lower.as_deref(), Some("default"));
    let text = kind.describe();
    for part in [
        "-sram=SIZE (default 64k)",
        "-mode=eco|turbo",
        "relu(conv2d(x, w: const))",
        "2m, aligned to 1",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&kind.to_json().expect("prints")).expect("JSON");
    assert_eq!(json["options"][0]["default"], "64k");
    assert_eq!(json["options"][0]["type"], "size");
    assert_eq!(json["patterns"][0]["where"][0], "conv2d.group == 1");
}

#[test]
fn faults_of_a_manifest_have_file_and_line() {
    let error = |from: &str, to: &str| npu_with(from, to).expect_err("is bad").to_string();
    let bad = error("type = \"size\"", "type = \"szie\"");
    assert_eq!(
        bad,
        "npu/target.toml:10: 'szie' is no type; did you mean 'size'?\n  type = \"szie\""
    );
    assert!(
        error("doc = \"Bytes of SRAM\"", "dco = \"x\"")
            .contains("npu/target.toml:14: unknown field `dco`")
    );
    assert!(
        error("default = \"64k\"", "default = \"2g\"")
            .contains("the default of option 'sram' is '2g'")
    );
    assert!(error("default = 2\n", "default = 9\n").contains("expected an integer from 1 to 8"));
    assert!(error("\"u8\"]", "\"u9\"]").contains("'u9' is no element type"));
    assert!(
        error("multi-output = true", "multi-output = false").contains("they need multi-output")
    );
    assert!(error("option.sram / option.cores", "option.srma").contains("did you mean 'sram'?"));
    assert!(error("option.sram / option.cores", "option.mode").contains("found a text"));
    assert!(error("alignment = 64", "alignment = 65").contains("a power of two"));
    assert!(error("name = \"flash\"", "name = \"sram\"").contains("two pools are called 'sram'"));
    assert!(error("name = \"cores\"", "name = \"fast_math\"").contains("two options are called"));
    assert!(error("op = \"add\"", "op = \"conv_relu\"").contains("two patterns are called"));
    assert!(error("tir-schedule =", "bufferize =").contains("no pipeline at phase 'bufferize'"));
    assert!(error("${option.cores}", "${option.core}").contains("did you mean 'option.cores'"));
    assert!(error("tir-schedule = \"tile", "tir-schedule = 5 #").contains("expected a text, or"));
    assert!(
        error("pre-partition = \"canonicalize\"", "pre-partition = { file = \"x\" }")
            .contains("not embedded")
    );
    assert!(error("version = 1", "version = 2").contains("manifest version 2"));
    assert!(error("role = \"device\"", "role = \"gpu\"").contains("npu/target.toml:5"));
    assert!(error("name = \"npu\"", "name = \"my npu\"").contains("is no name for a target kind"));
    assert!(error("min = 1\n", "values = [\"1\"]\n").contains("only an option of type enum"));
    assert!(error("type = \"bool\"", "type = \"bool\"\nmin = 1").contains("has no range"));
    assert!(error("call = ", "doc = ").contains("does not say how a match is lowered"));
    assert!(error("[codegen]", "[codegen").contains("npu/target.toml:"));
}

#[test]
fn faults_of_patterns_have_file_and_line() {
    let at = |text: &str, what: &str| {
        let line = NPU.split(text).next().unwrap_or_default().matches('\n').count() + 1;
        format!("npu/target.toml:{line}: pattern 'conv_relu', {what}")
    };
    let load = |from: &str, to: &str| {
        let kind = npu_with(from, to).expect("reads");
        kind.load_patterns(&test_table()).expect_err("is bad").to_string()
    };
    assert!(load("conv2d.group", "conv2d.gruop").starts_with(&at("\"conv2d.group", "where[0]")));
    assert!(load("not option.fast_math", "option.fast").starts_with(&at("\"w.bytes", "where[1]")));
    assert!(load("in w, out", "in v, out").starts_with(&at("call =", "call")));
    assert!(
        load("op = \"add\"", "op = \"ad\"")
            .contains("there is no operation 'ad'; did you mean 'add'")
    );
    let both = NPU.replace("relu(conv2d", "rleu(conv2d").replace("op = \"add\"", "op = \"ad\"");
    let kind = manifest::parse(&both, "npu/target.toml", Files::Embedded(&[])).expect("reads");
    let both = kind.load_patterns(&test_table()).expect_err("is bad").to_string();
    assert!(both.contains("'rleu'") && both.contains("'ad'"), "all faults at once: {both}");
}

#[test]
fn specs_print_as_they_parse() {
    for text in [
        "llvm",
        "npu -sram=64k, llvm -mcpu=native",
        "a: npu -sram=64k, b: npu -fast-math, llvm -mattr='+avx2,+fma'",
        "npu -x='it\\'s \\\\ here' -y=, llvm",
        "npu --sram=4k,llvm",
    ] {
        let spec: TargetSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let printed = spec.to_string();
        assert_eq!(printed.parse::<TargetSpec>().expect("parses"), spec, "{text} / {printed}");
        let json = spec.to_json().expect("prints");
        assert_eq!(json.parse::<TargetSpec>().expect("parses"), spec, "{json}");
        let toml = spec.to_toml().expect("prints");
        assert_eq!(TargetSpec::from_toml(&toml).expect("parses"), spec, "{toml}");
    }
    let json =
        r#"[{"kind": "npu", "options": {"cores": 4, "clock": 1.5, "fast-math": true}}, "llvm"]"#;
    let spec: TargetSpec = json.parse().expect("parses");
    assert_eq!(spec.to_string(), "npu -clock=1.5 -cores=4 -fast-math, llvm");
}

#[test]
fn bad_specs_are_pointed_at() {
    let error = |text: &str| text.parse::<TargetSpec>().expect_err("is bad").to_string();
    assert!(error("").contains("name a target, for example 'llvm'"));
    assert!(error("npu,").contains("a comma at the end"));
    assert!(error("npu, , llvm").contains("expected the name of a target"));
    assert_eq!(
        error("npu sram=4k"),
        "target spec, column 5: expected an option that starts with '-', or ',' and another target\n  \
         npu sram=4k\n      ^"
    );
    assert!(error("llvm -mattr=+avx2,+fma").contains("a value with commas is quoted"));
    assert!(error("npu -sram=4k -sram=8k").contains("option 'sram' is given twice"));
    assert!(error("npu -x='abc").contains("is not closed by '"));
    assert!(error("npu -").contains("expected the name of an option"));
    assert!(error("[\"llvm\"").contains("target spec as JSON"));
    assert!(error("[]").contains("is empty"));
    assert!(error("[{\"kind\": \"a b\"}]").contains("'a b' is no name"));
    assert!(error("[{\"knd\": \"a\"}]").contains("a target is a text as in"));
}

#[test]
fn composites_stand_for_their_devices_and_host() {
    let flat: TargetSpec = "npu -sram=64k, b: dnnl, llvm -mcpu=native".parse().expect("parses");
    for text in [
        "composite -devices='npu -sram=64k, b: dnnl' -target_host='llvm -mcpu=native'",
        "composite -devices=\"npu -sram=64k, composite -devices='b: dnnl'\", llvm -mcpu=native",
        r#"{"kind": "composite", "target_host": {"kind": "llvm", "options": {"mcpu": "native"}},
            "devices": ["npu -sram=64k", {"id": "b", "kind": "dnnl"}]}"#,
        r#"[{"kind": "composite", "devices": [{"kind": "composite", "devices": ["npu -sram=64k"]},
            "b: dnnl"]}, "llvm -mcpu=native"]"#,
        "kind = \"composite\"\ntarget_host = \"llvm -mcpu=native\"\n\
         devices = [\"npu -sram=64k\", { id = \"b\", kind = \"dnnl\" }]",
        "# edge\n[[targets]]\nkind = \"composite\"\ntarget-host = \"llvm -mcpu=native\"\n\
         devices = \"npu -sram=64k, b: dnnl\"",
    ] {
        assert_eq!(text.parse::<TargetSpec>().unwrap_or_else(|e| panic!("{text}: {e}")), flat);
    }
    let error = |text: &str| text.parse::<TargetSpec>().expect_err("is bad").to_string();
    for (text, message) in [
        ("composite, llvm", "column 1: a composite needs devices"),
        (
            "npu, composite -devices=",
            "column 6: -devices: target spec, column 1: the spec is empty",
        ),
        ("composite -devices=npu -host=llvm", "a composite has no 'host'; it is -devices='SPEC'"),
        ("a: composite -devices=npu", "has no id of its own; remove 'a'"),
        ("composite -devices=npu -target_host='a, b'", "target_host is one target, and here are 2"),
        (
            "composite -devices=npu -target_host=c, llvm",
            "column 40: the target_host 'c' of a composite takes all that is left",
        ),
        (
            r#"["a", {"kind": "composite", "devices": ["b", {"knd": 1}]}]"#,
            "target spec, target 2, device 2: unknown field `knd`",
        ),
        (r#"{"kind": "composite", "devices": 5}"#, "target spec, devices: expected a list"),
        (r#"{"kind": "composite", "dev": []}"#, "a composite has no 'dev'; it has devices and"),
        ("kind = \"composite\"\ndevices = [", "target spec as TOML"),
        ("targets = 5", "'targets' is a list"),
    ] {
        assert!(error(text).contains(message), "{text}: {}", error(text));
    }
}

#[test]
fn targets_get_ids_and_options() {
    let targets = resolve("npu -sram=128k -fast-math, b: npu -clock=1.5, llvm").expect("resolves");
    let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
    assert_eq!(ids, ["npu", "b", "llvm"]);
    assert_eq!(targets[0].int("sram"), Some(131_072));
    assert!(targets[0].flag("fast-math") && !targets[1].flag("fast-math"));
    assert_eq!(targets[0].option("clock"), None);
    assert_eq!(targets[1].option("clock"), Some(&OptionValue::Float(1.5)));
    assert_eq!(targets[1].text("mode"), Some("eco"));
    assert_eq!(targets[2].text("mattr"), None, "an empty text is as good as none");
    let pools = targets[0].pools().expect("have sizes");
    assert_eq!((pools[0].bytes, pools[0].scope.as_str()), (Some(65_536), "sram"));
    assert_eq!((pools[1].bytes, pools[1].scope.as_str()), (Some(2 << 20), "constants"));
    let pipelines = targets[1].pipelines().expect("fill");
    assert_eq!(pipelines.phases[1].1, "tile{bytes=65536 cores=2}, label{id=b}");
    assert!(targets[2].is_host() && !targets[0].is_host());
}

#[test]
fn hosts_before_the_last_place_take_everything() {
    let registry = Registry::builtin().expect("the built-in targets are right");
    let spec = "a: c -cflags=-O1, b: c, llvm".parse().expect("a spec");
    let targets = registry.resolve(&spec).expect("resolves");
    assert_eq!(targets[0].text("cflags"), Some("-O1"));
    let table = crate::graph::OpTable::of(crate::ir::graph::OPS).expect("the table is right");
    let patterns = targets[0].load_patterns(&table).expect("are right");
    assert_eq!(patterns.len(), table.iter().filter(|op| !op.results.is_empty()).count());
    assert!(patterns.iter().any(|pattern| pattern.name() == "conv" && pattern.spec.compute));
    assert!(patterns.iter().any(|pattern| pattern.name() == "reshape" && !pattern.spec.compute));
    let capabilities = targets[1].capabilities().expect("has no queues");
    assert!(capabilities.static_only && capabilities.taps);
}

#[test]
fn bad_targets_are_explained() {
    assert!(fails("npx, llvm").starts_with("there is no target 'npx'; did you mean 'npu'?"));
    assert_eq!(
        fails("vanilla"),
        "'vanilla' runs only what its patterns match and needs a host for the rest: add one at the \
         end, as in 'vanilla, llvm'"
    );
    assert!(fails("npu, vanilla").contains("as in 'npu, vanilla, llvm'"));
    assert!(fails("llvm, npu").contains("so it comes last: 'npu, llvm'"));
    assert!(fails("c, llvm, npu").contains("so it comes last: 'c, npu, llvm'"));
    assert!(fails("npu, npu, llvm").contains("as in 'a: npu, b: npu'"));
    assert!(fails("a-b: npu, a_b: npu, llvm").contains("two targets are called 'a_b'"));
    assert!(fails("host: npu, llvm").contains("'host' is no id"));
    assert!(
        fails("npu -srma=4k, llvm")
            .contains("target 'npu': option 'srma' is unknown; did you mean 'sram'?")
    );
    assert!(
        fails("npu -sram=1k, llvm")
            .contains("is '1k', expected a size like 4096, 64k or 1m from 4k to 1m")
    );
    assert!(fails("npu -sram, llvm").contains("is to be given as -sram=VALUE"));
    assert!(fails("npu -mode=tubro, llvm").contains("did you mean 'turbo'?"));
    assert!(fails("npu -fast-math=yes, llvm").contains("expected true or false"));
    assert!(fails("npu -clock=inf, llvm").contains("expected a number of at least 0.5"));
    assert!(
        fails("npu -cores=99999999999999999999, llvm").contains("expected an integer from 1 to 8")
    );
}

#[test]
fn aliases_stand_for_specs() {
    let mut registry = registry();
    let alias = |spec: &str| Alias {
        spec: spec.parse().expect("parses"),
        doc: String::new(),
        place: "here".to_owned(),
    };
    registry.add_alias("phone", alias("npu -cores=4, vanilla")).expect("new");
    registry.add_alias("device", alias("phone, llvm")).expect("new");
    let targets = registry.resolve(&"device".parse().expect("parses")).expect("resolves");
    assert_eq!(targets.len(), 3);
    assert_eq!(targets[0].int("cores"), Some(4));
    assert!(registry.describe().contains("'phone, llvm'"));
    let error = registry.resolve(&"phone -x, llvm".parse().expect("parses")).expect_err("is bad");
    assert!(error.to_string().contains("takes neither id nor options"));
    let error = registry.add_alias("npu", alias("llvm")).expect_err("is taken").to_string();
    assert_eq!(
        error,
        "here: there is already a target called 'npu', in npu/target.toml; choose another name for \
         the alias"
    );
    let error = registry.add_alias("phone", alias("llvm")).expect_err("is taken").to_string();
    assert!(error.contains("already an alias called 'phone', in here"));
    assert!(registry.add_alias("composite", alias("llvm")).is_err());
    registry.add_alias("big", alias("b: npu -cores=8 -fast-math")).expect("new");
    let targets = registry.resolve(&"c: big -cores=2, llvm".parse().expect("parses"));
    let targets = targets.expect("an alias of one target takes an id and options");
    assert_eq!((targets[0].id.as_str(), targets[0].int("cores")), ("c", Some(2)));
    assert!(targets[0].flag("fast-math"));
    registry.add_alias("bad", alias("npx, llvm")).expect("is looked at when it is used");
    let error = registry.resolve(&"bad".parse().expect("parses")).expect_err("is bad").to_string();
    assert!(error.starts_with("here: alias 'bad': there is no target 'npx'; did you mean 'npu'?"));
    assert!(registry.describe().contains("(here; does not work: here: alias 'bad': there is no"));
    registry.add_alias("loop", alias("loop, llvm")).expect("new");
    let error = registry.resolve(&"loop".parse().expect("parses")).expect_err("is bad");
    assert!(error.to_string().contains("stands for itself: loop -> loop"));
}

/// The host of a composite is the last of all targets, whether it is written out or an alias.
#[test]
fn nothing_comes_after_the_host_of_an_alias() {
    let mut registry = registry();
    let aliases = [
        ("edge", "composite -devices=npu -target_host=llvm"),
        ("far", r#"{"kind": "composite", "devices": ["vanilla"], "target_host": "c"}"#),
        ("outer", "composite -devices='vanilla, edge'"),
        ("both", "composite -devices=edge -target_host=c"),
        ("pair", "vanilla, llvm"),
        ("wide", "composite -devices=npu -target_host=pair"),
        ("one", "llvm -mcpu=native"),
        ("right", "composite -devices='npu' -target_host=one"),
    ];
    for (name, spec) in aliases {
        let (spec, doc) = (spec.parse().expect("parses"), String::new());
        registry.add_alias(name, Alias { spec, doc, place: "here".to_owned() }).expect("new");
    }
    let expand = |text: &str| registry.expand(&text.parse().expect("parses"));
    for (text, meaning) in [
        ("edge", "npu, llvm"),
        ("outer", "vanilla, npu, llvm"),
        ("composite -devices='vanilla, edge'", "vanilla, npu, llvm"),
        (r#"{"kind": "composite", "devices": ["vanilla", "far"]}"#, "vanilla, vanilla, c"),
        ("right", "npu, llvm -mcpu=native"),
        // A list is what it says: hosts before the last place are devices.
        ("pair, c", "vanilla, llvm, c"),
    ] {
        let spec = expand(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), meaning, "{text}");
    }
    let taken = "of alias 'edge' takes all that is left, so that nothing comes after it; name the host \
                 once, in the outermost composite or at the end";
    for (text, message) in [
        ("edge, c", format!("the target_host 'llvm' {taken}")),
        (
            "composite -devices='edge, vanilla' -target_host=c",
            format!("the target_host 'llvm' {taken}"),
        ),
        (
            r#"[{"kind": "composite", "devices": ["vanilla", "outer"]}, "c"]"#,
            format!("the target_host 'llvm' {taken}"),
        ),
        ("both", format!("here: alias 'both': the target_host 'llvm' {taken}")),
        ("wide", "here: alias 'wide': target_host is one target, and here are 2".to_owned()),
        (
            "composite -devices=npu -target_host=pair",
            "target_host is one target, and here".to_owned(),
        ),
    ] {
        let error = expand(text).expect_err(text).to_string();
        assert!(error.starts_with(&message), "{text}: {error}");
    }
    assert!(registry.describe().contains("does not work: here: alias 'both': the target_host"));
}

#[test]
fn directories_are_target_kinds() {
    let root = tempfile::tempdir().expect("makes a directory");
    let write = |name: &str, text: &str| {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("makes a directory");
        std::fs::write(path, text).expect("writes");
    };
    let text = NPU
        .replace("\"canonicalize\"", "{ file = \"pre.pipeline\" }")
        .replace("\"npu\"", "\"mine\"");
    write("mine/target.toml", &text);
    write("mine/pre.pipeline", "// first\ncanonicalize, // again\ncse\n");
    let mut registry = registry();
    assert_eq!(registry.add_path(root.path()).unwrap_or_else(|error| panic!("{error}")), 1);
    let kind = registry.get("mine").expect("is there");
    assert_eq!(kind.pipeline(Phase::PrePartition), Some("canonicalize,cse"));
    assert_eq!(kind.files, Files::Directory(root.path().join("mine")));
    registry.add_path(&root.path().join("mine")).expect("the same one is no other");
    write("elsewhere/mine/target.toml", &text);
    write("elsewhere/mine/pre.pipeline", "cse");
    let again = registry.add_path(&root.path().join("elsewhere")).expect_err("is there already");
    assert!(again.to_string().contains("two target kinds are called 'mine'"));
    let empty = root.path().join("mine/nothing");
    assert!(registry.add_path(&empty).expect_err("fails").to_string().contains("cannot read"));
    std::fs::create_dir(&empty).expect("makes a directory");
    assert!(
        registry.add_path(&empty).expect_err("fails").to_string().contains("has a target.toml")
    );
    assert!(registry.add_path(&root.path().join("none")).is_err());
}

#[test]
fn sizes_round_trip() {
    for (text, bytes) in
        [("65536", 65_536), ("64k", 65_536), ("1M", 1 << 20), ("3GiB", 3 << 30), ("7", 7)]
    {
        assert_eq!(parse_size(text), Some(bytes));
        assert_eq!(parse_size(&options::format_size(bytes)), Some(bytes));
    }
    for text in ["", "k", "-1", "1t", "99999999999g", "1.5k"] {
        assert_eq!(parse_size(text), None, "{text}");
    }
}

mod vanilla {
    use super::*;
    use crate::{
        graph::{Facts, GraphView, OpTable, text::graph},
        partition::{self, Partition, Report, Request, Unit},
    };

    fn divide(view: &GraphView, check: impl FnOnce(&Partition, &Report, Facts)) {
        let targets = resolve("vanilla, llvm").expect("resolves");
        let table = OpTable::of(crate::ir::graph::OPS).expect("is right");
        let patterns = targets[0].load_patterns(&table).unwrap_or_else(|error| panic!("{error}"));
        let devices = [targets[0].device(&patterns).expect("has rates")];
        let request = Request {
            layout: None,
            graph: view,
            table: &table,
            devices: &devices,
            host: "llvm",
            host_rates: crate::partition::Rates::host(),
            measured: None,
            search: false,
            judged: &[],
        };
        let partition = partition::partition(&request).unwrap_or_else(|error| panic!("{error}"));
        let facts = Facts { graph: view, table: &table, options: &targets[0].options };
        check(&partition, &Report::new(&request, &partition), facts);
    }

    fn conv(attrs: &str, weights: &str, tail: &str) -> GraphView {
        graph(&format!(
            "x = arg 1x16x14x14xf32
             w = const {weights}
             b = const 32xf32
             lo = const f32 [0]
             hi = const f32 [6]
             c = conv(x, w, b) {{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1 {attrs}}} : 1x32x14x14xf32
             r = {tail} : 1x32x14x14xf32
             return r"
        ))
        .0
    }

    #[test]
    fn convolutions_go_to_the_device_with_bias_and_activation() {
        for tail in ["relu(c)", "clip(c, lo, hi)"] {
            divide(&conv("", "32x16x3x3xf32", tail), |partition, _, facts| {
                assert_eq!(partition.order, [Unit::Region(0)]);
                let composite = &partition.regions[0].composites[0];
                assert_eq!(composite.name, "conv2d");
                assert!(
                    composite
                        .found
                        .capture("b")
                        .is_some_and(|b| facts.graph.is_constant(b.value.expect("bound")))
                );
                assert!(composite.found.capture("bias").is_none());
            });
        }
        divide(&conv("", "32x16x3x3xf32", "clip(c, hi, hi)"), |partition, report, _| {
            assert_eq!(partition.regions.len(), 1);
            assert_eq!(report.ops[1].target, "llvm");
        });
    }

    #[test]
    fn what_the_device_cannot_do_stays_with_a_reason() {
        for (attrs, weights, reason) in [
            (", group = 2", "32x8x3x3xf32", "`conv2d.group == 1` does not hold: conv2d.group = 2"),
            (", pads = [-1, 0, 0, 0]", "32x16x3x3xf32", "conv2d.pads = [-1, 0, 0, 0]"),
            (", strides = [5, 1]", "32x16x3x3xf32", "conv2d.strides = [5, 1]"),
            ("", "32x16x3x3xf16", "`w.dtype == f32` does not hold: w.dtype = f16"),
        ] {
            divide(&conv(attrs, weights, "tanh(c)"), |partition, report, _| {
                assert!(partition.regions.is_empty());
                let text = &report.ops[0].verdicts[0].text;
                assert!(text.contains(reason), "{text}");
            });
        }
    }

    #[test]
    fn dense_layers_and_residual_sums() {
        let view = graph(
            "x = arg 4x64xf32
             w = const 64x10xf32
             b = const 10xf32
             m = matmul(x, w) : 4x10xf32
             a = add(m, b) : 4x10xf32
             r = relu(a) : 4x10xf32
             g = gemm(x, w, b) {alpha = 1.0, beta = 1.0, trans_a = false, trans_b = false} : 4x10xf32
             s = add(r, g) : 4x10xf32
             t = softmax(s) {axis = 1} : 4x10xf32
             z = relu(t) : 4x10xf32
             return z",
        )
        .0;
        divide(&view, |partition, report, facts| {
            assert_eq!(partition.regions.len(), 1, "{}", report.table());
            let region = &partition.regions[0];
            let names: Vec<&str> = region.composites.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names, ["dense", "dense", "add"]);
            assert!(report.table().contains("alone it is not worth a transfer"));
            let out = crate::expr::Expr::parse("dense.out.shape[1]").expect("parses");
            let targets = resolve("vanilla, llvm").expect("resolves");
            let patterns = targets[0].load_patterns(facts.table).expect("loads");
            let composite = &region.composites[0];
            let value = composite.found.eval(&patterns[composite.pattern], facts, &out);
            assert_eq!(value, Val::Int(10));
        });
    }
}

#[test]
fn the_folders_of_targets_are_the_built_in_kinds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("targets");
    let mut folders: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("target.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let registry = Registry::builtin().expect("the built-in targets are right");
    let kinds: Vec<_> = registry.kinds().map(|kind| kind.name.clone()).collect();
    assert_eq!(kinds, folders);
}
