//! The FileCheck tests of the example.

phaseline_toolkit::lit!("tests/lit", "toy" = env!("CARGO_BIN_EXE_toy"));
