use super::*;

fn all(body: &str) -> Vec<(Slip, String)> {
    let text = format!("int f(int *x) {{\n{body}\n}}\n");
    let wanted = BTreeSet::from(["f".to_owned()]);
    let line = |defect: Defect| {
        assert_eq!(defect.line(&text), 2);
        assert_eq!(defect.block, "int f(int *x) {".len());
        (defect.slip, defect.planted(&text).lines().nth(1).unwrap_or_default().to_owned())
    };
    slips("f.c", &text, &wanted).into_iter().map(line).collect()
}

fn of(slip: Slip, body: &str) -> Vec<String> {
    let found = all(body).into_iter().filter(|(other, _)| *other == slip);
    found.map(|(_, line)| line).collect()
}

#[test]
fn operators_with_two_operands_change() {
    assert_eq!(of(Slip::Operator, "y = -a * b;"), ["y = -a + b;"]);
    assert_eq!(of(Slip::Operator, "y += a[i] && *b;"), ["y = a[i] && *b;", "y += a[i] || *b;"]);
    assert_eq!(of(Slip::Operator, "float *p = (float *)q; g(&p);"), Vec::<String>::new());
}

#[test]
fn comparisons_of_equals_do_not_matter_in_a_clamp() {
    assert!(of(Slip::Operator, "y = sum < 0.0f ? 0.0f : sum;").is_empty());
    assert!(of(Slip::Operator, "y = a[i] > most ? a[i] : most;").is_empty());
    assert_eq!(of(Slip::Operator, "y = a < b ? c : a;"), ["y = a <= b ? c : a;"]);
    assert!(of(Slip::Operator, "y = a > (float)b ? b : (int)a;").is_empty());
}

#[test]
fn loops_are_one_off_at_either_end() {
    assert_eq!(
        of(Slip::Bound, "for (int i = 0; i < n && x[i]; i++) {}"),
        ["for (int i = 1; i < n && x[i]; i++) {}", "for (int i = 0; i < n - 1 && x[i]; i++) {}"]
    );
    assert!(of(Slip::Bound, "y = a < 3;").is_empty());
}

#[test]
fn numbers_conditions_statements_and_arguments_change() {
    assert_eq!(of(Slip::Constant, "y = 0.0f + 8;"), ["y = 1.0f + 8;", "y = 0.0f + (8 + 1);"]);
    assert_eq!(
        of(Slip::Condition, "if (a) y = b ? 1 : c;"),
        ["if (!(a)) y = b ? 1 : c;", "if (a) y = b ? c : 1;"]
    );
    assert_eq!(
        of(Slip::Statement, "int z = 1; if (a) y[0] = z; g();"),
        ["int z = 1; if (a) (void)0; g();", "int z = 1; if (a) y[0] = z; (void)0;"]
    );
    assert_eq!(
        of(Slip::Arguments, "g(a, h(b, c), a);"),
        ["g(h(b, c), a, a);", "g(a, a, h(b, c));", "g(a, h(c, b), a);"]
    );
}

#[test]
fn arrays_become_shorter() {
    assert_eq!(of(Slip::Constant, "float y[8];"), ["float y[(8 - 1)];"]);
    assert_eq!(of(Slip::Constant, "x = y[8];"), ["x = y[(8 + 1)];"]);
}

#[test]
fn checks_of_arguments_stay() {
    assert!(all("if (a > 4) return BAD_ARGUMENT;").is_empty());
    assert_eq!(of(Slip::Condition, "if (a > 4) return y;").len(), 1);
}
