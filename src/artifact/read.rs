//! The signature as the IR has it.

use super::{
    Bound, Device, DeviceMemory, Operation, PoolUse, Port, PortPlace, Signature,
    recorded_fixed_inputs,
};
use crate::{
    Error, Result,
    ir::{
        self, Op, board, edit, func,
        memory::{self, of_argument},
        names, size,
    },
    tensor::DType,
};
use melior::ir::{Attribute, Type};
use phaseline_base::size::Bounds;
use std::collections::BTreeMap;

/// The signature as far as the arguments of the main function have told it.
struct Reader {
    signature: Signature,
    /// Memory of devices by its name.
    memories: BTreeMap<String, DeviceMemory>,
    /// Ports in the memory of targets.
    bound: BTreeMap<String, Bound>,
}

/// Reads the signature of a module whose functions are in destination-passing style. Sizes of
/// arena and constants are known after memory planning.
pub fn signature_of(module: Op<'_>) -> Result<Signature> {
    let main = func::main(module).ok_or_else(func::no_main)?;
    let signature = Signature {
        name: names::model_name(module),
        inputs: vec![],
        fixed: recorded_fixed_inputs(module)?,
        outputs: vec![],
        states: vec![],
        bounds: bounds(module)?,
        arena_bytes: 0,
        arena_lower_bound: ir::attr_i64(main, names::ARENA_LOWER_BOUND)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(0),
        arena_peak: ir::attr_str(main, names::ARENA_PEAK).unwrap_or_default(),
        constants_bytes: 0,
        weights: None,
        pools: pools(module)?,
        devices: vec![],
        operations: operations(module)?,
    };
    let mut reader = Reader { signature, memories: BTreeMap::new(), bound: BTreeMap::new() };
    for (index, (ty, attributes)) in func::Signature::of(main)?.arguments.iter().enumerate() {
        reader.take(index, *ty, attributes)?;
    }
    reader.place_pools(module)?;
    reader.place_devices(module)?;
    Ok(reader.signature)
}

/// The sizes of inputs and outputs that `graph-bound-sizes` wrote.
fn bounds(module: Op<'_>) -> Result<Option<Bounds>> {
    let Some(text) = ir::attr_str(module, names::BOUNDS) else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Error::invalid(format!("attribute {} is not valid: {error}", names::BOUNDS))
    })
}

impl Reader {
    /// Reads an argument of the main function.
    fn take(
        &mut self,
        index: usize,
        ty: Type<'_>,
        attributes: &func::Attributes<'_>,
    ) -> Result<()> {
        let text = |name: &str| string_in(attributes, name);
        let role = text(names::IO).unwrap_or_default();
        let bound = text(names::BOUND).map(|target| self.bound.entry(target).or_default());
        let signature = &mut self.signature;
        match role.as_str() {
            "input" => {
                bound.into_iter().for_each(|bound| bound.inputs.push(signature.inputs.len()));
                let name = format!("input_{index}");
                signature.inputs.push(port(ty, &text, &name, attributes)?);
            }
            "output" => {
                let number = signature.outputs.len();
                bound.into_iter().for_each(|bound| bound.outputs.push(number));
                let name = format!("output_{number}");
                signature.outputs.push(port(ty, &text, &name, attributes)?);
                let old = text(names::STATE).and_then(|old| signature.input(&old));
                signature.states.extend(old.map(|old| [old, number]));
            }
            "arena" => signature.arena_bytes = bytes_of(ty),
            "constants" => signature.constants_bytes = bytes_of(ty),
            names::POOL_ARENA | names::POOL_CONSTANTS => self.in_pool(&role, ty, attributes)?,
            names::DEVICE_ARENA => {
                let memory = self.memory(attributes);
                memory.values_bytes = bytes_of(ty);
                (memory.lower_bound, memory.peak) = fullest(attributes);
            }
            names::DEVICE_CONSTANTS => {
                let memory = self.memory(attributes);
                memory.constants_bytes = bytes_of(ty);
                memory.constants_offset = offset_in(attributes).unwrap_or(0);
            }
            _ => {
                return Err(Error::invalid(format!(
                    "argument {index} of @main has no phl.io attribute: \
                     convert-functions-to-dps, in phase bufferize, has not run on it"
                )));
            }
        }
        Ok(())
    }

    /// The memory that an argument is of.
    fn memory(&mut self, attributes: &func::Attributes<'_>) -> &mut DeviceMemory {
        self.memories.entry(of_argument(attributes)).or_default()
    }

    /// Records the contents of each device's memory.
    fn place_devices(&mut self, module: Op<'_>) -> Result<()> {
        for (space, memory) in &mut self.memories {
            space.clone_into(&mut memory.space);
        }
        let declared = memory::declared(module)?;
        for target in devices(module) {
            let memory = declared.iter().find(|memory| memory.target == target).map(|declared| {
                let mut memory = self.memories.remove(&declared.space).unwrap_or_default();
                declared.space.clone_into(&mut memory.space);
                let alignment = usize::try_from(declared.alignment).unwrap_or(1);
                memory.alignment = alignment.max(size::ALIGNMENT as usize);
                memory.capacity = declared.bytes.and_then(|bytes| usize::try_from(bytes).ok());
                memory
            });
            let bound = self.bound.remove(&target);
            self.signature.devices.push(Device { target, memory, bound, ..Default::default() });
        }
        Ok(())
    }

    /// Takes an argument of the main function that is in a pool.
    fn in_pool(
        &mut self,
        role: &str,
        ty: Type<'_>,
        attributes: &func::Attributes<'_>,
    ) -> Result<()> {
        let name = of_argument(attributes);
        let pool = self.signature.pools.iter_mut().find(|pool| pool.name == name);
        let pool = pool.ok_or_else(|| {
            Error::invalid(format!(
                "an argument of @main is in pool '{name}', which {} lacks",
                names::BOARD
            ))
        })?;
        let bytes = bytes_of(ty);
        if role == names::POOL_CONSTANTS {
            pool.constants_bytes = bytes;
            return Ok(());
        }
        pool.values_bytes = bytes;
        (pool.lower_bound, pool.peak) = fullest(attributes);
        Ok(())
    }

    /// Computes the offsets of each pool's constants among all.
    fn place_pools(&mut self, module: Op<'_>) -> Result<()> {
        if self.signature.pools.is_empty() {
            return Ok(());
        }
        let sizes: Vec<u64> =
            self.signature.pools.iter().map(|pool| pool.constants_bytes as u64).collect();
        let (offsets, end) = board::constants_offsets(&board::declared(module)?, &sizes);
        for (pool, offset) in self.signature.pools.iter_mut().zip(offsets) {
            pool.constants_offset = offset as usize;
        }
        self.signature.constants_bytes = end as usize;
        Ok(())
    }
}

/// The bound of an arena by the attributes of its argument, and where it is met.
fn fullest(attributes: &func::Attributes<'_>) -> (usize, String) {
    let bound = attributes.iter().find(|(name, _)| name == names::LOWER_BOUND);
    let bound = bound.and_then(|(_, value)| usize::try_from(ir::attribute::int(*value)?).ok());
    (bound.unwrap_or(0), string_in(attributes, names::PEAK).unwrap_or_default())
}

/// Offset of an argument's memory in the block that has it, if its attributes say so.
fn offset_in(attributes: &func::Attributes<'_>) -> Option<usize> {
    let offset = attributes.iter().find(|(name, _)| name == names::OFFSET);
    offset.and_then(|(_, value)| usize::try_from(ir::attribute::int(*value)?).ok())
}

/// The steps that `trace-operations` found.
pub fn operations(module: Op<'_>) -> Result<Vec<Operation>> {
    let Some(text) = ir::attr_str(module, names::OPERATIONS) else { return Ok(vec![]) };
    serde_json::from_str(&text).map_err(|error| {
        Error::invalid(format!("attribute {} is not valid: {error}", names::OPERATIONS))
    })
}

/// The pools of the board, of whose use nothing is known yet.
fn pools(module: Op<'_>) -> Result<Vec<PoolUse>> {
    let pools = board::declared(module)?.into_iter().map(|pool| PoolUse {
        name: pool.name,
        capacity: usize::try_from(pool.bytes).unwrap_or(usize::MAX),
        alignment: usize::try_from(pool.alignment).unwrap_or(1).max(size::ALIGNMENT as usize),
        ..Default::default()
    });
    Ok(pools.collect())
}

fn devices(module: Op<'_>) -> Vec<String> {
    ir::attr_strs(module, names::DEVICES).unwrap_or_default()
}

fn string_in(attributes: &[(String, Attribute<'_>)], name: &str) -> Option<String> {
    let (_, value) = attributes.iter().find(|(found, _)| found == name)?;
    edit::string(*value)
}

fn bytes_of(ty: Type<'_>) -> usize {
    ir::dims(ty).first().map_or(0, |bytes| usize::try_from(*bytes).unwrap_or(0))
}

fn port(
    ty: Type<'_>,
    text: &dyn Fn(&str) -> Option<String>,
    fallback: &str,
    attributes: &func::Attributes<'_>,
) -> Result<Port> {
    let name = text(names::NAME).unwrap_or_else(|| fallback.to_owned());
    let element = ir::element_type(ty).to_string();
    let dtype = text(names::DTYPE).unwrap_or(element);
    let dtype = DType::from_name(&dtype).ok_or_else(|| {
        Error::unsupported(format!("'{name}' has elements of type {dtype}, which cannot be passed"))
    })?;
    let shape: Option<Vec<usize>> = ir::static_dims(ty)
        .and_then(|dims| dims.into_iter().map(|dim| usize::try_from(dim).ok()).collect());
    let shape = shape.ok_or_else(|| {
        Error::invalid(format!("'{name}' has the type {ty}, whose size is not known"))
    })?;
    let place =
        offset_in(attributes).map(|offset| PortPlace { pool: of_argument(attributes), offset });
    Ok(Port { name, dtype, shape, place })
}
