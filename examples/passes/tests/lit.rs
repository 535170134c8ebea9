//! The FileCheck tests of the example.

phaseline_toolkit::lit!("tests/lit", "passes-opt" = env!("CARGO_BIN_EXE_passes-opt"));
