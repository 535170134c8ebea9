use super::{Item, Kind, MOST_PARTS, PART, Symbols, partition, parts};
use crate::{Session, ir, ir::func};
use melior::ir::operation::OperationLike;

fn item(kind: Kind, weight: usize, uses: &[usize]) -> Item {
    Item { kind, weight, vectorized: false, uses: uses.to_vec() }
}

/// The items of each part.
fn cut_of(items: &[Item]) -> Vec<Vec<usize>> {
    partition(items).into_iter().map(|(_, members)| members).collect()
}

/// Kernels of some sizes, each with a small caller, then a main function that calls those.
fn model(sizes: &[usize]) -> Vec<Item> {
    let mut items = vec![];
    for size in sizes {
        items.push(item(Kind::Free, *size, &[]));
        items.push(item(Kind::Small, 10, &[items.len() - 1]));
    }
    let callers: Vec<usize> = (0..sizes.len()).map(|index| index * 2 + 1).collect();
    items.push(item(Kind::Free, 500, &callers));
    items
}

#[test]
fn parts_are_complete_and_balanced() {
    let sizes: Vec<usize> = (0..60).map(|index| 100 + index * 37 % 900).collect();
    let items = model(&sizes);
    let cut = cut_of(&items);
    assert_eq!(cut, cut_of(&items), "the cut is the same each time");
    let total: usize = items.iter().map(|item| item.weight).sum();
    assert_eq!(cut.len(), (total / PART).min(MOST_PARTS));
    let mut all = cut.concat();
    all.sort_unstable();
    assert_eq!(all, (0..items.len()).collect::<Vec<_>>());
    let weight = |part: &Vec<usize>| part.iter().map(|index| items[*index].weight).sum();
    let weights: Vec<usize> = cut.iter().map(weight).collect();
    let (least, most) = (weights.iter().min(), weights.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most * 4 < least * 5), "{weights:?}");
    for part in &cut {
        for caller in part.iter().filter(|index| items[**index].kind == Kind::Small) {
            assert!(part.contains(&(caller - 1)), "{caller} is with its kernel");
        }
    }
}

#[test]
fn small_modules_and_tied_ones_stay_whole() {
    assert_eq!(cut_of(&model(&[700, 700])).len(), 1);
    assert_eq!(cut_of(&model(&[7000, 7000])).len(), 3);
    let mut items = model(&[7000, 7000, 7000]);
    items.push(item(Kind::Tied, 1, &[]));
    let shared = items.len() - 1;
    for index in [0, 4] {
        items[index].uses.push(shared);
    }
    let cut = cut_of(&items);
    let of = |index: usize| cut.iter().position(|part| part.contains(&index));
    assert!(of(0) == of(4) && of(0) == of(shared) && of(0) != of(2), "{cut:?}");
    items[shared].kind = Kind::Copied;
    assert!(!cut_of(&items).concat().contains(&shared));
    assert!(cut_of(&[]).concat().is_empty());
}

#[test]
fn kernels_in_vectors_are_apart_from_other_code() {
    let kernels = |sizes: &[usize]| {
        let mut items = model(sizes);
        items.iter_mut().step_by(2).take(sizes.len()).for_each(|item| item.vectorized = true);
        items
    };
    // Few are not worth a part of their own.
    assert_eq!(partition(&kernels(&[300, 300])), [(false, (0..5).collect())]);
    assert_eq!(partition(&kernels(&[700, 700])), [(true, vec![0, 1, 2, 3]), (false, vec![4])]);
    let mut items = kernels(&[7000, 7000, 3000]);
    // One that has to be with other code is treated as that is.
    items.push(item(Kind::Tied, 2000, &[]));
    let shared = items.len() - 1;
    items[2].uses.push(shared);
    for (vectorized, members) in partition(&items) {
        assert_eq!(members.contains(&0) || members.contains(&4), vectorized, "{members:?}");
        assert!(members.contains(&2) == members.contains(&shared), "{members:?}");
    }
}

/// Two functions of many operations that share a helper, a constant and an external function.
fn text(extra: &str) -> String {
    let adds = "%x = llvm.add %a, %a : i64\n".to_owned();
    let adds: String = (0..PART).map(|n| adds.replace("%x", &format!("%v{n}"))).collect();
    let big = |name: &str, rest: &str| {
        format!(
            "llvm.func internal @{name}(%a: i64) -> i64 {{
               %p = llvm.mlir.addressof @table : !llvm.ptr
               %t = llvm.call @helper(%a) : (i64) -> i64
               llvm.call @outside(%p) : (!llvm.ptr) -> ()
               {adds}{rest}
               llvm.return %t : i64
             }}"
        )
    };
    let call = "%c = llvm.call @net_one(%a) : (i64) -> i64";
    format!(
        "module attributes {{phl.model = \"net\", llvm.target_triple = \"x86_64-linux-gnu\"}} {{
           llvm.mlir.global private constant @table(7 : i64) : i64
           llvm.func @outside(!llvm.ptr)
           llvm.func internal @helper(%a: i64) -> i64 {{ llvm.return %a : i64 }}
           {} {} {extra}
         }}",
        big("net_one", ""),
        big("net_two", call)
    )
}

#[test]
fn parts_declare_what_they_call_and_copy_what_is_small() {
    let session = Session::new();
    let module = session.parse(text("").as_bytes(), "net.mlir").expect("parses");
    let made = parts(ir::root(&module)).expect("parts");
    let names = |index: usize| -> Vec<(String, bool, String)> {
        let ops = ir::ops_of(ir::root(&made[index].module)).into_iter();
        ops.map(|op| {
            let linkage = super::linkage(op).replace("#llvm.linkage<", "").replace('>', "");
            (func::symbol(op), ir::edit::entry_block(op).is_some(), linkage)
        })
        .collect()
    };
    let row = |name: &str, body, linkage: &str| (name.to_owned(), body, linkage.to_owned());
    let shared = [
        row("table", false, "private"),
        row("outside", false, "external"),
        row("helper", true, "internal"),
    ];
    assert_eq!(made.len(), 2);
    // The one with a call is larger, and so first.
    let two = [row("net_one", false, "external"), row("net_two", true, "internal")];
    assert_eq!(names(0), [&shared[..], &two].concat());
    assert_eq!(names(1), [&shared[..], &[row("net_one", true, "external")]].concat());
    for part in &made {
        assert!(!part.vectorized && ir::root(&part.module).verify());
        let text = ir::root(&part.module).to_string();
        assert!(text.contains("hidden @net_one") && text.contains("x86_64-linux-gnu"), "{text}");
    }
}

#[test]
fn what_is_not_known_to_be_as_good_in_a_part_stays_whole() {
    let session = Session::new();
    let whole = |text: &str| {
        let module = session.parse(text.as_bytes(), "net.mlir").expect("parses");
        parts(ir::root(&module)).expect("parts").is_empty()
    };
    assert!(!whole(&text("")));
    assert!(whole(&text("llvm.comdat @groups { llvm.comdat_selector @any any }")));
    // Without the model's name in front, a function cannot be a symbol of the object.
    assert!(whole(&text("").replace("net_one", "one")));
    let module = session.parse(text("").as_bytes(), "net.mlir").expect("parses");
    let symbols = Symbols::of(ir::root(&module)).expect("is known");
    assert_eq!(symbols.items.len(), 5);
}
