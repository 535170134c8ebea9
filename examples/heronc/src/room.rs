//! `heron-room`: warns of tensors that are larger than the device's cache.

use phaseline::{
    Result,
    ir::{self, Context, edit},
    pass::{PassCx, PassResult, RunPass},
    pass_options,
};

pass_options! {
    /// Options of `heron-room`.
    pub struct Options {
        elements: i64 = "65536", "Elements that the cache has room for";
    }
}

pub struct Room(Options);

impl RunPass for Room {
    const NAME: &'static str = "heron-room";
    const SUMMARY: &'static str = "Warn of tensors that are larger than Heron's cache";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("large", "Large operands")];
    type Options = Options;

    fn new(options: Options, _: &Context) -> Result<Self> {
        Ok(Self(options))
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let room = self.0.elements;
        for op in edit::walk(cx.op()) {
            for value in ir::operands(op) {
                let dims = ir::static_dims(ir::type_of(value)).unwrap_or_default();
                let elements: i64 = dims.iter().product();
                if elements > room {
                    cx.warn(
                        op,
                        format!("takes {elements} elements, and Heron's cache has room for {room}"),
                    );
                    cx.count("large", 1);
                }
            }
        }
        cx.preserve_all();
        Ok(())
    }
}
