use super::{Seen, Writes, read, written};
use std::collections::BTreeMap;

#[test]
fn what_is_written_is_read() {
    let seen = |first: &[i64], any: &[i64]| Seen {
        first: first.iter().copied().collect::<Writes>(),
        any: any.iter().copied().collect(),
        lossy: 2,
    };
    let all = BTreeMap::from([(0, seen(&[0, 1, 2, 7], &[0, 1, 2, 7, 9])), (3, seen(&[], &[4]))]);
    assert_eq!(read(&written(&all)), Some(all));
    assert_eq!(read(&[0, 1, 5]), None);
}
