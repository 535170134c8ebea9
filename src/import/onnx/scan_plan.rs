//! The attributes and types of a Scan.

use melior::ir::ValueLike;

use crate::ir::{self, Val};

use super::attributes::Attributes;
use super::body::Way;
use super::emit::OpResult;
use super::flatten::Node;
use super::proto::GraphProto;

/// Values that a scan reads, carries and collects.
pub(super) struct ScanPlan {
    pub(super) carried: usize,
    /// Number of steps; [`ir::DYNAMIC`] if only a run knows.
    pub(super) length: i64,
    pub(super) scanned: Vec<Way>,
    pub(super) collected: Vec<Way>,
}

impl ScanPlan {
    pub(super) fn read(node: &Node<'_>, body: &GraphProto, inputs: &[Val<'_>]) -> OpResult<Self> {
        let attributes = Attributes::of(&node.proto);
        let count = attributes.int("num_scan_inputs")?.and_then(|n| usize::try_from(n).ok());
        let count = count.filter(|count| (1..=inputs.len()).contains(count));
        let count = count.ok_or("attribute `num_scan_inputs` is missing or out of range")?;
        let carried = inputs.len() - count;
        let collected = body.output.len().checked_sub(carried);
        let collected = collected.ok_or("the body has too few outputs")?;
        let list = |name: &str, length: usize| -> OpResult<Vec<i64>> {
            let list = attributes.ints(name)?.unwrap_or(vec![0; length]);
            if list.len() != length {
                return Err(format!("attribute `{name}` must have {length} elements").into());
            }
            Ok(list)
        };
        let (axes, ways) = (list("scan_input_axes", count)?, list("scan_input_directions", count)?);
        let mut length = None;
        let mut scanned = Vec::new();
        for (index, (axis, way)) in axes.iter().zip(ways).enumerate() {
            let dims = ir::dims(inputs[carried + index].r#type());
            let axis = counted(*axis, dims.len())?;
            match (length, dims[axis]) {
                (_, ir::DYNAMIC) => {}
                (Some(length), own) if length != own => {
                    return Err(format!("sequences of length {length} and {own}").into());
                }
                (_, own) => length = Some(own),
            }
            scanned.push(Way { axis, reversed: way == 1 });
        }
        let length = length.unwrap_or(ir::DYNAMIC);
        let (axes, ways) =
            (list("scan_output_axes", collected)?, list("scan_output_directions", collected)?);
        let outputs = body.output.iter().skip(carried).zip(axes.iter().zip(ways));
        let collected = outputs.map(|(output, (axis, way))| {
            // Counted from the end in the stacked result, whose rank the body declares.
            let rank = declared_rank(output).map_or(i64::MAX, |rank| rank as i64 + 1);
            let axis = if *axis < 0 { axis.saturating_add(rank) } else { *axis };
            let axis = usize::try_from(axis).map_err(|_| "an output axis is out of range")?;
            Ok(Way { axis, reversed: way == 1 })
        });
        let collected = collected.collect::<OpResult<_>>()?;
        Ok(Self { carried, length, scanned, collected })
    }
}

fn counted(axis: i64, rank: usize) -> OpResult<usize> {
    let counted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let counted = usize::try_from(counted).ok().filter(|axis| *axis < rank);
    counted.ok_or_else(|| format!("axis {axis} is out of range for rank {rank}").into())
}

fn declared_rank(value: &super::proto::ValueInfoProto) -> Option<usize> {
    match value.r#type.as_ref()?.value.as_ref()? {
        super::proto::TypeValue::Tensor(tensor) => Some(tensor.shape.as_ref()?.dim.len()),
        _ => None,
    }
}
