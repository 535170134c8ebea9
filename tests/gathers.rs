//! Rows that are gathered before something is computed of them are those that are gathered after it.

use phaseline::{CompileOptions, DType, Phase, Session, Tensor};

/// Operations on a table before rows of it are gathered: operands beside the table `%x`, and the
/// operations that make `%f` of it, whose type is TABLE.
struct Case {
    /// Sizes and element type of the table.
    table: (&'static [usize], &'static str),
    /// Type of the second operand, `%s`.
    operand: &'static str,
    operations: &'static str,
    axis: usize,
    /// Sizes of the indices.
    places: &'static [usize],
}

const CASES: [Case; 6] = [
    Case {
        table: (&[50, 4], "f16"),
        operand: "4xf32",
        operations: "%c = graph.cast %x : tensor<50x4xf16> to TABLE
            %f = graph.add %c, %s : (TABLE, tensor<4xf32>) -> TABLE",
        axis: 0,
        places: &[2, 3],
    },
    Case {
        table: (&[50, 4], "f32"),
        operand: "50x1xf32",
        operations: "%n = graph.neg %x : TABLE
            %f = graph.mul %n, %s : (TABLE, tensor<50x1xf32>) -> TABLE",
        axis: 0,
        places: &[1, 5],
    },
    Case {
        table: (&[50, 4], "i8"),
        operand: "50xf32",
        operations: "%f = graph.dequantize_linear %x, %s axis = 0 : (tensor<50x4xi8>, tensor<50xf32>) -> TABLE",
        axis: 0,
        places: &[3],
    },
    Case {
        table: (&[3, 50], "i8"),
        operand: "3xf32",
        operations: "%f = graph.dequantize_linear %x, %s axis = 0 : (tensor<3x50xi8>, tensor<3xf32>) -> TABLE",
        axis: 1,
        places: &[2, 2],
    },
    Case {
        table: (&[3, 50, 5], "f32"),
        operand: "50x5xf32",
        operations: "%f = graph.sub %s, %x : (tensor<50x5xf32>, TABLE) -> TABLE",
        axis: 1,
        places: &[],
    },
    Case {
        table: (&[3, 50, 5], "f32"),
        operand: "3x1x1xf32",
        operations: "%f = graph.max %s, %x : (tensor<3x1x1xf32>, TABLE) -> TABLE",
        axis: 1,
        places: &[4],
    },
];

fn shape(dims: &[usize], element: &str) -> String {
    let sizes: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{sizes}{element}>")
}

impl Case {
    fn rows(&self) -> usize {
        self.table.0[self.axis]
    }

    /// A network that gathers of `%f`, and gives that, too, if that is said: then it cannot gather before.
    fn network(&self, shared: bool) -> String {
        let (dims, element) = self.table;
        let rows = [&dims[..self.axis], self.places, &dims[self.axis + 1..]].concat();
        let [table, rows] = [dims, &rows].map(|dims| shape(dims, "f32"));
        let (x, i) = (shape(dims, element), shape(self.places, "i64"));
        let (operand, axis) = (format!("tensor<{}>", self.operand), self.axis);
        let operations = self.operations.replace("TABLE", &table);
        let (types, values) = match shared {
            true => {
                (format!("{rows} {{phl.name = \"y\"}}, {table} {{phl.name = \"f\"}}"), "%y, %f")
            }
            false => (format!("{rows} {{phl.name = \"y\"}}"), "%y"),
        };
        let returned = if shared { format!("{rows}, {table}") } else { rows.clone() };
        format!(
            "func.func @main(%x: {x} {{phl.name = \"x\"}}, %s: {operand} {{phl.name = \"s\"}}, %i: {i} {{phl.name = \"i\"}})
                 -> ({types}) {{
               {operations}
               %y = graph.gather %f, %i axis = {axis} : ({table}, {i}) -> {rows}
               return {values} : {returned}
             }}"
        )
    }

    fn inputs(&self) -> Vec<Tensor> {
        let (dims, element) = self.table;
        let dtype = match element {
            "f16" => DType::F16,
            "i8" => DType::I8,
            _ => DType::F32,
        };
        let sizes: Vec<usize> =
            self.operand.split('x').filter_map(|dim| dim.parse().ok()).collect();
        let random = |dtype, dims: &[usize], seed| Tensor::random(dtype, dims, seed).expect("fits");
        let rows = self.rows() as i64;
        let places: Vec<i64> = (0..self.places.iter().product::<usize>() as i64)
            .map(|at| (at * 19) % (2 * rows) - rows)
            .collect();
        let places = Tensor::from_slice(self.places, &places).expect("fits");
        vec![random(dtype, dims, 1), random(DType::F32, &sizes, 2), places]
    }
}

#[test]
fn rows_are_those_that_are_gathered_late() {
    for case in CASES {
        let session = Session::new();
        let options = CompileOptions { name: "net".into(), ..Default::default() };
        let [early, late] = [false, true].map(|shared| {
            let text = case.network(shared);
            let parse = || session.parse(text.as_bytes(), "net.mlir").expect("is valid");
            let mut module = parse();
            session.run_phases(&mut module, &options, Phase::PostPartition).expect("runs");
            let is_early = module.as_operation().to_string().contains("graph.gather %arg0");
            // A dequantization is made for each of its uses, so that the one of the rows moves alone.
            let moves = !shared || case.operations.contains("dequantize");
            assert_eq!(is_early, moves, "{text}");
            let model =
                session.compile(parse(), &options).expect("compiles").load().expect("loads");
            model.run(&case.inputs()).expect("runs").swap_remove(0)
        });
        assert_eq!(early.to_f64(), late.to_f64(), "{}", case.network(false));
    }
}
