use phaseline_toolkit::{Context, Result, pass::{PassCx, PassResult, RunPass}};
pub struct Shifts;
impl RunPass for Shifts {
    const NAME: &'static str = "shifts";
    const SUMMARY: &'static str = "Make multiplications shifts";
    const ANCHOR: &'static str = "func.func";
    type Options = ();
    fn new((): (), _: &Context) -> Result<Self> { Ok(Self) }
    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.remark(cx.op(), "seen");
        Ok(())
    }
}
