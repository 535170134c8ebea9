//! What a compiled model takes and gives.

use super::Operation;
use crate::{
    Error, Result,
    ir::{
        self, Op, board, edit, func,
        memory::{self, of_argument},
        names::{self, SIGNATURE},
        size,
    },
    tensor::{DType, Tensor, element_count},
};
use melior::ir::{Attribute, Type, attribute::StringAttribute};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Where it is in a pool of the board; none if the caller gives its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PortPlace>,
}

/// The place of an input or output in a pool of the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortPlace {
    /// The pool.
    pub pool: String,
    /// Its first byte, from the start of the working memory there.
    pub offset: usize,
}

/// What a model has in the memory of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// Its name in generated code.
    pub space: String,
    /// Bytes of the values at the fullest moment, as they are planned.
    pub values_bytes: usize,
    /// Where its constants begin among all constants of the model.
    pub constants_offset: usize,
    /// Bytes of its constants, which are copied there once.
    pub constants_bytes: usize,
    /// What both are aligned to.
    pub alignment: usize,
}

/// What a model has in a pool of the board. The caller provides the pool: a block for the values, and
/// the constants, which the package has in a block of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolUse {
    /// Its name.
    pub name: String,
    /// Bytes that the board has there.
    pub capacity: usize,
    /// What its blocks are aligned to.
    pub alignment: usize,
    /// Bytes of the values, as they are planned.
    pub values_bytes: usize,
    /// Bytes that the values take at least, whatever the plan.
    #[serde(default)]
    pub lower_bound: usize,
    /// What runs when so many bytes are in use, as its place in the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub peak: String,
    /// Where its constants begin among all constants of the model.
    pub constants_offset: usize,
    /// Bytes of its constants.
    pub constants_bytes: usize,
}

/// The inputs and outputs of a model that programs have in the memory of a device, and the C functions
/// that handle such buffers. All take what the device was opened with, and return a status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Inputs, as places among all.
    pub inputs: Vec<usize>,
    /// Outputs, as places among all.
    pub outputs: Vec<usize>,
    /// `int32_t allocate(void *session, size_t bytes, void **address)`.
    pub allocate: String,
    /// `int32_t free(void *session, void *address)`.
    pub free: String,
    /// `int32_t write(void *session, void *to, const void *from, size_t bytes)`, from the host's memory.
    pub write: String,
    /// `int32_t read(void *session, void *to, const void *from, size_t bytes)`, to the host's memory.
    pub read: String,
}

impl Bound {
    /// The functions, with what headers call them.
    pub fn functions(&self) -> [(&'static str, &String); 4] {
        let Self { allocate, free, write, read, .. } = self;
        [("ALLOCATE", allocate), ("FREE", free), ("WRITE", write), ("READ", read)]
    }
}

/// Names of the C functions that open a device with its memory, close it, load its constants, and end
/// what it has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSession {
    /// `int32_t open(void **session)`, 0 on success.
    pub open: String,
    /// `int32_t close(void *session)`.
    pub close: String,
    /// `int32_t load(void *session, const void *constants)`, which the model calls.
    pub load: String,
    /// `int32_t settle(void *session, int32_t status)`, which returns that status; the model calls it
    /// at its end.
    pub settle: String,
}

/// A device that the model's calls are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Id of the target that it belongs to.
    pub target: String,
    /// The kind of that target, where messages name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// C function `int open(DEVICE **out)`, 0 on success; none if there is nothing to open, then
    /// calls are given NULL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// C function `int open(DEVICE **out, const char **region)`, which says what region it is if the
    /// device refuses one; only if regions are loaded when it is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_at: Option<String>,
    /// C function `int close(DEVICE *)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
    /// C function `const char *text(int status)`, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_string: Option<String>,
    /// What the model has in its memory; none if it has no memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<DeviceMemory>,
    /// What programs have in its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// The interface of a compiled model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Name of the model; every symbol starts with it.
    pub name: String,
    /// Inputs in order.
    pub inputs: Vec<Port>,
    /// Outputs in order.
    pub outputs: Vec<Port>,
    /// Size of the working memory that a run needs, aligned to 64 bytes.
    pub arena_bytes: usize,
    /// Bytes that the arena has at least, whatever the plan; 0 if that is not known.
    #[serde(default)]
    pub arena_lower_bound: usize,
    /// What runs when so many bytes are in use, as its place in the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arena_peak: String,
    /// Size of the constants, aligned to 64 bytes.
    pub constants_bytes: usize,
    /// The pools of the board, in the order of the arrays that a run is given; none without a board, which
    /// leaves one arena and one block of constants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolUse>,
    /// The devices in the order of the array that a run is given.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// The steps that a run tells an observer of; none unless it was compiled to be traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
}

impl Port {
    /// Size in bytes.
    pub fn bytes(&self) -> Result<usize> {
        Ok(element_count(self.dtype, &self.shape)? * self.dtype.size())
    }

    /// Checks that a tensor fits; `kind` is "input" or "output".
    pub fn check(&self, tensor: &Tensor, kind: &str) -> Result<()> {
        if tensor.dtype() != self.dtype {
            return Err(Error::invalid(format!(
                "{kind} '{}' is {}, expected {}",
                self.name,
                tensor.dtype(),
                self.dtype
            )));
        }
        if tensor.shape() != self.shape {
            return Err(Error::invalid(format!(
                "{kind} '{}' has shape {:?}, expected {:?}",
                self.name,
                tensor.shape(),
                self.shape
            )));
        }
        Ok(())
    }
}

impl Port {
    /// Checks that a buffer for the output has its size.
    pub fn check_bytes(&self, bytes: usize) -> Result<()> {
        let expected = self.bytes()?;
        if bytes == expected {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the buffer of output '{}' has {bytes} bytes, expected {expected}",
            self.name
        )))
    }
}

impl Signature {
    /// Reads the signature of a module whose functions are in destination-passing style. Sizes of
    /// arena and constants are known after memory planning.
    pub fn of(module: Op<'_>) -> Result<Self> {
        let main = func::main(module).ok_or_else(func::no_main)?;
        let mut signature = Self {
            name: crate::ir::names::model_name(module),
            inputs: vec![],
            outputs: vec![],
            arena_bytes: 0,
            arena_lower_bound: ir::attr_i64(main, names::ARENA_LOWER_BOUND)
                .and_then(|bytes| usize::try_from(bytes).ok())
                .unwrap_or(0),
            arena_peak: ir::attr_str(main, names::ARENA_PEAK).unwrap_or_default(),
            constants_bytes: 0,
            pools: pools(module)?,
            devices: vec![],
            operations: operations(module)?,
        };
        let mut memories: BTreeMap<String, DeviceMemory> = BTreeMap::new();
        let mut bound: BTreeMap<String, Bound> = BTreeMap::new();
        for (index, (ty, attributes)) in func::Signature::of(main)?.arguments.iter().enumerate() {
            let text = |name: &str| string_in(attributes, name);
            let role = text(names::IO).unwrap_or_default();
            match role.as_str() {
                "input" => {
                    if let Some(target) = text(names::BOUND) {
                        bound.entry(target).or_default().inputs.push(signature.inputs.len());
                    }
                    let name = format!("input_{index}");
                    signature.inputs.push(port(*ty, &text, &name, attributes)?);
                }
                "output" => {
                    let number = signature.outputs.len();
                    if let Some(target) = text(names::BOUND) {
                        bound.entry(target).or_default().outputs.push(number);
                    }
                    let name = format!("output_{number}");
                    signature.outputs.push(port(*ty, &text, &name, attributes)?);
                }
                "arena" => signature.arena_bytes = bytes_of(*ty),
                "constants" => signature.constants_bytes = bytes_of(*ty),
                names::POOL_ARENA | names::POOL_CONSTANTS => {
                    signature.in_pool(&role, *ty, attributes)?
                }
                names::DEVICE_ARENA => {
                    memories.entry(of_argument(attributes)).or_default().values_bytes =
                        bytes_of(*ty);
                }
                names::DEVICE_CONSTANTS => {
                    let bytes = bytes_of(*ty);
                    memories.entry(of_argument(attributes)).or_default().constants_bytes = bytes;
                }
                _ => {
                    return Err(Error::invalid(format!(
                        "argument {index} of @main has no phl.io attribute: \
                         convert-functions-to-dps, in phase bufferize, has not run on it"
                    )));
                }
            }
        }
        signature.place_pools(module)?;
        // The constants of devices are the last ones.
        let on_devices: usize = memories.values().map(|memory| memory.constants_bytes).sum();
        let mut start = signature.constants_bytes.saturating_sub(on_devices);
        for (space, memory) in &mut memories {
            space.clone_into(&mut memory.space);
            memory.constants_offset = start;
            start += memory.constants_bytes;
        }
        let declared = memory::declared(module)?;
        for target in devices(module) {
            let memory = declared.iter().find(|memory| memory.target == target).map(|declared| {
                let mut memory = memories.remove(&declared.space).unwrap_or_default();
                declared.space.clone_into(&mut memory.space);
                let alignment = usize::try_from(declared.alignment).unwrap_or(1);
                memory.alignment = alignment.max(size::ALIGNMENT as usize);
                memory
            });
            let bound = bound.remove(&target);
            signature.devices.push(Device { target, memory, bound, ..Default::default() });
        }
        Ok(signature)
    }

    /// Takes an argument of the main function that is in a pool.
    fn in_pool(
        &mut self,
        role: &str,
        ty: Type<'_>,
        attributes: &func::Attributes<'_>,
    ) -> Result<()> {
        let name = of_argument(attributes);
        let pool = self.pools.iter_mut().find(|pool| pool.name == name);
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
        let bound = attributes.iter().find(|(name, _)| name == names::LOWER_BOUND);
        let bound = bound.and_then(|(_, value)| ir::attribute::int(*value));
        pool.values_bytes = bytes;
        pool.lower_bound = bound.and_then(|bound| usize::try_from(bound).ok()).unwrap_or(0);
        pool.peak = string_in(attributes, names::PEAK).unwrap_or_default();
        Ok(())
    }

    /// Computes where the constants of each pool are among all.
    fn place_pools(&mut self, module: Op<'_>) -> Result<()> {
        if self.pools.is_empty() {
            return Ok(());
        }
        let sizes: Vec<u64> = self.pools.iter().map(|pool| pool.constants_bytes as u64).collect();
        let (offsets, end) = board::constants_offsets(&board::declared(module)?, &sizes);
        for (pool, offset) in self.pools.iter_mut().zip(offsets) {
            pool.constants_offset = offset as usize;
        }
        self.constants_bytes = end as usize;
        Ok(())
    }

    /// What [`Signature::record`] wrote.
    pub fn recorded(module: Op<'_>) -> Result<Self> {
        let text = ir::attr_str(module, SIGNATURE).ok_or_else(|| {
            Error::invalid(format!(
                "the module has no attribute {SIGNATURE}: split-by-target, in phase codegen, has \
                 not run on it"
            ))
        })?;
        serde_json::from_str(&text)
            .map_err(|error| Error::invalid(format!("attribute {SIGNATURE} is not valid: {error}")))
    }

    /// Writes the signature on the module, whose functions are about to lose what tells it.
    pub fn record(&self, module: Op<'_>) -> Result<()> {
        let text = serde_json::to_string(self)
            .map_err(|error| Error::internal(format!("the signature has no JSON form: {error}")))?;
        let value = StringAttribute::new(ir::context_of(module), &text);
        edit::set_attr(module, SIGNATURE, value.into());
        Ok(())
    }

    /// The C functions of its devices.
    pub fn functions(&self) -> impl Iterator<Item = &String> {
        self.devices.iter().flat_map(|device| {
            let Device { open, open_at, close, status_string, bound, .. } = device;
            let bound = bound.iter().flat_map(Bound::functions).map(|(_, name)| name);
            [open, open_at, close, status_string].into_iter().flatten().chain(bound)
        })
    }

    /// The place of the device in whose memory programs have an input; none for the host's.
    pub fn device_of_input(&self, input: usize) -> Option<usize> {
        self.device_that(|bound| bound.inputs.contains(&input))
    }

    /// The same of an output.
    pub fn device_of_output(&self, output: usize) -> Option<usize> {
        self.device_that(|bound| bound.outputs.contains(&output))
    }

    fn device_that(&self, has: impl Fn(&Bound) -> bool) -> Option<usize> {
        self.devices.iter().position(|device| device.bound.as_ref().is_some_and(&has))
    }

    /// The symbol of the constants that a package has for a pool.
    pub fn constants_symbol(&self, pool: &PoolUse) -> String {
        format!("{}_constants_{}", self.name, pool.name)
    }

    /// The input of that name.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|port| port.name == name)
    }
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
    let offset = attributes.iter().find(|(name, _)| name == names::OFFSET);
    let offset = offset.and_then(|(_, value)| usize::try_from(ir::attribute::int(*value)?).ok());
    let place = offset.map(|offset| PortPlace { pool: of_argument(attributes), offset });
    Ok(Port { name, dtype, shape, place })
}
