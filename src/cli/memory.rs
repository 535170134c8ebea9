//! The memory of a model as a table.

use crate::artifact::Signature;

/// A row for each memory: what values and constants take there, what is there, and when most is in use.
pub fn table(signature: &Signature) -> String {
    let head = ["memory", "values", "bound", "constants", "of", "fullest at"];
    let mut rows = vec![head.map(str::to_owned)];
    let number = |bytes: usize| if bytes > 0 { bytes.to_string() } else { "-".to_owned() };
    let row = |name: &str, sizes: [usize; 4], peak: &str| {
        let [values, bound, constants, of] = sizes.map(number);
        [name.to_owned(), values, bound, constants, of, peak.to_owned()]
    };
    if signature.pools.is_empty() {
        let sizes =
            [signature.arena_bytes, signature.arena_lower_bound, signature.constants_bytes, 0];
        rows.push(row("arena", sizes, &signature.arena_peak));
    }
    for pool in &signature.pools {
        let sizes = [pool.values_bytes, pool.lower_bound, pool.constants_bytes, pool.capacity];
        rows.push(row(&pool.name, sizes, &pool.peak));
    }
    for device in &signature.devices {
        let Some(memory) = &device.memory else { continue };
        let sizes = [memory.values_bytes, 0, memory.constants_bytes, 0];
        rows.push(row(&format!("{} of {}", memory.space, device.target), sizes, ""));
    }
    aligned(&rows)
}

/// Columns with space between, numbers to the right.
fn aligned(rows: &[[String; 6]]) -> String {
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
