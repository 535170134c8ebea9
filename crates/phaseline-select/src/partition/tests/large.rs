//! Large graphs take moments.

use super::*;

/// A network of residual blocks: `blocks` times conv, add, relu, and now and then a softmax.
fn large(blocks: usize) -> GraphView {
    let mut view = GraphView::new();
    let ty = TensorType::new(DType::F32, &[1, 8, 8, 8]);
    let mut x = view.add_argument(ty.clone());
    let w = view.add_constant(TensorType::new(DType::F32, &[8, 8, 3, 3]), None);
    let add = |view: &mut GraphView, name: &str, operands: &[ValueId]| {
        let operands = operands.iter().map(|v| Some(*v)).collect();
        let spec = OpSpec {
            name: name.to_owned(),
            operands,
            results: vec![ty.clone()],
            location: format!("node{}", view.op_count()),
            ..OpSpec::default()
        };
        let id = view.add_op(spec).expect("known operands");
        view.op(id).results[0]
    };
    let mut skip = x;
    for block in 0..blocks {
        let c = add(&mut view, "conv", &[x, w]);
        let r = add(&mut view, "relu", &[c]);
        let c = add(&mut view, "conv", &[r, w]);
        let s = add(&mut view, "add", &[c, skip]);
        let name = if block % 7 == 3 { "softmax" } else { "relu" };
        let r = add(&mut view, name, &[s]);
        if block % 3 == 0 {
            skip = x;
        }
        x = r;
    }
    view.set_outputs(vec![x]).expect("known");
    view
}

#[test]
fn ten_thousand_operations_take_moments() {
    let view = large(2000);
    assert_eq!(view.op_count(), 10_000);
    for multi_output in [true, false] {
        let mut one = simple("one", &["relu?(add?(conv(x, w: const), y))", "add(x, y)", "relu(x)"]);
        one.capabilities.multi_output = multi_output;
        let two = simple("two", &["tanh(x)", "softmax(x)", "conv(x, w)"]);
        let start = std::time::Instant::now();
        let partition =
            with(&view, &[one, two], |request| super::super::partition(request).expect("divides"));
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 5.0, "{seconds} s");
        assert!(partition.regions.len() > 100);
        println!("{seconds} s, {} regions", partition.regions.len());
    }
}

#[test]
fn a_search_over_ten_thousand_operations_is_bounded() {
    let view = large(2000);
    let mut one = simple("one", &["relu?(add?(conv(x, w: const), y))", "add(x, y)", "relu(x)"]);
    one.search = true;
    let two = simple("two", &["softmax(x)", "conv(x, w)", "relu(x)"]);
    let start = std::time::Instant::now();
    let partition = with(&view, &[one, two], super::super::partition);
    let costs = partition.expect("divides").costs;
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds} s, {} of {} ns", costs.total, costs.greedy);
    assert!(seconds < 20.0, "{seconds} s");
    assert_eq!(costs.search, Search::Bounded);
    assert!(costs.total <= costs.greedy);
}

#[test]
fn long_skips_around_the_host_stay_affordable() {
    // Device and host operations alternate, and each device operation also feeds a late one: all
    // pairs are neighbours, and no two may be merged.
    let count = 10_000;
    let mut view = GraphView::new();
    let ty = TensorType::new(DType::F32, &[4]);
    let mut values = vec![view.add_argument(ty.clone())];
    for index in 0..count {
        let last = values[index];
        let name = if index % 2 == 0 { "tanh" } else { "add" };
        let early = if index > count / 2 { values[count - index + 1] } else { values[0] };
        let operands = if name == "add" { vec![Some(last), Some(early)] } else { vec![Some(last)] };
        let spec = OpSpec {
            name: name.to_owned(),
            operands,
            results: vec![ty.clone()],
            ..OpSpec::default()
        };
        let id = view.add_op(spec).expect("known operands");
        values.push(view.op(id).results[0]);
    }
    view.set_outputs(vec![values[count]]).expect("known");
    let start = std::time::Instant::now();
    let npu = simple("npu", &["add(x, y)"]);
    let partition =
        with(&view, &[npu], |request| super::super::partition(request).expect("divides"));
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 5.0, "{seconds} s");
    println!("{seconds} s, {} refused", partition.refused.len());
    assert!(partition.refused.len() > 1000);
}
