//! Tests of the pattern language.

mod reference;

use super::*;
use crate::{
    expr::{OptionValue, OptionValues},
    graph::{
        Alias, Facts, GraphView, OpDecl, OpId,
        text::{graph, test_table},
    },
};

fn options() -> BTreeMap<String, OptionType> {
    BTreeMap::from([("sram".to_owned(), OptionType::Int), ("fast".to_owned(), OptionType::Bool)])
}

fn pattern(spec: PatternSpec) -> Pattern {
    Pattern::new(spec, &test_table(), &options()).unwrap_or_else(|error| panic!("{error}"))
}

fn fails(spec: PatternSpec) -> String {
    Pattern::new(spec, &test_table(), &options()).expect_err("is bad").to_string()
}

/// Matches at the operation at `location`.
fn find(
    pattern: &Pattern,
    view: &GraphView,
    location: &str,
    rules: &Capabilities,
) -> Result<Match, Option<Failure>> {
    let table = test_table();
    let values = OptionValues::from([("sram".to_owned(), OptionValue::Int(1024))]);
    let facts = Facts { graph: view, table: &table, options: &values };
    let root = view.ops().find(|(_, op)| op.location == location).expect("an operation").0;
    find_match(pattern, facts, rules, root, &|_| true)
}

fn reason(pattern: &Pattern, view: &GraphView, location: &str) -> String {
    let failure = find(pattern, view, location, &Capabilities::default());
    failure.expect_err("no match").expect("a reason").reason.to_string()
}

fn matches(pattern: &Pattern, view: &GraphView, location: &str) -> Vec<u32> {
    let found = find(pattern, view, location, &Capabilities::default());
    found.unwrap_or_else(|failure| panic!("{failure:?}")).ops.iter().map(|op| op.0).collect()
}

const CONV_NET: &str = "
    x = arg 1x3x8x8xf32
    w = const 8x3x3x3xf32
    b = const 1x8x1x1xf32
    c = conv(x, w) {strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1} : 1x8x3x3xf32
    a = add(b, c) : 1x8x3x3xf32
    r = relu(a) : 1x8x3x3xf32
    return r";

#[test]
fn match_expressions_print_as_they_parse() {
    for text in [
        "relu?(add?(conv(x, w: const), b: const))",
        "(relu|clip)?(conv(x, w: const, b?: const), _?, _?)",
        "c = conv(x, w); (relu(c) | clip(c, 0, 6.5) | c)",
        "((x) | relu(y))",
        "((n: const) | (relu|tanh)(y) | -1.5)",
        "a: mul(x, 0.5 ~ 0.001)",
        "concat(a, _, ...)",
        "split(x)#1",
        "y?: (relu(x) | (_?))",
        "top_k(x, _?: const)#1",
    ] {
        let first = MatchExpr::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let printed = first.to_string();
        let second = MatchExpr::parse(&printed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(first, second, "{text} / {printed}");
        assert_eq!(printed, second.to_string());
    }
}

#[test]
fn predicates_print_as_they_parse() {
    for text in [
        "x.dtype == f32 and not (a.b or c < 1)",
        "1 <= x.shape[0] <= 4",
        "x.shape[1] % 8 == 0 or w.shape[-1] in [1, 3]",
        "a - (b - c) * -d[i + 1] / 2",
        "not x.is_const in [true]",
        "all(conv.strides <= 2) and len(x.shape) == 4",
        "option.mode == 'it\"s'",
        "-(-x.y) == 1e-5",
        "(a == b) == c",
        "(-x).y",
        "not (a and b)",
    ] {
        let first = Expr::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let printed = first.to_string();
        let second = Expr::parse(&printed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(first, second, "{text} / {printed}");
    }
}

#[test]
fn optional_parts_match_with_and_without() {
    let (view, names) = graph(CONV_NET);
    let p = pattern(PatternSpec::new("conv", "relu?(add?(conv2d(x, w: const), b: const))"));
    assert_eq!(matches(&p, &view, "r"), [0, 1, 2]);
    let at_relu = find(&p, &view, "r", &Capabilities::default()).expect("matches");
    assert_eq!(at_relu.capture("b").and_then(|bound| bound.value), Some(names["b"]));
    assert_eq!(at_relu.inputs, [names["x"], names["w"], names["b"]]);
    assert_eq!(at_relu.outputs, [names["r"]]);
    let at_conv = find(&p, &view, "c", &Capabilities::default()).expect("matches");
    assert_eq!(at_conv.ops, [OpId(0)]);
    assert_eq!(at_conv.capture("b"), None);
    assert!(p.always_captures("w") && !p.always_captures("b"));
}

#[test]
fn the_last_part_may_have_a_name() {
    let (view, names) = graph(CONV_NET);
    let text = "c = conv2d(x, w: const); a = add(c, b: const); r = relu(a)";
    let p = pattern(PatternSpec::new("conv", text).clause("r.shape == relu.out.shape"));
    let found = find(&p, &view, "r", &Capabilities::default()).expect("matches");
    assert_eq!(found.capture("r").and_then(|bound| bound.value), Some(names["r"]));
    assert_eq!(found.outputs, [names["r"]]);
    let p = pattern(PatternSpec::new("conv", "y = o: relu(a)").clause("o.rank == 4"));
    assert_eq!(matches(&p, &view, "r"), [2]);
    assert!(fails(PatternSpec::new("conv", "y = relu(a) b")).contains("';'"));
}

#[test]
fn conditions_see_captures_attributes_and_options() {
    let (view, _) = graph(CONV_NET);
    let spec = || PatternSpec::new("conv", "relu?(add?(conv2d(x, w: const), b: const))");
    for clause in [
        "x.dtype == f32 and w.dtype in [f32, f16]",
        "conv2d.group == 1 and conv.strides[0] == 2 and conv.strides == [2, 2]",
        "all(conv.dilations == 1) and conv.out.shape[1] == 8",
        "conv.w.shape[2] in [1, 3] and x.shape[1] % 8 == 3 and x.shape[-1] / 3 == 2",
        "w.bytes <= option.sram and w.size == 216 and prod(w.shape) == 216",
        "present(b) and b.is_const and not x.is_const and b.shape[1] == conv.y.shape[1]",
        "1 <= x.shape[0] <= 4 and min(x.shape) == 1 and max(2, 3) == 3 and x.rank == len(x.shape)",
        "conv.name == 'conv' and relu.name == 'relu' and sum([1, 2]) == 3 and abs(-2) == 2",
        "known(x.shape[0]) and x.is_static and any([conv.group == 2, true])",
        "-7 / 2 == -4 and -7 % 2 == 1 and 7.0 / 2 == 3.5",
        "select([true, false], 1, [2, 3]) == [1, 3] and select(1 < 2, 5, 6) == 5",
        "select(x.shape == 1, [7, 7, 7, 7], x.shape)[0] == 7 and w.dtype != i4",
    ] {
        let p = pattern(spec().clause(clause));
        assert_eq!(matches(&p, &view, "r"), [0, 1, 2], "{clause}");
    }
    let p = pattern(spec().clause("conv2d.group == 2").clause("x.rank == 4"));
    assert_eq!(reason(&p, &view, "r"), "`conv2d.group == 2` does not hold: conv2d.group = 1");
}

#[test]
fn absent_parts_make_conditions_hold_and_unknown_values_make_them_fail() {
    let (view, _) = graph(CONV_NET);
    let spec =
        |clause| pattern(PatternSpec::new("p", "relu?(add?(conv(x, w), b: const))").clause(clause));
    assert_eq!(matches(&spec("b.dtype == i8"), &view, "c"), [0]);
    assert_eq!(matches(&spec("not (b.dtype == f32)"), &view, "c"), [0]);
    assert_eq!(matches(&spec("b.rank == 1 or x.rank == 4"), &view, "c"), [0]);
    assert!(reason(&spec("b.rank == 1 or x.rank == 5"), &view, "c").contains("does not hold"));
    assert!(reason(&spec("present(b)"), &view, "c").contains("does not hold"));
    assert!(reason(&spec("x.shape[7] == 1"), &view, "c").contains("x.shape has 4 elements"));
    assert!(reason(&spec("1 / (x.rank - 4) == 1"), &view, "c").contains("x.rank = 4"));
    let (view, _) = graph("x = arg ?x3xf32\ny = relu(x) : ?x3xf32\nreturn y");
    let p = pattern(PatternSpec::new("p", "relu(x)").clause("x.shape[0] % 8 == 0"));
    assert_eq!(
        reason(&p, &view, "y"),
        "`x.shape[0] % 8 == 0` does not hold: x.shape[0] = unknown (dynamic)"
    );
    let p = pattern(PatternSpec::new("p", "relu(x)").clause("x.shape[0] == 8 or x.shape[1] == 3"));
    assert_eq!(matches(&p, &view, "y"), [0]);
}

#[test]
fn operands_that_are_not_listed_must_be_absent() {
    let (view, _) = graph(
        "x = arg 1x3x8x8xf32
         w = const 8x3x3x3xf32
         b = const 8xf32
         c = conv(x, w, b) {group = 1} : 1x8x6x6xf32
         d = conv(c, w, _) {group = 1} : 1x8x6x6xf32
         return d",
    );
    let p = pattern(PatternSpec::new("p", "conv(x, w)"));
    assert_eq!(
        reason(&p, &view, "c"),
        "conv has an operand 'b' that the pattern does not list: list it, or end the operands with `...`"
    );
    assert_eq!(matches(&p, &view, "d"), [1]);
    let p = pattern(PatternSpec::new("p", "conv(x, w, ...)"));
    assert_eq!(matches(&p, &view, "c"), [0]);
    let p = pattern(PatternSpec::new("p", "conv(x, w, b?: const)").clause("b.rank == 1"));
    assert_eq!(matches(&p, &view, "c"), [0]);
    assert_eq!(matches(&p, &view, "d"), [1]);
    let p = pattern(PatternSpec::new("p", "conv(x, w, b)"));
    assert_eq!(reason(&p, &view, "d"), "operand 'b' is absent");
}

#[test]
fn numbers_are_checked_with_tolerance() {
    let gelu = |root: &str| {
        graph(&format!(
            "x = arg 4xf32
             half = const 1xf32 [0.5]
             one = const 1xf32 [1.0]
             root2 = const 1xf32 [{root}]
             d = div(x, root2)
             e = erf(d)
             p = add(one, e)
             m = mul(p, x)
             y = mul(m, half)
             return y"
        ))
        .0
    };
    let text = "mul(0.5, mul(x, add(erf(div(x, 1.4142135)), 1.0)))";
    let p = pattern(PatternSpec::new("gelu", text));
    assert_eq!(matches(&p, &gelu("1.4142135381698608"), "y"), [0, 1, 2, 3, 4]);
    assert!(reason(&p, &gelu("1.5"), "y").contains("expected the constant 1.4142135, found 1.5"));
    let p = pattern(PatternSpec::new("gelu", text.replace("1.4142135", "1.4142135 ~ 0.1")));
    assert_eq!(matches(&p, &gelu("1.5"), "y"), [0, 1, 2, 3, 4]);
}

#[test]
fn alternatives_parts_and_results() {
    let (view, names) = graph(
        "x = arg 1x3x8x8xf32
         w = const 8x3x3x3xf32
         zero = const f32 [0]
         six = const f32 [6]
         c = conv(x, w) {group = 1} : 1x8x6x6xf32
         r = clip(c, zero, six) : 1x8x6x6xf32
         s, t = split(r) {axis = 1} : 1x4x6x6xf32, 1x4x6x6xf32
         u = tanh(t) : 1x4x6x6xf32
         return s, u",
    );
    let p = pattern(PatternSpec::new("p", "c = conv(x, w); (relu(c) | clip(c, 0, 6) | c)"));
    assert_eq!(matches(&p, &view, "r"), [0, 1]);
    assert_eq!(matches(&p, &view, "c"), Vec::<u32>::from([0]));
    let found = find(&p, &view, "r", &Capabilities::default()).expect("matches");
    assert_eq!(found.capture("c").and_then(|c| c.op), Some(OpId(0)));
    let p =
        pattern(PatternSpec::new("p", "(relu6|relu)(c: conv(...), ...)").clause("c.group == 1"));
    assert_eq!(matches(&p, &view, "r"), [0, 1]);
    let p = pattern(PatternSpec::new("p", "tanh(split(x)#1)"));
    let rules = Capabilities { taps: true, ..Capabilities::default() };
    let found = find(&p, &view, "u", &rules).expect("matches");
    assert_eq!(found.outputs, [names["s"], names["u"]]);
    assert!(reason(&p, &view, "u").contains("result of split 's' is also used by the outputs"));
    let p = pattern(PatternSpec::new("p", "tanh(split(x))"));
    assert!(reason(&p, &view, "u").contains("expected result #0 of split, found #1"));
}

#[test]
fn results_have_names() {
    let (view, names) = graph(
        "x = arg 4x8xf32
         a, b, c = split(x) {axis = 1} : 4x4xf32, 4x2xf32, 4x2xf32
         r = relu(a) : 4x4xf32
         return r, c",
    );
    let rules = Capabilities { taps: true, ..Capabilities::default() };
    let p = pattern(PatternSpec::new("p", "(a, b, c) = split(x)").clause("a.shape[1] == 4"));
    let found = find(&p, &view, "a", &rules).expect("matches");
    // Nothing reads the second, which has a name.
    assert_eq!(found.outputs, [names["a"], names["b"], names["c"]]);
    assert_eq!(found.capture("c").and_then(|c| c.value), Some(names["c"]));
    let p = pattern(PatternSpec::new("p", "(a, ...) = split(x); relu(a)"));
    let found = find(&p, &view, "r", &rules).expect("matches");
    assert_eq!(found.outputs, [names["c"], names["r"]]);
    let p = pattern(PatternSpec::new("p", "(_, b, _) = split(x); relu(b)"));
    assert!(reason(&p, &view, "r").contains("'b' would be two different values"));
    let p = pattern(PatternSpec::new("p", "(a, b) = split(x)"));
    assert!(reason(&p, &view, "a").contains("split has 3 results, not 2"));
}

#[test]
fn names_of_results_are_checked() {
    for text in ["(a, _, ...) = split(x); relu(a)", "(values, indices) = top_k(x, k: const)"] {
        let read = ast::MatchExpr::parse(text).expect("parses");
        assert_eq!(ast::MatchExpr::parse(&read.to_string()).expect("parses again"), read);
        assert_eq!(read.to_string(), text);
    }
    let message = |text: &str| fails(PatternSpec::new("p", text));
    assert!(message("(a, b) = relu(x)").contains("has 1 result, not 2"));
    assert!(message("(a, b) = top_k?(x, k)").contains("names of several results need one"));
    assert!(message("(a, a) = split(x)").contains("two results of one name"));
    assert!(message("(a, b) = split(x); a = relu(b); a").contains("part 'a' is defined twice"));
    assert!(message("(a, b) = split(x); relu(x)").contains("part 'a, b' is not used"));
}

#[test]
fn values_and_operations_are_told_apart() {
    let (view, _) = graph(
        "x = arg 4xf32
         a = relu(x)
         s = add(a, a)
         b = relu(s)
         t = mul(s, b)
         return t",
    );
    let twice = pattern(PatternSpec::new("p", "add(v, v)"));
    assert_eq!(matches(&twice, &view, "s"), [1]);
    assert!(reason(&pattern(PatternSpec::new("p", "mul(v, v)")), &view, "t").contains("'v'"));
    let same = pattern(PatternSpec::new("p", "add(relu(x), relu(y))"));
    assert!(reason(&same, &view, "s").contains("occurs twice"));
    let shared = pattern(PatternSpec::new("p", "a = relu(x); add(a, a)"));
    assert_eq!(matches(&shared, &view, "s"), [0, 1]);
    let diamond = pattern(PatternSpec::new("p", "s = add(u, u); mul(relu(s), s)"));
    assert_eq!(matches(&diamond, &view, "t"), [1, 2, 3]);
    let tap = pattern(PatternSpec::new("p", "relu(add(u, u))"));
    assert!(reason(&tap, &view, "b").contains("the result of add 's' is also used by mul 't'"));
}

#[test]
fn element_types_and_effects_are_respected() {
    let (view, _) = graph("x = arg 4xi8\ny = relu(x) : 4xi8\nz = print(y) : 4xi8\nreturn z");
    let p = pattern(PatternSpec::new("p", "relu(x)"));
    let rules =
        Capabilities { dtypes: vec![crate::tensor::DType::F32.into()], ..Capabilities::default() };
    let failure = find(&p, &view, "y", &rules).expect_err("no match").expect("a reason");
    assert_eq!(failure.reason.to_string(), "a tensor is 4xi8; the target computes with f32");
    let p = pattern(PatternSpec::new("p", "print(x)"));
    assert!(reason(&p, &view, "z").contains("is not free"));
    // Constants have types, too, unless no code of the device is given them.
    let (view, _) = graph(
        "x = arg 4xf32\nk = const 2x2xi8\nl = const 2xi64\ny = add(x, k) : 4xf32\nz = add(x, l) : 4xf32\nreturn y, z",
    );
    let failure = |spec: PatternSpec, root: &str| {
        find(&pattern(spec), &view, root, &rules)
            .err()
            .map(|found| found.expect("a reason").reason.to_string())
    };
    let add = || PatternSpec::new("p", "add(x, k: const)");
    let refused = Some("a tensor is 2x2xi8; the target computes with f32".to_owned());
    assert_eq!(failure(add(), "y"), refused);
    assert_eq!(failure(add(), "z"), None);
    assert_eq!(failure(add().clause("k.dtype == i8"), "y"), None);
    assert_eq!(failure(add().call("void f(in x, in k, out y)"), "y"), refused);
    assert_eq!(failure(add().call("void f(in x, i32 k.size, out y)"), "y"), None);
}

#[test]
fn bad_match_expressions_are_pointed_at() {
    let error = |text: &str| fails(PatternSpec::new("p", text));
    assert_eq!(
        error("relu(cnov(x, w))"),
        "pattern 'p', match: column 6: there is no operation 'cnov'; did you mean 'conv'?\n  \
         relu(cnov(x, w))\n       ^^^^"
    );
    assert!(error("relu(x").contains("expected ',' or ')' after an operand, found the end"));
    assert!(error("relu(x, y)").contains("has at most 1 operands, not 2"));
    assert!(error("conv(x)").contains("has at least 2 operands"));
    assert!(error("relu?(x)").contains("may match without any operation"));
    assert!(error("a = relu(x); relu(y)").contains("part 'a' is not used"));
    assert!(error("top_k(x, k)#2").contains("has no result #2"));
    assert!(error("relu(const: x)").contains("'const' has a meaning of its own"));
    assert!(error("relu(f32)").contains("'f32' has a meaning of its own"));
    assert!(error("relu(x) y").contains("did not expect 'y' here"));
    assert!(error("relu(x) $").contains("the character '$'"));
    assert!(error("mul(x, 12abc)").contains("'12abc' is not a number"));
    assert!(error("relu?()").contains("needs a first operand"));
    assert!(error("a: (b: relu(x))").contains("a second name, 'a'"));
    assert!(error(&"(".repeat(100)).contains("nest more than"));
    assert!(error(&"relu|".repeat(2000)).contains("more than 2048"));
    assert!(error("").contains("found the end"));
}

#[test]
fn bad_conditions_are_pointed_at() {
    let error = |clause: &str| {
        fails(
            PatternSpec::new("p", "relu?(add?(conv(x, w), b))")
                .clause("x.rank == 4")
                .clause(clause),
        )
    };
    assert_eq!(
        error("x.rank == 4 and y.rank == 2"),
        "pattern 'p', where[1]: column 17: nothing in the pattern is called 'y'; \
         known: add, b, conv, relu, w, x, option\n  x.rank == 4 and y.rank == 2\n                  ^"
    );
    assert!(error("conv.gruop == 1").contains("did you mean 'group'?"));
    assert!(error("x.group == 1").contains("'x' is a value without a matched operation"));
    assert!(error("option.srma == 1").contains("did you mean 'sram'?"));
    assert!(error("x.rank").contains("an integer is no condition"));
    assert!(error("conv.strides <= 2").contains("write all(...) or any(...)"));
    assert!(error("x.dtype == 1").contains("cannot compare an element type with an integer"));
    assert!(error("x == 1").contains("'x' is a whole value"));
    assert!(error("x.rank = 4").contains("write '=='"));
    assert!(error("x.rank in 4").contains("expected a list after 'in'"));
    assert!(error("x.dtype in [1, 2]").contains("the list holds an integer"));
    assert!(error("alll(conv.strides == 1)").contains("did you mean 'all'?"));
    assert!(error("x.dtype < f32").contains("cannot compare"));
    assert!(error("len(x.rank) == 1").contains("usage: len(list)"));
    assert!(error("x.rank + x.dtype == 1").contains("needs numbers"));
    assert!(error("x.shape[x.dtype] == 1").contains("an index is to be an integer"));
    assert!(error("option == 1").contains("option.NAME"));
    assert!(error("x.rank ==").contains("expected a value, found the end"));
    assert!(error("x.rank == 'a").contains("does not end"));
    let two = PatternSpec::new("p", "add(relu(x), relu(y))").clause("relu.out.rank == 4");
    assert!(fails(two).contains("several operations 'relu'"));
    let exclusive =
        PatternSpec::new("p", "(tanh(relu(x)) | erf(relu(x)))").clause("relu.x.rank == 4");
    pattern(exclusive);
}

#[test]
fn prototypes_parse_print_and_are_checked() {
    let text = "int npu_conv(device, in x as nhwc, in w as [1, 0, 2, 3], in? b, out y, i32 x.shape[1], \
                bool present(b), f32 0.5, struct conv_params { stride.h = conv.strides[0], pad = 1, \
                t = const i32 quant_multiplier(values(w)), m = name FAST }, scratch 4 * x.shape[3])";
    let spec = |call: &str| PatternSpec::new("p", "add?(conv(x, w: const), b: const)").call(call);
    let p = pattern(spec(text));
    let proto = p.call.expect("a prototype");
    assert_eq!(CallProto::parse(&proto.to_string()).expect("parses"), proto);
    for fields in ["n = 1, n = 2", "n = 1, n.h = 2", "n.h = 1, n = 2", "n.h = 1, n.h = 2"] {
        let twice = CallProto::parse(&format!("int f(struct t {{ {fields} }})"));
        assert!(twice.is_err_and(|e| e.to_string().contains("has a value already")), "{fields}");
    }
    assert!(CallProto::parse("int f(struct t { n.h = 1, n.w = 2, nh = 3 })").is_ok());
    assert_eq!(proto.params.len(), 10);
    let error = |call: &str| fails(spec(call));
    assert!(error("long f(out y)").contains("returns void or int"));
    assert!(error("int f(in x)").contains("no 'out' parameter"));
    assert!(error("int f(in b, out y)").contains("write 'in? b'"));
    assert!(error("int f(in q, out y)").contains("captures no 'q'"));
    assert!(error("int f(out y, i32 x.dtype)").contains("no scalar"));
    assert!(error("int f(out y, i32 0.5)").contains("does not fit"));
    assert!(error("int f(out y, int 5)").contains("'int' starts no parameter; did you mean 'in'"));
    assert!(error("int f(out y, device)").contains("'device' is the first parameter"));
    assert!(error("int f(in x as nhwx, out y)").contains("'nhwx' is no layout"));
    assert!(error("int f(in x as [0, 0], out y)").contains("no permutation"));
    assert!(error("int f(out y, scratch 1, scratch 2)").contains("one scratch memory"));
    assert!(error("int f(out y, const text [1])").contains("no type of elements"));
    assert!(error("int f(out y, t { a = 'x' })").contains("write 'name X'"));
    assert!(error("int f(out y, i32)").contains("expected the value"));
}

#[test]
fn aliases_are_well_formed() {
    let table = test_table();
    for alias in Alias::all() {
        let entities = [("self".to_owned(), alias.ops.iter().map(|op| (*op).to_owned()).collect())];
        let names = check::Names {
            table: &table,
            options: &BTreeMap::new(),
            entities: &entities,
            ambiguous: &[],
            given: false,
        };
        for (text, guard) in alias.guards.iter().zip(alias.guard_exprs().expect("parses")) {
            check::check_condition(text, &guard, &names).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

#[test]
fn dense_covers_gemm_and_matmul() {
    let (view, _) = graph(
        "x = arg 2x8xf32
         w = const 8x4xf32
         b = const 4xf32
         g = gemm(x, w, b) {alpha = 1.0, beta = 1.0, trans_a = false, trans_b = false} : 2x4xf32
         h = gemm(x, w, b) {alpha = 0.5, beta = 1.0, trans_a = false, trans_b = false} : 2x4xf32
         m = matmul(x, w) : 2x4xf32
         return g, h, m",
    );
    let p = pattern(PatternSpec::new("p", "dense(x, w: const, b?: const)"));
    assert_eq!(matches(&p, &view, "g"), [0]);
    assert_eq!(matches(&p, &view, "m"), [2]);
    assert!(reason(&p, &view, "h").contains("self.alpha = 0.5"));
}

#[test]
fn a_search_that_explodes_stops() {
    let mut text = String::from("x = arg 4xf32\na0 = add(x, x)\n");
    for i in 1..40 {
        text.push_str(&format!("a{i} = add(a{}, x)\n", i - 1));
    }
    let (view, _) = graph(&format!("{text}return a39"));
    let mut expr = String::from("tanh(y)");
    for _ in 0..38 {
        expr = format!("add?({expr}, _)");
    }
    let p = pattern(PatternSpec::new("p", format!("add({expr}, _)")));
    assert!(reason(&p, &view, "a39").contains("too many steps"));
}

#[test]
fn declarations_print_as_they_parse() {
    let lines: Vec<String> = test_table().iter().map(OpDecl::to_string).collect();
    let read = OpTable::parse(&lines.join("\n")).expect("parses");
    assert_eq!(read.iter().map(OpDecl::to_string).collect::<Vec<_>>(), lines);
}

/// Parts that name the one before twice, so that there are 2^40 ways through the expression.
fn entangled() -> String {
    let parts = (1..40).map(|i| format!("p{i} = (add(p{0}, p{0}) | relu?(p{0})); ", i - 1));
    format!("p0 = relu(x); {}p39", parts.collect::<String>())
}

#[test]
fn parts_are_looked_at_once() {
    let table = test_table();
    let spec = PatternSpec::new("p", entangled());
    let pattern = Pattern::new(spec, &table, &BTreeMap::new()).expect("is right");
    assert_eq!(pattern.roots().collect::<Vec<_>>(), ["add", "relu"]);
    assert!(pattern.always_captures("p39") && pattern.always_captures("p0"));
    let optional = entangled().replace("p0 = relu(x)", "p0 = relu?(x)");
    let empty = Pattern::new(PatternSpec::new("p", optional), &table, &BTreeMap::new());
    assert!(empty.is_err_and(|error| error.to_string().contains("without any operation")));
}

mod random {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_text_makes_the_parsers_fall_over(text in "[a-c?:|(),;=#~.0-9 '+*/%<>!-]{0,40}") {
            if let Ok(expr) = MatchExpr::parse(&text) {
                let printed = expr.to_string();
                prop_assert_eq!(MatchExpr::parse(&printed).expect("parses"), expr);
            }
            if let Ok(expr) = Expr::parse(&text) {
                let printed = expr.to_string();
                prop_assert_eq!(Expr::parse(&printed).expect("parses"), expr);
            }
            let _ = CallProto::parse(&text);
        }
    }
}
