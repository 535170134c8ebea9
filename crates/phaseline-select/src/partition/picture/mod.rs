//! A partition as a picture: the graph, coloured by target, as one HTML file or as SVG alone.
//!
//! Nothing is fetched from anywhere. The drawing is complete without scripts; those of the page
//! move and zoom the view and show the reasons of what is clicked.

mod layout;

use super::report::Report;
use layout::{Layout, NODE_HEIGHT, NODE_WIDTH};
use serde::Serialize;
use std::fmt::Write;

const PAGE: &str = include_str!("page.html");

/// Colours of devices, told apart by people who see red and green alike.
const COLOURS: [&str; 8] =
    ["#8ecae6", "#ffb703", "#b5e48c", "#e5989b", "#cdb4db", "#fb8500", "#90e0c5", "#a3b18a"];
const HOST_COLOUR: &str = "#e9e9ec";
/// Of the picture as SVG: its least width, and the room for the title and for a line of the legend.
const SVG_WIDTH: f64 = 360.0;
const HEAD: f64 = 32.0;
const LINE: f64 = 22.0;
const MARGIN: f64 = 16.0;
/// Style of the same elements as in `page.html`.
const SVG_STYLE: &str = "text { font: 12px sans-serif; fill: #1c1c22; } .title { font-size: 14px; } \
    .title, .name { font-weight: 600; } .place { text-anchor: end; } .place, .node { font-size: 11px; } \
    rect { stroke: #55555f; } .page { fill: #fff; stroke: none; } \
    path { fill: none; stroke: #9a9aa6; stroke-width: 1.3; } \
    path.crosses { stroke: #c2410c; stroke-width: 2.4; }";

/// What a click on an operation shows.
#[derive(Serialize)]
struct Detail {
    head: String,
    lines: Vec<String>,
    region: Option<usize>,
}

impl Report {
    /// The picture as an HTML page; `title` says of what.
    pub fn picture(&self, title: &str) -> crate::Result<String> {
        let layout = self.layout();
        let ops: Vec<Detail> = self
            .ops
            .iter()
            .map(|op| Detail {
                head: op.headline(),
                lines: self.reasons(op, true),
                region: op.region,
            })
            .collect();
        let regions: Vec<String> = self.regions.iter().map(|region| region.explanation()).collect();
        Ok(PAGE
            .replace("@title@", &escape(title))
            .replace("@legend@", &self.legend())
            .replace("@summary@", &escape(&(self.totals() + &self.cost_text())))
            .replace("@refused@", &self.refused_list())
            .replace("@width@", &format!("{:.0}", layout.width))
            .replace("@height@", &format!("{:.0}", layout.height))
            .replace("@edges@", &self.edges(&layout))
            .replace("@nodes@", &self.nodes(&layout))
            .replace("@ops-json@", &json(&ops)?)
            .replace("@regions-json@", &json(&regions)?))
    }

    /// The picture as SVG, for documents: the graph, the title above it, the targets' colours below.
    pub fn svg(&self, title: &str) -> String {
        let layout = self.layout();
        let targets: Vec<&String> = self.devices.iter().chain([&self.host]).collect();
        let width = layout.width.max(SVG_WIDTH);
        let height = HEAD + layout.height + LINE * targets.len() as f64 + HEAD / 2.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{SVG_STYLE}</style>\n\
             <rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n\
             <text x=\"{MARGIN}\" y=\"24\" class=\"title\">{}</text>\n\
             <g transform=\"translate({:.1} {HEAD})\">\n",
            escape(title),
            (width - layout.width) / 2.0,
        );
        out += &self.edges(&layout);
        out += &self.nodes(&layout);
        out += "</g>\n";
        for (index, target) in targets.into_iter().enumerate() {
            let y = HEAD + layout.height + LINE * index as f64;
            let count = self.ops.iter().filter(|op| op.target == *target).count();
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "<rect x=\"{MARGIN}\" y=\"{y:.1}\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{}\"/>\
                 <text x=\"{}\" y=\"{:.1}\">{} ({count})</text>",
                self.colour(target),
                MARGIN + 22.0,
                y + 12.0,
                escape(target)
            );
        }
        out + "</svg>\n"
    }

    fn layout(&self) -> Layout {
        let edges = self.ops.iter().enumerate();
        let edges: Vec<(usize, usize)> =
            edges.flat_map(|(to, op)| op.inputs.iter().map(move |input| (input.op, to))).collect();
        Layout::new(self.ops.len(), &edges)
    }

    fn colour(&self, target: &str) -> &'static str {
        let device = self.devices.iter().position(|device| device == target);
        device.map_or(HOST_COLOUR, |index| COLOURS[index % COLOURS.len()])
    }

    fn legend(&self) -> String {
        let targets = self.devices.iter().chain([&self.host]);
        let entry = |target: &String| {
            let count = self.ops.iter().filter(|op| op.target == *target).count();
            format!(
                "<li><span style=\"background:{}\"></span>{} ({count})</li>",
                self.colour(target),
                escape(target)
            )
        };
        targets.map(entry).collect()
    }

    fn refused_list(&self) -> String {
        let mut out = String::new();
        for merge in &self.refused_merges {
            let path: Vec<String> = merge.path().iter().map(|op| op.0.to_string()).collect();
            let text = escape(&merge.text);
            // Writing to a string does not fail.
            let _ = write!(out, "<li data-path=\"{}\">{text}</li>", path.join(" "));
        }
        if out.is_empty() { "<li>none</li>".to_owned() } else { out }
    }

    fn edges(&self, layout: &Layout) -> String {
        let mut out = String::new();
        for (points, (from, to)) in layout.edges.iter().zip(&layout.ends) {
            let (a, b) = (&self.ops[*from], &self.ops[*to]);
            let crosses = a.region != b.region;
            let class = if crosses { " class=\"crosses\"" } else { "" };
            let ty = b.inputs.iter().find(|input| input.op == *from).map(|input| &input.ty);
            let what = if crosses { ", a transfer" } else { "" };
            let title = format!("{} -> {}: {}{what}", a.op, b.op, ty.map_or("", |ty| ty));
            let _ = writeln!(
                out,
                "<path{class} d=\"{}\"><title>{}</title></path>",
                path(points),
                escape(&title)
            );
        }
        out
    }

    fn nodes(&self, layout: &Layout) -> String {
        let mut out = String::new();
        for (op, (x, y)) in self.ops.iter().zip(&layout.nodes) {
            let region = op.region.and_then(|region| self.regions.get(region));
            let place = region.map_or_else(|| op.target.clone(), |region| region.name.clone());
            let tip = op.headline() + "\n" + &self.reasons(op, false).join("\n");
            let (left, top) = (x - NODE_WIDTH / 2.0, y - NODE_HEIGHT / 2.0);
            let _ = writeln!(
                out,
                "<g class=\"op\" data-op=\"{}\" transform=\"translate({left:.1} {top:.1})\">\
                 <title>{}</title><rect width=\"{NODE_WIDTH}\" height=\"{NODE_HEIGHT}\" rx=\"6\" \
                 fill=\"{}\"/><text x=\"8\" y=\"17\" class=\"name\">{}</text>\
                 <text x=\"{}\" y=\"17\" class=\"place\">{}</text>\
                 <text x=\"8\" y=\"34\" class=\"node\">{}</text></g>",
                op.index,
                escape(&tip),
                self.colour(&op.target),
                escape(&clip(&op.op, 16)),
                NODE_WIDTH - 8.0,
                escape(&clip(&place, 12)),
                escape(&clip_start(&second_line(op), 31)),
            );
        }
        out
    }
}

/// The node's name, or the type of the result where it has none.
fn second_line(op: &super::report::OpReport) -> String {
    if op.node.is_empty() { op.results.join(", ") } else { op.node.clone() }
}

/// A line through points from top to bottom.
fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| points.get(before));
        let _ = match before {
            None => write!(out, "M{x:.1} {y:.1}"),
            Some((x0, y0)) => {
                let middle = (y0 + y) / 2.0;
                write!(out, "C{x0:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
            }
        };
    }
    out
}

fn clip(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['\u{2026}']).collect()
}

/// The end of a long name, which is what tells nodes apart.
fn clip_start(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    ['\u{2026}'].into_iter().chain(text.chars().skip(length + 1 - limit)).collect()
}

fn escape(text: &str) -> String {
    // An at sign in a name must not look like a place of the page that is still to be filled.
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('@', "&#64;")
}

/// JSON that can stand in a script: it never ends the element.
fn json(value: &impl Serialize) -> crate::Result<String> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| crate::Error::internal(error.to_string()))?;
    Ok(text.replace('<', "\\u003c").replace('@', "\\u0040"))
}
