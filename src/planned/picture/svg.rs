//! The picture as SVG: panels one below the other, time to the right, addresses upwards.

use super::{Block, Panel};
use std::fmt::Write as _;

const LEFT: f64 = 96.0;
const WIDTH: f64 = 1200.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 48.0;
/// Above a panel, for its title and remark.
const HEAD: f64 = 52.0;
const HEIGHT: f64 = 320.0;
/// Below a panel, for the names of steps.
const FOOT: f64 = 110.0;
/// Width of a character of labels.
const CHARACTER: f64 = 6.6;
/// Names of steps at most, so that they stay apart.
const NAMES: usize = 48;
/// Fills that black text reads well on, and neighbours differ in.
const COLOURS: [&str; 8] =
    ["#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9"];

/// The whole text.
pub fn text(model: &str, panels: &[Panel], steps: &[String]) -> String {
    let is_timed = |panel: &Panel| panel.blocks.iter().any(|block| block.steps.is_some());
    let foot = |panel: &Panel| if is_timed(panel) { FOOT } else { 16.0 };
    let height: f64 = TOP + panels.iter().map(|panel| HEAD + HEIGHT + foot(panel)).sum::<f64>();
    let width = LEFT + WIDTH + RIGHT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"18\">Memory of {}</text>\n",
        escaped(model)
    );
    let mut top = TOP;
    for panel in panels {
        draw(&mut out, panel, top, steps);
        top += HEAD + HEIGHT + foot(panel);
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, panel: &Panel, top: f64, steps: &[String]) {
    let floor = top + HEAD + HEIGHT;
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{LEFT}\" y=\"{}\" fill=\"#555\">{}</text>",
        top + 20.0,
        escaped(&panel.title),
        top + 36.0,
        escaped(&panel.remark)
    );
    let scale = HEIGHT / panel.bytes.max(1) as f64;
    for address in ticks(panel.bytes) {
        let y = floor - address as f64 * scale;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e5e5e5\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{address}</text>",
            LEFT + WIDTH,
            LEFT - 6.0,
            y + 4.0
        );
    }
    let step = WIDTH / steps.len().max(1) as f64;
    for (index, block) in panel.blocks.iter().enumerate() {
        rectangle(out, block, COLOURS[index % COLOURS.len()], (floor, scale, step, steps));
    }
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" \
         stroke=\"#333\"/>",
        top + HEAD
    );
    if panel.blocks.iter().any(|block| block.steps.is_some()) {
        names(out, floor, step, steps);
    }
}

/// A buffer: its name where that fits, all else for who points at it.
fn rectangle(
    out: &mut String,
    block: &Block,
    colour: &str,
    (floor, scale, step, steps): (f64, f64, f64, &[String]),
) {
    let (from, to) = block.steps.unwrap_or((0, steps.len().saturating_sub(1)));
    let (x, width) = match block.steps {
        Some(_) => (LEFT + from as f64 * step, (to + 1 - from) as f64 * step),
        None => (LEFT, WIDTH),
    };
    let height = block.size as f64 * scale;
    let y = floor - block.offset as f64 * scale - height;
    let end = block.offset.saturating_add(block.size);
    let name = escaped(&block.name);
    let time = match block.steps {
        None => String::new(),
        Some(_) => {
            let at = |index: usize| steps.get(index).map(|name| escaped(name)).unwrap_or_default();
            format!("\nfrom step {from}, {}\nto step {to}, {}", at(from), at(to))
        }
    };
    let _ = writeln!(
        out,
        "<g><title>{name}\n{} bytes, {} to {end}{time}</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         fill=\"{colour}\" stroke=\"#333\" stroke-width=\"0.5\"/>",
        block.size, block.offset
    );
    let label = fitting(plain(&block.name), width, height);
    if let Some((label, upright)) = label {
        let (middle, centre) = (x + width / 2.0, y + height / 2.0);
        let turn = match upright {
            true => format!(" transform=\"rotate(-90 {middle:.1} {centre:.1})\""),
            false => String::new(),
        };
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\"{turn}>{}</text>",
            centre + 4.0,
            escaped(&label)
        );
    }
    out.push_str("</g>\n");
}

/// A name without the place in the model's file that may be behind it.
fn plain(name: &str) -> &str {
    name.split('(').next().filter(|name| !name.is_empty()).unwrap_or(name)
}

/// A name of at most so many characters, without its middle: layers differ at either end.
fn shortened(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let (head, tail) = (most.saturating_sub(1).div_ceil(2), most.saturating_sub(1) / 2);
    let head: String = name.chars().take(head).collect();
    let tail: String = name.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// As much of a name as fits into a rectangle, which may be turned; none if that is too little to tell
/// it by.
fn fitting(name: &str, width: f64, height: f64) -> Option<(String, bool)> {
    const LEAST: usize = 4;
    const LINE: f64 = 12.0;
    let room = |length: f64, across: f64| match across >= LINE {
        true => (length / CHARACTER) as usize,
        false => 0,
    };
    let (flat, upright) = (room(width, height), room(height, width));
    let count = name.chars().count();
    let turned = flat < count && upright > flat;
    let most = if turned { upright } else { flat };
    if count <= most {
        return Some((name.to_owned(), turned));
    }
    if most < LEAST {
        return None;
    }
    Some((shortened(name, most), turned))
}

/// Names of what runs, below a panel.
fn names(out: &mut String, floor: f64, step: f64, steps: &[String]) {
    const MOST: usize = 22;
    let every = steps.len().div_ceil(NAMES).max(1);
    let mut last = "";
    for (index, name) in steps.iter().enumerate().step_by(every) {
        let name = plain(name);
        if name == last {
            continue;
        }
        last = name;
        let x = LEFT + (index as f64 + 0.5) * step;
        let short = shortened(name, MOST);
        let y = floor + 12.0;
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"9\" text-anchor=\"end\" fill=\"#555\" \
             transform=\"rotate(-45 {x:.1} {y:.1})\">{}</text>",
            escaped(&short)
        );
    }
}

/// Round addresses, about eight, and the last one.
fn ticks(bytes: u64) -> Vec<u64> {
    const PARTS: u64 = 8;
    let step = (bytes / PARTS).max(1).next_power_of_two();
    let near = |address: &u64| bytes - address >= step / 2;
    let mut found: Vec<u64> = (0..).map(|index| index * step).take_while(|a| *a < bytes).collect();
    found.retain(near);
    found.push(bytes);
    found
}

/// A text as XML has it.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
    out
}
