//! What two lists have in common, in order.

use foldhash::{HashMap, HashMapExt};
use std::ops::Range;

/// A run that both lists have, or a run of one that stands for a run of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Where it begins in both, and how long it is.
    Same(usize, usize, usize),
    Replace(Range<usize>, Range<usize>),
}

/// Changes within a gap that are searched for; its square bounds the work.
const MOST_CHANGES: usize = 600;

/// How much may be done for a whole diff, lines and words together, in steps of the search. Beyond
/// it, what is left is replaced as a whole.
#[derive(Debug)]
pub(super) struct Work {
    left: usize,
}

impl Work {
    /// As much as two texts of so many bytes deserve.
    pub(super) fn new(bytes: usize) -> Self {
        const LEAST: usize = 1 << 22;
        const PER_BYTE: usize = 3;
        Self { left: bytes.saturating_mul(PER_BYTE).saturating_add(LEAST) }
    }

    /// Whether so many steps can still be done; then they are.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let enough = self.left >= steps;
        self.left = self.left.saturating_sub(steps);
        enough
    }
}

/// A gap with anchors is split, and its gaps again, this often.
const DEEPEST: usize = 16;

type Gap = (Range<usize>, Range<usize>);

/// How `old` becomes `new`.
pub(super) fn align(old: &[&str], new: &[&str], work: &mut Work) -> Vec<Edit> {
    // Numbers are compared faster than texts.
    let mut known = HashMap::with_capacity(old.len());
    let (a, b) = (numbers(old, &mut known), numbers(new, &mut known));
    let mut seen = vec![Seen::default(); known.len()];
    let mut matches = Vec::with_capacity(a.len().min(b.len()));
    let mut gaps: Vec<(Gap, usize)> = vec![((0..a.len(), 0..b.len()), 0)];
    while let Some(((mut x, mut y), depth)) = gaps.pop() {
        while !x.is_empty() && !y.is_empty() && a[x.start] == b[y.start] {
            matches.push((x.start, y.start));
            (x.start, y.start) = (x.start + 1, y.start + 1);
        }
        while !x.is_empty() && !y.is_empty() && a[x.end - 1] == b[y.end - 1] {
            (x.end, y.end) = (x.end - 1, y.end - 1);
            matches.push((x.end, y.end));
        }
        if x.is_empty() || y.is_empty() {
            continue;
        }
        let anchors = if depth < DEEPEST { anchors(&a, &b, &x, &y, &mut seen) } else { Vec::new() };
        if anchors.is_empty() {
            shortest(&a, &b, &x, &y, work, &mut matches);
            continue;
        }
        let (mut from_x, mut from_y) = (x.start, y.start);
        for (at_x, at_y) in anchors {
            matches.push((at_x, at_y));
            gaps.push(((from_x..at_x, from_y..at_y), depth + 1));
            (from_x, from_y) = (at_x + 1, at_y + 1);
        }
        gaps.push(((from_x..x.end, from_y..y.end), depth + 1));
    }
    matches.sort_unstable();
    edits(&matches, a.len(), b.len())
}

fn numbers<'t>(list: &[&'t str], known: &mut HashMap<&'t str, u32>) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(list.len());
    for &it in list {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        numbers.push(*known.entry(it).or_insert(next));
    }
    numbers
}

/// How often an item stands in either gap, and where it was last.
#[derive(Clone, Copy, Default)]
struct Seen {
    in_a: u32,
    in_b: u32,
    at_b: usize,
}

/// Items that stand once in both gaps, as many as keep their order. `seen` is as it was afterwards.
fn anchors(
    a: &[u32],
    b: &[u32],
    x: &Range<usize>,
    y: &Range<usize>,
    seen: &mut [Seen],
) -> Vec<(usize, usize)> {
    for &it in &a[x.clone()] {
        seen[it as usize].in_a += 1;
    }
    for at in y.clone() {
        let entry = &mut seen[b[at] as usize];
        (entry.in_b, entry.at_b) = (entry.in_b + 1, at);
    }
    let once = |at: usize| match seen[a[at] as usize] {
        Seen { in_a: 1, in_b: 1, at_b } => Some((at, at_b)),
        _ => None,
    };
    let pairs: Vec<(usize, usize)> = x.clone().filter_map(once).collect();
    for &it in a[x.clone()].iter().chain(&b[y.clone()]) {
        seen[it as usize] = Seen::default();
    }
    rising(&pairs)
}

/// The longest part of pairs, which rise in the first, that rises in the second too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best run of each length, and what each pair follows.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|it| pairs[*it].1 < pair.1);
        before.push(length.checked_sub(1).map(|it| ends[it]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

/// Myers' greedy search within a gap, up to a number of changes.
fn shortest(
    a: &[u32],
    b: &[u32],
    x: &Range<usize>,
    y: &Range<usize>,
    work: &mut Work,
    matches: &mut Vec<(usize, usize)>,
) {
    let (a, b) = (&a[x.clone()], &b[y.clone()]);
    let (n, m) = (a.len() as i32, b.len() as i32);
    let most = (a.len() + b.len()).min(MOST_CHANGES);
    let offset = most as i32 + 1;
    let slot = |k: i32| (k + offset) as usize;
    let mut reach = vec![0; 2 * most + 3];
    let mut trace = Vec::new();
    for d in 0..=most as i32 {
        trace.extend_from_slice(&reach[slot(-d - 1)..=slot(d + 1)]);
        for k in (-d..=d).step_by(2) {
            let (left, right) = (reach[slot(k - 1)], reach[slot(k + 1)]);
            let from = if k == -d || k != d && left < right { right } else { left + 1 };
            let mut i = from;
            while i < n && i - k < m && a[i as usize] == b[(i - k) as usize] {
                i += 1;
            }
            work.take((i - from) as usize);
            reach[slot(k)] = i;
            if i >= n && i - k >= m {
                walk_back(&trace, d, (n, m), (x.start, y.start), matches);
                return;
            }
        }
        if !work.take(d as usize + 1) {
            return;
        }
    }
}

/// The steps of the search from its end to its start. `trace` holds how far each search for fewer changes
/// reached: of 2d + 3 diagonals for d of them.
fn walk_back(
    trace: &[i32],
    changes: i32,
    end: (i32, i32),
    start: (usize, usize),
    matches: &mut Vec<(usize, usize)>,
) {
    let (mut i, mut j) = end;
    for d in (0..=changes).rev() {
        let reach = &trace[(d * (d + 2)) as usize..];
        let at = |k: i32| reach[(k + d + 1) as usize];
        let k = i - j;
        let down = k == -d || k != d && at(k - 1) < at(k + 1);
        let before_k = if down { k + 1 } else { k - 1 };
        let before_i = if d == 0 { 0 } else { at(before_k) };
        let before_j = if d == 0 { 0 } else { before_i - before_k };
        while i > before_i && j > before_j {
            (i, j) = (i - 1, j - 1);
            matches.push((start.0 + i as usize, start.1 + j as usize));
        }
        (i, j) = (before_i, before_j);
    }
}

/// Runs of matches, and what is between them.
fn edits(matches: &[(usize, usize)], n: usize, m: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (mut at_x, mut at_y) = (0, 0);
    for &(x, y) in matches.iter().chain([&(n, m)]) {
        if x > at_x || y > at_y {
            edits.push(Edit::Replace(at_x..x, at_y..y));
        }
        if x < n || y < m {
            match edits.last_mut() {
                Some(Edit::Same(_, _, count)) => *count += 1,
                _ => edits.push(Edit::Same(x, y, 1)),
            }
        }
        (at_x, at_y) = (x + 1, y + 1);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How long what both have in common is, by the usual table.
    fn longest(a: &[&str], b: &[&str]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { corner + 1 } else { row[j].max(above) };
                corner = above;
            }
        }
        row[b.len()]
    }

    fn common(edits: &[Edit]) -> usize {
        edits.iter().map(|it| if let Edit::Same(_, _, count) = it { *count } else { 0 }).sum()
    }

    fn check_whole(a: &[&str], b: &[&str]) -> Vec<Edit> {
        let edits = align(a, b, &mut Work::new(a.len() + b.len()));
        let (mut x, mut y) = (0, 0);
        for edit in &edits {
            match edit {
                Edit::Same(from, to, count) => {
                    assert_eq!((*from, *to), (x, y));
                    assert_eq!(a[x..x + count], b[y..y + count]);
                    (x, y) = (x + count, y + count);
                }
                Edit::Replace(from, to) => {
                    assert_eq!((from.start, to.start), (x, y));
                    (x, y) = (from.end, to.end);
                }
            }
        }
        assert_eq!((x, y), (a.len(), b.len()));
        edits
    }

    proptest! {
        #[test]
        fn edits_make_the_new_list(a in prop::collection::vec("[a-e]", 0..40), b in prop::collection::vec("[a-e]", 0..40)) {
            let a: Vec<&str> = a.iter().map(String::as_str).collect();
            let b: Vec<&str> = b.iter().map(String::as_str).collect();
            let edits = check_whole(&a, &b);
            prop_assert!(common(&edits) <= longest(&a, &b));
        }
    }

    #[test]
    fn small_changes_are_found_exactly() {
        let a: Vec<String> = (0..300).map(|it| (it % 7).to_string()).collect();
        let mut b = a.clone();
        b.remove(100);
        b.insert(200, "new".to_owned());
        let a: Vec<&str> = a.iter().map(String::as_str).collect();
        let b: Vec<&str> = b.iter().map(String::as_str).collect();
        assert_eq!(common(&check_whole(&a, &b)), 299);
    }

    #[test]
    fn lists_with_nothing_in_common_end_soon() {
        let a: Vec<String> = (0..200_000).map(|it| (it % 1000).to_string()).collect();
        let b: Vec<String> = (0..200_000).map(|it| (it * 7 % 1000 + 500).to_string()).collect();
        let a: Vec<&str> = a.iter().map(String::as_str).collect();
        let b: Vec<&str> = b.iter().map(String::as_str).collect();
        check_whole(&a, &b);
    }
}
