//! The examples in ODS, one for each operation of `graph` and `tir`: each is read as it is printed, in all forms.
//! `phl` has attributes only.

use phaseline::{
    ir::{graph, tir, view::OpInfo},
    passes,
};
use phaseline_toolkit::testing::RoundTrips;

fn check(ops: &[&OpInfo]) {
    for info in ops {
        assert!(!info.example.is_empty(), "{} has no ```mlir block in ODS", info.name);
    }
    let checked = RoundTrips::new(passes::toolkit()).check(ops);
    assert_eq!(checked.map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn operations_of_graph_are_read_as_they_are_printed() {
    check(graph::OPS);
}

#[test]
fn operations_of_tir_are_read_as_they_are_printed() {
    check(tir::OPS);
}
