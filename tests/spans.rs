//! Spans and events of `tracing` for a program that embeds the framework.

use crate::alone;
use phaseline::{CompileOptions, Session, Tensor};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tracing::{Event, Subscriber, span};
use tracing_subscriber::{
    layer::{Context, Layer, SubscriberExt},
    registry::LookupSpan,
};

/// Spans and events that were told: their targets and names.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<BTreeSet<(String, String)>>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Told {
    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("is registered").metadata();
        let mut told = self.0.lock().expect("nobody panics");
        told.insert((span.target().to_owned(), span.name().to_owned()));
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let target = event.metadata().target().to_owned();
        self.0.lock().expect("nobody panics").insert((target, String::new()));
    }
}

const NET: &str = "func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.tanh %0 : tensor<1x8x4x4xf32>
  return %1 : tensor<1x8x4x4xf32>
}";

#[test]
fn programs_are_told_of_what_is_done() {
    alone::run("spans::told");
}

#[test]
#[ignore = "threads of other tests may turn spans off: the test above runs it alone"]
fn told() {
    let told = Told::default();
    let subscriber = tracing_subscriber::registry().with(told.clone());
    tracing::subscriber::with_default(subscriber, || {
        let session = Session::new();
        let module = session.parse(NET.as_bytes(), "net.mlir").expect("is valid");
        let options = CompileOptions { targets: "vanilla, llvm".into(), ..Default::default() };
        let network = session.compile(module, &options).expect("compiles").load().expect("loads");
        let input = Tensor::from_slice(&[1, 8, 4, 4], &[0.25_f32; 128]).expect("a tensor");
        network.run(&[input]).expect("runs");
    });
    let told = told.0.lock().expect("nobody panics");
    for (target, name) in [
        ("phase", "phase"),
        ("pass", ""),
        ("partition", ""),
        ("process", ""),
        ("codegen", "codegen"),
        ("load", "load"),
        ("run", "run"),
    ] {
        let wanted = (format!("phaseline::{target}"), name.to_owned());
        assert!(told.contains(&wanted), "{wanted:?} is not among {told:?}");
    }
}
