//! Types of a model's inputs, with the shapes that the user adds.

use std::collections::HashMap;

use crate::import::frame::{InputType, check_symbols};
use crate::import::{ImportError, ImportOptions};
use crate::ir::DYNAMIC;
use crate::tensor::{DType, SmallType, onnx_type_name};

use super::Model;
use super::proto::{DimensionValue, TensorTypeProto, TypeValue, ValueInfoProto};

/// MLIR's spelling of an ONNX element type; an error for those that the graph dialect lacks.
pub(crate) fn element_name(code: i64) -> Result<&'static str, String> {
    let code = i32::try_from(code).unwrap_or(-1);
    let small = || SmallType::from_onnx_code(code).map(SmallType::mlir_name);
    DType::from_onnx_code(code)
        .map(DType::mlir_name)
        .or_else(small)
        .ok_or_else(|| format!("element type {} is not supported", onnx_type_name(code)))
}

/// The types of the inputs that are not initializers, in order, with the shapes of `options`.
pub(crate) fn input_types(
    model: &Model,
    options: &ImportOptions,
) -> Result<Vec<InputType>, ImportError> {
    let names = model.input_names();
    check_names(model, &names, options)?;
    let given = GivenDims::collect(model, options)?;
    let inputs = model.graph.input.iter().filter(|input| names.contains(&input.name));
    let types: Vec<_> =
        inputs.map(|input| input_type(model, input, &given, options)).collect::<Result<_, _>>()?;
    if !options.symbols.is_empty() {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        check_symbols(&model.path, options, &names, &open_dims(model))?;
    }
    Ok(types)
}

/// Shapes and constants must be those of inputs.
fn check_names(
    model: &Model,
    names: &[String],
    options: &ImportOptions,
) -> Result<(), ImportError> {
    for name in options.shapes.keys().chain(options.constants.keys()) {
        if !names.contains(name) {
            let known: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "there is no input `{name}` to give a shape or value; the inputs are {}",
                known.join(", ")
            );
            return Err(ImportError::Option { path: model.path.clone(), message });
        }
    }
    Ok(())
}

/// Dimensions from the user's shapes and constants, also those with a name.
struct GivenDims<'a> {
    shapes: HashMap<&'a str, Vec<Option<i64>>>,
    symbols: HashMap<&'a str, i64>,
}

impl<'a> GivenDims<'a> {
    fn collect(model: &'a Model, options: &'a ImportOptions) -> Result<Self, ImportError> {
        let mut given = Self { shapes: HashMap::new(), symbols: HashMap::new() };
        for (name, shape) in &options.shapes {
            given.shapes.insert(name, shape.clone());
        }
        for (name, value) in &options.constants {
            let shape = value.shape().iter().map(|&dim| i64::try_from(dim).ok()).collect();
            given.shapes.insert(name, shape);
        }
        for (name, symbol) in &options.symbols {
            if symbol.is_known() {
                given.symbols.insert(name, symbol.least);
            }
        }
        for input in &model.graph.input {
            if let Some(shape) = given.shapes.get(input.name.as_str()) {
                let symbols = named_dims(input, shape);
                for (dim, size) in &symbols {
                    if let Some(symbol) = options.symbols.get(*dim)
                        && (symbol.least, symbol.most) != (*size, *size)
                    {
                        let message = format!(
                            "the shape of input `{}` gives dimension `{dim}` the size {size}, and --shape \
                             {dim}={} another one: give one of them",
                            input.name,
                            symbol.range()
                        );
                        return Err(ImportError::Option { path: model.path.clone(), message });
                    }
                }
                given.symbols.extend(symbols);
            }
        }
        Ok(given)
    }
}

/// The names among the dimensions of `input` to which `shape` gives a value.
fn named_dims<'a>(input: &'a ValueInfoProto, shape: &[Option<i64>]) -> Vec<(&'a str, i64)> {
    let declared = tensor_type(input).and_then(|tensor| tensor.shape.as_ref());
    let dims = declared.map_or(&[][..], |shape| &shape.dim[..]);
    let pairs = dims.iter().zip(shape).filter_map(|(dim, size)| match &dim.value {
        Some(DimensionValue::Param(name)) if is_symbol(name) => Some((name.as_str(), (*size)?)),
        _ => None,
    });
    pairs.collect()
}

/// The names of an input's dimensions.
fn dim_names(input: &ValueInfoProto) -> Vec<Option<&str>> {
    let declared = tensor_type(input).and_then(|tensor| tensor.shape.as_ref());
    let dims = declared.map_or(&[][..], |shape| &shape.dim[..]);
    let names = dims.iter().map(|dim| match &dim.value {
        Some(DimensionValue::Param(name)) if is_symbol(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// The names of an input's open dimensions.
pub(crate) fn names_of_dims(model: &Model, input: &str) -> Vec<Option<String>> {
    let input = model.graph.input.iter().find(|other| other.name == input);
    let names = input.map(dim_names).unwrap_or_default();
    names.into_iter().map(|name| name.map(str::to_owned)).collect()
}

/// The open dimensions of the inputs that are no initializers, in order: their names, and `INPUT.AXIS` for those without one.
pub(crate) fn open_dims(model: &Model) -> Vec<String> {
    let names = model.input_names();
    let mut open = vec![];
    for input in model.graph.input.iter().filter(|input| names.contains(&input.name)) {
        let declared = tensor_type(input).and_then(|tensor| tensor.shape.as_ref());
        let dims = declared.map_or(&[][..], |shape| &shape.dim[..]);
        for (axis, (dim, name)) in dims.iter().zip(dim_names(input)).enumerate() {
            let known = matches!(&dim.value, Some(DimensionValue::Value(size)) if *size >= 0);
            let name = name.map_or_else(|| format!("{}.{axis}", input.name), str::to_owned);
            if !known && !open.contains(&name) {
                open.push(name);
            }
        }
    }
    open
}

/// True if dimensions of this name are equal: `?` and the empty name only mark an unknown size.
fn is_symbol(name: &str) -> bool {
    !matches!(name.trim(), "" | "?")
}

fn tensor_type(value: &ValueInfoProto) -> Option<&TensorTypeProto> {
    match value.r#type.as_ref()?.value.as_ref()? {
        TypeValue::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

fn input_type(
    model: &Model,
    input: &ValueInfoProto,
    given: &GivenDims<'_>,
    options: &ImportOptions,
) -> Result<InputType, ImportError> {
    let name = &input.name;
    let fail = |what: String| ImportError::graph(&model.path, format!("input `{name}` {what}"));
    let tensor = tensor_type(input).ok_or_else(|| fail(describe_non_tensor(input)))?;
    let element = element_name(tensor.elem_type.into())
        .map_err(|message| fail(format!("cannot be imported: {message}")))?;
    let shape = given.shapes.get(name.as_str());
    let dims = match (&tensor.shape, shape) {
        (None, None) => {
            return Err(fail(format!("has no shape; give one with --shape {name}=1x3x...")));
        }
        (None, Some(shape)) => shape.iter().map(|dim| dim.unwrap_or(DYNAMIC)).collect(),
        (Some(declared), shape) => {
            let declared: Vec<i64> = declared
                .dim
                .iter()
                .map(|dim| match &dim.value {
                    // Exporters write -1 and the like for what they do not know.
                    Some(DimensionValue::Value(size)) if *size >= 0 => *size,
                    Some(DimensionValue::Param(symbol)) => {
                        given.symbols.get(symbol.as_str()).copied().unwrap_or(DYNAMIC)
                    }
                    _ => DYNAMIC,
                })
                .collect();
            merge(&declared, shape).map_err(fail)?
        }
    };
    let ty = InputType { name: name.clone(), element, dims, sizes: vec![] };
    Ok(ty.with_sizes(&dim_names(input), options))
}

/// The declared dimensions, with those that the user gives for unknown ones.
fn merge(declared: &[i64], given: Option<&Vec<Option<i64>>>) -> Result<Vec<i64>, String> {
    let Some(given) = given else { return Ok(declared.to_vec()) };
    let pairs = declared.iter().zip(given);
    let agree =
        pairs.clone().all(|(have, want)| *have == DYNAMIC || want.is_none_or(|want| want == *have));
    if !agree || declared.len() != given.len() {
        let show = |dims: Vec<Option<i64>>| {
            let texts = dims.iter().map(|d| d.map_or("?".to_string(), |d| d.to_string()));
            let text = texts.collect::<Vec<_>>().join("x");
            if text.is_empty() { "of a scalar".to_string() } else { text }
        };
        let declared = declared.iter().map(|&d| (d != DYNAMIC).then_some(d)).collect();
        return Err(format!(
            "has the shape {} in the model, which {} does not fit",
            show(declared),
            if given.is_empty() { "a scalar".to_string() } else { show(given.clone()) }
        ));
    }
    Ok(pairs
        .map(|(&have, want)| if have == DYNAMIC { want.unwrap_or(DYNAMIC) } else { have })
        .collect())
}

fn describe_non_tensor(value: &ValueInfoProto) -> String {
    let kind = match value.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
        Some(TypeValue::Sequence(_)) => "a sequence",
        Some(TypeValue::Optional(_)) => "an optional",
        Some(TypeValue::Map(_)) => "a map",
        Some(TypeValue::SparseTensor(_)) => "a sparse tensor",
        Some(TypeValue::Opaque(_)) => "opaque",
        Some(TypeValue::Tensor(_)) => "a tensor",
        None => return "has no type".to_string(),
    };
    format!("is {kind}; only tensors are supported")
}

/// The element type of an input, if tensors in memory can have it.
pub(crate) fn element_of(model: &Model, name: &str) -> Option<DType> {
    let input = model.graph.input.iter().find(|input| input.name == name)?;
    DType::from_onnx_code(tensor_type(input)?.elem_type)
}

/// A value that the user gives for an input must be of its type.
pub(crate) fn check_constant(model: &Model, name: &str, dtype: DType) -> Result<(), ImportError> {
    match element_of(model, name) {
        Some(wanted) if wanted != dtype => {
            let message = format!(
                "the value given for input `{name}` is {}, but the input is {}",
                dtype.mlir_name(),
                wanted.mlir_name()
            );
            Err(ImportError::Option { path: model.path.clone(), message })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::proto::{DimensionProto, TensorShapeProto, TypeProto};
    use super::*;

    #[test]
    fn shape_options() {
        let parse = crate::import::options::parse_shape_option;
        assert_eq!(parse("x=1x3x?").unwrap(), ("x".into(), vec![Some(1), Some(3), None]));
        assert_eq!(parse("a=b=2,5").unwrap(), ("a=b".into(), vec![Some(2), Some(5)]));
        assert_eq!(parse("x=").unwrap(), ("x".into(), vec![]));
        for bad in ["x", "=1", "x=1xa", "x=-1", "x=1x"] {
            assert!(parse(bad).unwrap_err().contains("not a shape"), "{bad}");
        }
    }

    #[test]
    fn only_names_make_dimensions_equal() {
        let dims = ["n", "?", "", "n", "?", " "];
        let dims = dims
            .map(|name| DimensionProto { value: Some(DimensionValue::Param(name.to_string())) });
        let input = ValueInfoProto {
            r#type: Some(TypeProto {
                value: Some(TypeValue::Tensor(TensorTypeProto {
                    shape: Some(TensorShapeProto { dim: dims.to_vec() }),
                    ..Default::default()
                })),
            }),
            ..Default::default()
        };
        let shape: Vec<_> = (1..7).map(Some).collect();
        assert_eq!(named_dims(&input, &shape), [("n", 1), ("n", 4)]);
    }

    #[test]
    fn given_dims_fill_unknown_ones_only() {
        let declared = [DYNAMIC, 3];
        assert_eq!(merge(&declared, None).unwrap(), declared);
        assert_eq!(merge(&declared, Some(&vec![Some(2), None])).unwrap(), [2, 3]);
        let message = merge(&declared, Some(&vec![Some(2), Some(4)])).unwrap_err();
        assert_eq!(message, "has the shape ?x3 in the model, which 2x4 does not fit");
        assert!(merge(&declared, Some(&vec![Some(2)])).is_err());
    }

    #[test]
    fn element_types() {
        assert_eq!(element_name(1).unwrap(), "f32");
        assert_eq!(element_name(19).unwrap(), "f8E5M2");
        assert!(element_name(8).unwrap_err().contains("STRING"));
        assert!(element_name(i64::MAX).is_err());
    }
}
