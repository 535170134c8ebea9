//! The search for offsets.
//!
//! Buffers are placed one after the other, each at the lowest offset that is free while it is in
//! use. Taken in the order of the offsets of an optimal plan, that gives an optimal plan again. So
//! the search is one for an order: all orders for a few buffers, else the usual good ones (large
//! first, long-lived first) and improvements on the best of them.

use super::{Buffer, Span};

/// The most buffers of which every order is tried.
const EXHAUSTIVE: usize = 6;
/// Budget of improvements, in pairs of buffers that are looked at.
const EFFORT: usize = 5_000_000;
/// The most improvements that are tried.
const MOST: usize = 2048;
/// Tries without a better result, after which another way is taken.
const PATIENCE: usize = 64;

struct Search<'a> {
    buffers: &'a [Buffer],
    /// For each buffer the others that are in use when it is.
    neighbours: Vec<Vec<u32>>,
    best: Vec<u64>,
    best_order: Vec<usize>,
    peak: u64,
}

/// Offsets of the buffers; `enough` is a size of the arena at which there is no use in searching.
pub fn pack(buffers: &[Buffer], enough: u64) -> Vec<u64> {
    let order: Vec<usize> = (0..buffers.len()).collect();
    let neighbours = neighbours(buffers);
    let mut search =
        Search { buffers, neighbours, best: vec![], best_order: vec![], peak: u64::MAX };
    if buffers.len() <= EXHAUSTIVE {
        permutations(order, &mut |order| {
            search.attempt(order);
            search.peak <= enough
        });
        return search.best;
    }
    type Key = fn(&Buffer) -> (u64, u64);
    const KEYS: [Key; 4] = [
        |b| (b.size, b.duration()),
        |b| (b.duration(), b.size),
        |b| (b.size.saturating_mul(b.duration()), b.size),
        |b| (u64::MAX - b.start() as u64, b.size),
    ];
    for key in KEYS {
        let mut order = order.clone();
        order.sort_by_key(|index| (std::cmp::Reverse(key(&buffers[*index])), *index));
        search.attempt(&order);
        if search.peak <= enough {
            return search.best;
        }
    }
    search.improve(enough);
    search.best
}

impl Buffer {
    fn duration(&self) -> u64 {
        self.spans.iter().map(|(start, end)| (end - start) as u64 + 1).sum()
    }

    fn start(&self) -> usize {
        self.spans.first().map_or(0, |span| span.0)
    }
}

impl Search<'_> {
    /// Places the buffers in this order, and keeps the result if it is better. Gives the place of the
    /// last buffer in the order that ends at the top.
    fn attempt(&mut self, order: &[usize]) -> usize {
        let offsets = self.place(order);
        let peak = peak(self.buffers, &offsets);
        let ends = |index: &usize| offsets[*index] + self.buffers[*index].size == peak;
        let highest = order.iter().rposition(ends).unwrap_or(0);
        if peak < self.peak {
            (self.best, self.best_order, self.peak) = (offsets, order.to_vec(), peak);
        }
        highest
    }

    /// Places each buffer of the order as low as it goes.
    fn place(&self, order: &[usize]) -> Vec<u64> {
        let mut offsets: Vec<Option<u64>> = vec![None; self.buffers.len()];
        let mut taken: Vec<(u64, u64)> = vec![];
        for &index in order {
            let buffer = &self.buffers[index];
            taken.clear();
            taken.extend(self.neighbours[index].iter().filter_map(|other| {
                let start = offsets[*other as usize]?;
                Some((start, start + self.buffers[*other as usize].size))
            }));
            taken.sort_unstable();
            let mut offset = 0_u64;
            for (start, end) in &taken {
                if offset + buffer.size <= *start {
                    break;
                }
                offset = offset.max(end.next_multiple_of(buffer.align));
            }
            offsets[index] = Some(offset);
        }
        offsets.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Moves a buffer that ends at the top of the arena to the front of the order, where it is placed
    /// low, as long as there are others to try. Orders on the way may be worse.
    fn improve(&mut self, enough: u64) {
        let pairs = self.neighbours.iter().map(Vec::len).sum::<usize>() + self.buffers.len();
        let tries = (EFFORT / pairs.max(1)).min(MOST);
        let mut order = self.best_order.clone();
        let mut highest = self.attempt(&order);
        let (mut last, mut random) = (0, 1_u64);
        for at in 0..tries {
            if self.peak <= enough {
                return;
            }
            if highest == 0 || at - last > PATIENCE {
                // The way goes in a circle: another one, from the best order with a buffer elsewhere.
                order.clone_from(&self.best_order);
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                highest = (random >> 33) as usize % order.len();
                last = at;
            }
            let moved = order.remove(highest);
            order.insert(0, moved);
            let before = self.peak;
            highest = self.attempt(&order);
            if self.peak < before {
                last = at;
            }
        }
    }
}

fn peak(buffers: &[Buffer], offsets: &[u64]) -> u64 {
    buffers.iter().zip(offsets).map(|(buffer, offset)| offset + buffer.size).max().unwrap_or(0)
}

/// For each buffer the others that are in use when it is.
fn neighbours(buffers: &[Buffer]) -> Vec<Vec<u32>> {
    let mut uses: Vec<(Span, usize)> = vec![];
    for (index, buffer) in buffers.iter().enumerate() {
        uses.extend(buffer.spans.iter().map(|span| (*span, index)));
    }
    uses.sort_unstable();
    let mut found: Vec<Vec<u32>> = vec![vec![]; buffers.len()];
    for (position, &((_, end), first)) in uses.iter().enumerate() {
        let later = uses[position + 1..].iter().take_while(|((start, _), _)| *start <= end);
        for &(_, second) in later.filter(|(_, second)| *second != first) {
            found[first].push(second as u32);
            found[second].push(first as u32);
        }
    }
    for list in &mut found {
        list.sort_unstable();
        list.dedup();
    }
    found
}

/// Calls `visit` with every order, until it returns true for "enough".
fn permutations(mut order: Vec<usize>, visit: &mut dyn FnMut(&[usize]) -> bool) {
    // Heap's algorithm.
    let mut counters = vec![0; order.len()];
    if visit(&order) {
        return;
    }
    let mut index = 1;
    while index < order.len() {
        if counters[index] < index {
            let other = if index % 2 == 0 { 0 } else { counters[index] };
            order.swap(other, index);
            if visit(&order) {
                return;
            }
            counters[index] += 1;
            index = 1;
        } else {
            counters[index] = 0;
            index += 1;
        }
    }
}
