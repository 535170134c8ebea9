//! Breaking long lines of generated C.

/// Columns of a line of generated C.
const WIDTH: usize = 100;

/// The text with lines indented by the braces around them, broken after commas where they are too
/// long, and with an empty line before every function.
pub fn format(text: &str) -> String {
    let mut out = String::new();
    let mut previous = String::new();
    let mut depth = 0_usize;
    for line in text.lines() {
        let line = line.trim();
        let outside = depth == 0;
        let (opened, closed) = braces(line);
        let indent = depth - usize::from(line.starts_with('}')).min(depth);
        depth = (depth + opened).saturating_sub(closed);
        let line = if line.is_empty() { String::new() } else { "  ".repeat(indent) + line };
        // A comment belongs to the function after it.
        let starts_function = outside
            && (line.ends_with(") {") && !previous.starts_with("/*") || line.starts_with("/*"));
        let after_includes = previous.starts_with("#include") && !line.starts_with("#include");
        if (starts_function || after_includes) && !previous.is_empty() && !line.is_empty() {
            out.push('\n');
        }
        break_line(&line, &mut out);
        previous = line;
    }
    out
}

/// Number of braces that a line opens and closes; those in comments, which stand alone, are none.
fn braces(line: &str) -> (usize, usize) {
    if line.starts_with("/*") {
        return (0, 0);
    }
    let count = |brace| line.matches(brace).count();
    (count('{'), count('}'))
}

fn break_line(line: &str, out: &mut String) {
    let indent = line.len() - line.trim_start().len();
    let mut rest = line;
    let mut lead = String::new();
    while lead.len() + rest.len() > WIDTH {
        let room = WIDTH - lead.len();
        let head = rest.char_indices().nth(room).map_or(rest, |(end, _)| &rest[..end]);
        let Some(comma) = head.rfind(", ").filter(|at| *at > indent) else { break };
        out.push_str(&lead);
        out.push_str(&rest[..=comma]);
        out.push('\n');
        rest = &rest[comma + 2..];
        lead = " ".repeat(indent + 4);
    }
    out.push_str(&lead);
    out.push_str(rest);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_after_commas() {
        let line = format!("f({});", vec!["argument"; 30].join(", "));
        let text = format(&line);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("    argument")), "{text}");
        assert_eq!(text.replace('\n', " ").replace("    ", ""), format!("{line} "));
    }

    #[test]
    fn lines_are_indented_by_braces() {
        let text = "int f(void) {\nfor (;;) {\n/* { */\na[0] = 1;\n}\n  return 0;\n}\n";
        let wanted =
            "int f(void) {\n  for (;;) {\n    /* { */\n    a[0] = 1;\n  }\n  return 0;\n}\n";
        assert_eq!(format(text), wanted);
    }

    #[test]
    fn functions_stand_apart() {
        let text = "#include <a.h>\nint f(void) {\n}\nint g(void) {\n}\n";
        assert_eq!(format(text), "#include <a.h>\n\nint f(void) {\n}\n\nint g(void) {\n}\n");
    }
}
