//! Inputs of a model that decide about shapes.

use std::collections::{HashMap, HashSet};

use crate::import::ImportError;

use super::Model;
use super::flatten::{Node, flatten, flatten_graph};
use super::importer::{MAX_NESTED_GRAPHS, MAX_NODES};
use crate::targets::Operators;

/// Positions of the operands that decide about the shape of a result, or that must be known when
/// the model is compiled for another reason; by operator.
const SHAPE_OPERANDS: &[(&str, &[usize])] = &[
    ("AffineGrid", &[1]),
    ("BlackmanWindow", &[0]),
    ("CenterCropPad", &[1]),
    ("Col2Im", &[1, 2]),
    ("Compress", &[1]),
    ("ConstantOfShape", &[0]),
    ("CumProd", &[1]),
    ("CumSum", &[1]),
    ("DFT", &[1, 2]),
    ("Dropout", &[1, 2]),
    ("Expand", &[1]),
    ("HammingWindow", &[0]),
    ("HannWindow", &[0]),
    ("If", &[0]),
    ("Loop", &[0, 1]),
    ("MaxUnpool", &[2]),
    ("MelWeightMatrix", &[0, 1, 2, 3, 4]),
    ("NonZero", &[0]),
    ("OneHot", &[1]),
    ("Pad", &[1, 3]),
    ("Range", &[0, 1, 2]),
    ("ReduceL1", &[1]),
    ("ReduceL2", &[1]),
    ("ReduceLogSum", &[1]),
    ("ReduceLogSumExp", &[1]),
    ("ReduceMax", &[1]),
    ("ReduceMean", &[1]),
    ("ReduceMin", &[1]),
    ("ReduceProd", &[1]),
    ("ReduceSum", &[1]),
    ("ReduceSumSquare", &[1]),
    ("Reshape", &[1]),
    ("Resize", &[1, 2, 3]),
    ("STFT", &[1, 3]),
    ("Slice", &[1, 2, 3, 4]),
    ("Split", &[1]),
    ("Squeeze", &[1]),
    ("Tile", &[1, 2]),
    ("TopK", &[1]),
    ("Trilu", &[1]),
    ("Unsqueeze", &[1]),
    ("Upsample", &[1]),
];

/// The inputs (without initializers) whose values, through whatever arithmetic, end up as the
/// shape operand of some node: target shapes, slice bounds, axes, repeats and the like. A model
/// compiles to static shapes only when these values are known. In the order of the graph.
pub fn shape_like_inputs(model: &Model) -> Result<Vec<String>, ImportError> {
    let mut flow = Flow { model, sources: HashMap::new(), stack: Vec::new(), budget: MAX_NODES };
    flow.add_nodes(&flatten(model)?, 0)?;
    let mut seen = HashSet::new();
    while let Some(value) = flow.stack.pop() {
        if let Some(sources) = flow.sources.get(&value)
            && !seen.contains(&value)
        {
            flow.stack.extend(sources.iter().cloned());
        }
        seen.insert(value);
    }
    let inputs = model.input_names().into_iter();
    Ok(inputs.filter(|name| seen.contains(name)).collect())
}

/// Data flow of all graphs of the model: the values that each value is computed from; names are
/// unique.
struct Flow<'m> {
    model: &'m Model,
    sources: HashMap<String, Vec<String>>,
    /// Values that decide about shapes.
    stack: Vec<String>,
    /// Nodes that may still be looked at.
    budget: usize,
}

impl Flow<'_> {
    fn add_nodes(&mut self, nodes: &[Node<'_>], depth: usize) -> Result<(), ImportError> {
        self.budget = self.budget.saturating_sub(nodes.len());
        for node in nodes {
            let mut sources: Vec<String> = match node.proto.op_type.as_str() {
                // The results of these depend on the type of their operand only.
                "Shape" | "Size" => Vec::new(),
                _ => node.reads().map(str::to_string).collect(),
            };
            self.stack.extend(shape_operands(node).map(str::to_string));
            for attribute in &node.proto.attribute {
                for graph in attribute.g.iter().chain(&attribute.graphs) {
                    sources.extend(graph.output.iter().map(|output| output.name.clone()));
                    // Inputs of the graph are not told apart: each may come from all inputs of the
                    // node.
                    for input in &graph.input {
                        self.sources.insert(input.name.clone(), node.proto.input.clone());
                    }
                    // The importer refuses what is nested deeper.
                    if depth < MAX_NESTED_GRAPHS && self.budget > 0 {
                        let inner = flatten_graph(
                            self.model,
                            graph,
                            &node.opsets,
                            "",
                            &Operators::default(),
                        )?;
                        self.add_nodes(&inner, depth + 1)?;
                    }
                }
            }
            for output in &node.proto.output {
                self.sources.insert(output.clone(), sources.clone());
            }
        }
        Ok(())
    }
}

fn shape_operands<'a>(node: &'a Node<'_>) -> impl Iterator<Item = &'a str> {
    let standard = node.domain().is_empty();
    let row = SHAPE_OPERANDS.iter().find(|(op, _)| standard && *op == node.proto.op_type);
    let positions = row.map_or(&[][..], |(_, positions)| positions);
    positions.iter().filter_map(|&position| node.proto.input.get(position)).map(String::as_str)
}
