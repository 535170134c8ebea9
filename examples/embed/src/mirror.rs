//! `mirror`: a target kind that belongs to this example. It takes `graph.abs` and lowers it itself.

use phaseline::{
    Result,
    hook::{Artifact, ArtifactKind, HookPoint, Hooks, Lowered, Request},
    ir::{edit, func, op_name, result0, type_of},
    pattern::PatternSpec,
    targets::TargetKind,
};
use std::sync::Arc;

/// Contents of the driver's header.
const HEADER: &str = "#include <stdint.h>
void mirror_abs(const float *x, float *y, int64_t n);
";

/// A driver; that of a device would talk to it.
const DRIVER: &str = r#"#include "mirror.h"
void mirror_abs(const float *x, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] < 0 ? -x[i] : x[i];
}
"#;

struct MyHooks;

impl Hooks for MyHooks {
    fn points(&self) -> &[HookPoint] {
        &[HookPoint::GraphToTir]
    }

    fn graph_to_tir<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        let ops = edit::walk(request.subject);
        let Some(abs) = ops.into_iter().find(|op| op_name(*op) == "graph.abs") else {
            return Ok(None);
        };
        let name = func::symbol(request.subject);
        let ty = type_of(result0(abs)?);
        let elements: i64 = phaseline::ir::static_dims(ty).unwrap_or_default().iter().product();
        let text = format!(
            "func.func @{name}(%x: {ty}) -> {ty} {{
               %e = tensor.empty() : {ty}
               %y = tir.call_extern @mirror_abs ins(%x : {ty}) outs(%e : {ty})
                   args [#tir.arg<ins 0>, #tir.arg<outs 0>, {elements} : i64] -> {ty}
               return %y : {ty}
             }}"
        );
        let mut lowered = Lowered::parse(request, &text, "mirror", name)?;
        lowered.artifacts = vec![
            Artifact::new("mirror.h", ArtifactKind::Header, HEADER),
            Artifact::new("mirror.c", ArtifactKind::CSource, DRIVER),
        ];
        Ok(Some(lowered))
    }
}

/// The kind, to be added to a session.
pub fn kind() -> Result<TargetKind> {
    let abs = PatternSpec::new("abs", "abs(x)").clause("x.is_static and x.dtype == f32");
    let kind = TargetKind::device("mirror", "Takes absolute values")?
        .with_pattern(abs.lower("mirror.abs"))
        .with_hooks(Arc::new(MyHooks));
    Ok(kind)
}
