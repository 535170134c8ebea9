//! The memory of a model as a table.

use crate::artifact::MemoryUse;

/// A row for each memory: what values and constants take there, what is there, and when most is in use.
pub fn table(memories: &[MemoryUse]) -> String {
    let head = ["memory", "values", "bound", "constants", "of", "fullest at"];
    let mut rows = vec![head.map(str::to_owned)];
    let number = |bytes: usize| if bytes > 0 { bytes.to_string() } else { "-".to_owned() };
    for memory in memories {
        let MemoryUse { name, target, values_bytes, lower_bound, peak, constants_bytes, capacity } =
            memory;
        let of = target.as_ref().map_or_else(String::new, |target| format!(" of {target}"));
        let sizes = [*values_bytes, *lower_bound, *constants_bytes, capacity.unwrap_or(0)];
        let [values, bound, constants, there] = sizes.map(number);
        rows.push([format!("{name}{of}"), values, bound, constants, there, peak.clone()]);
    }
    aligned(&rows)
}

/// Columns with space between, numbers to the right.
pub fn aligned(rows: &[[String; 6]]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cell = |(column, cell): (usize, &String)| match column {
            0 => format!("{cell:<0$}", widths[column]),
            5 => cell.clone(),
            _ => format!("{cell:>0$}", widths[column]),
        };
        let line: Vec<_> = row.iter().enumerate().map(cell).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}
