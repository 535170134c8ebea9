//! The steps of a model as a picture, `compile --report=svg`: columns in the order of the program, a row for each target and
//! queue. There are no times in it, so that the same model gives the same picture.

use super::layers::Layer;
use crate::{
    artifact::{Means, Operation},
    planned::picture::escaped,
};
use std::fmt::Write;

const LEFT: usize = 130;
const COLUMN: usize = 132;
const ROW: usize = 64;
const TOP: usize = 48;
const BOX: (usize, usize) = (116, 44);
/// Characters that fit into a box.
const MOST: usize = 17;

/// The target of a step, and its queue if the device has several.
fn row_of(step: &Operation) -> (&str, Option<u64>) {
    (&step.target, step.queue)
}

/// The whole text.
pub fn svg(steps: &[Layer]) -> String {
    let steps: Vec<&Operation> = steps.iter().map(|step| &step.operation).collect();
    let mut rows = vec![];
    for step in &steps {
        if !rows.contains(&row_of(step)) {
            rows.push(row_of(step));
        }
    }
    let (width, height) = (LEFT + COLUMN * steps.len(), TOP + ROW * rows.len());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"16\" y=\"28\" font-size=\"16\">Steps in order; lighter: started, and not waited for \
         yet</text>\n"
    );
    for (index, (target, queue)) in rows.iter().enumerate() {
        let (y, middle) = (TOP + ROW * index, TOP + ROW * index + BOX.1 / 2);
        let queue = queue.map_or_else(String::new, |queue| format!(", queue {queue}"));
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<text x=\"16\" y=\"{}\" font-weight=\"bold\">{}{queue}</text>\n\
             <line x1=\"{LEFT}\" x2=\"{width}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"#d5d5dc\"/>",
            y + BOX.1 / 2 + 4,
            escaped(target)
        );
    }
    for (index, step) in steps.iter().enumerate() {
        let row = rows.iter().position(|row| *row == row_of(step)).unwrap_or(0);
        let (x, y) = (LEFT + COLUMN * index, TOP + ROW * row);
        if let Some(columns) = columns_under_way(&steps[index..]) {
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" fill=\"{}\" opacity=\"0.45\"/>",
                x + BOX.0,
                y + BOX.1 / 2 - 6,
                columns * COLUMN - BOX.0,
                colour(step.means)
            );
        }
    }
    for (index, step) in steps.iter().enumerate() {
        let row = rows.iter().position(|row| *row == row_of(step)).unwrap_or(0);
        draw(&mut out, step, LEFT + COLUMN * index, TOP + ROW * row);
    }
    out + "</svg>\n"
}

/// The number of columns from what a device is given, the first step, to the step that waits for it.
fn columns_under_way(steps: &[&Operation]) -> Option<usize> {
    let (first, rest) = steps.split_first()?;
    let started = matches!(first.means, Means::Call | Means::Transfer);
    let is_wait = |step: &&Operation| step.means == Means::Wait && row_of(step) == row_of(first);
    rest.iter().position(is_wait).filter(|_| started).map(|index| index + 1)
}

fn draw(out: &mut String, step: &Operation, x: usize, y: usize) {
    let mut code: String = step.code.chars().take(MOST).collect();
    if step.code.chars().count() > MOST {
        code.pop();
        code.push('\u{2026}');
    }
    let types = format!("{} -> {}", step.inputs.join(", "), step.outputs.join(", "));
    let _ = writeln!(
        out,
        "<g class=\"step\"><title>{}: {}\n{}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"{}\" stroke=\"#55555f\"/>\
         <text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>",
        step.means,
        escaped(&step.code),
        escaped(&types),
        BOX.0,
        BOX.1,
        colour(step.means),
        x + 7,
        y + 18,
        step.means,
        x + 7,
        y + 35,
        escaped(&code)
    );
}

fn colour(means: Means) -> &'static str {
    match means {
        Means::Call => "#8ecae6",
        Means::Transfer => "#ffb703",
        Means::Wait => "#e5989b",
        Means::Kernel | Means::Loop | Means::Copy => "#e9e9ec",
    }
}
