//! Scatters to boxes give what scatters to the same coordinates give that a compile does not know.

use phaseline::{CompileOptions, DType, Phase, Session, Tensor};

/// Start and size along each dimension.
type Spans = &'static [(usize, usize)];

/// Sizes of a tensor and the box in it along its first dimensions.
const BOXES: [(&[usize], Spans); 8] = [
    (&[7], &[(2, 3)]),
    (&[3, 4], &[(0, 3), (1, 2)]),
    (&[3, 4], &[(0, 3), (0, 4)]),
    (&[3, 4], &[(1, 1), (3, 1)]),
    (&[2, 4, 5], &[(0, 2), (2, 2)]),
    (&[2, 4, 5], &[(1, 1)]),
    (&[2, 4, 5], &[(0, 2), (1, 3), (0, 4)]),
    (&[3, 1, 4, 3], &[(1, 2), (0, 1), (1, 2), (1, 1)]),
];

fn shape(dims: &[usize], element: &str) -> String {
    format!("tensor<{}x{element}>", dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
}

/// The coordinates of a box in row-major order.
fn coordinates(spans: &[(usize, usize)]) -> Vec<i64> {
    let mut rows = vec![vec![]];
    for (start, size) in spans {
        let longer = |row: Vec<i64>| {
            (*start..start + size).map(move |at| [row.clone(), vec![at as i64]].concat())
        };
        rows = rows.into_iter().flat_map(longer).collect();
    }
    rows.concat()
}

/// Scatters `%u` to `%x`, at coordinates that are constant or the input `%i`.
fn network(dims: &[usize], spans: &[(usize, usize)], constant: bool) -> String {
    let grid: Vec<usize> = spans.iter().map(|(_, size)| *size).collect();
    let updates = [&grid[..], &dims[spans.len()..]].concat();
    let indices = shape(&[&grid[..], &[spans.len()]].concat(), "i64");
    let [x, u] = [dims, &updates].map(|dims| shape(dims, "f32"));
    let bytes = coordinates(spans).into_iter().flat_map(i64::to_le_bytes);
    let text: String = bytes.map(|byte| format!("{byte:02X}")).collect();
    let name = if constant { "c" } else { "i" };
    format!(
        "func.func @main(%x: {x} {{phl.name = \"x\"}}, %u: {u} {{phl.name = \"u\"}}, %i: {indices} {{phl.name = \"i\"}})
             -> ({x} {{phl.name = \"y\"}}, {indices} {{phl.name = \"j\"}}) {{
           %c = graph.constant dense<\"0x{text}\"> : {indices}
           %d = graph.mul %x, %x : {x}
           %e = graph.neg %u : {u}
           %y = graph.scatter_nd %d, %{name}, %e : ({x}, {indices}, {u}) -> {x}
           %j = graph.add %i, %i : {indices}
           return %y, %j : {x}, {indices}
         }}"
    )
}

#[test]
fn boxes_are_written_as_coordinates_are() {
    for (dims, spans) in BOXES {
        let session = Session::new();
        let options = CompileOptions { name: "net".into(), ..Default::default() };
        let results = [true, false].map(|constant| {
            let text = network(dims, spans, constant);
            let parse = || session.parse(text.as_bytes(), "net.mlir").expect("is valid");
            let mut module = parse();
            session.run_phases(&mut module, &options, Phase::PostPartition).expect("runs");
            let is_there = module.as_operation().to_string().contains("graph.scatter_nd");
            assert_eq!(is_there, !constant, "{dims:?} {spans:?}");
            let model = session.compile(parse(), &options).expect("compiles");
            let grid: Vec<usize> = spans.iter().map(|(_, size)| *size).collect();
            let updates = [&grid[..], &dims[spans.len()..]].concat();
            let floats =
                |dims: &[usize], seed| Tensor::random(DType::F32, dims, seed).expect("fits");
            let indices =
                Tensor::from_slice(&[&grid[..], &[spans.len()]].concat(), &coordinates(spans));
            let inputs = [floats(dims, 1), floats(&updates, 2), indices.expect("fits")];
            model.load().expect("runs here").run(&inputs).expect("runs").remove(0).to_f64()
        });
        assert_eq!(results[0], results[1], "{dims:?} {spans:?}");
    }
}
