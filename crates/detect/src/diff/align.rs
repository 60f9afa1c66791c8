//! Aligns two lists.

use foldhash::{HashMap, HashMapExt};
use std::ops::Range;

/// A run of items in both lists, or a run of one list that replaces a run of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Start in both lists, and length.
    Same(usize, usize, usize),
    Replace(Range<usize>, Range<usize>),
}

/// Maximum number of changes in a gap for a search. Its square bounds the work.
const MAX_CHANGES: usize = 600;

/// Work budget of a whole diff, lines and words together, in steps of the search. When it is used
/// up, the rest is replaced as a whole.
#[derive(Debug)]
pub(super) struct WorkBudget {
    steps_left: usize,
}

impl WorkBudget {
    /// Returns the budget for two texts with this total length.
    pub(super) fn new(bytes: usize) -> Self {
        const MIN_STEPS: usize = 1 << 22;
        const STEPS_PER_BYTE: usize = 3;
        Self { steps_left: bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(MIN_STEPS) }
    }

    /// Spends steps. Returns false if there are not enough left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        let is_enough = self.steps_left >= steps;
        self.steps_left = self.steps_left.saturating_sub(steps);
        is_enough
    }
}

/// Maximum depth of recursive splits at anchors.
const MAX_SPLITS: usize = 16;

/// A range of both lists without matches.
type Gap = (Range<usize>, Range<usize>);

/// Returns the edits that turn `old` into `new`.
pub(super) fn align(old: &[&str], new: &[&str], work: &mut WorkBudget) -> Vec<Edit> {
    // Integers compare faster than texts.
    let mut ids = HashMap::with_capacity(old.len());
    let (a, b) = (intern(old, &mut ids), intern(new, &mut ids));
    let mut counts = vec![ItemCounts::default(); ids.len()];
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
        let anchors = if depth < MAX_SPLITS {
            unique_anchors(&a, &b, &x, &y, &mut counts)
        } else {
            Vec::new()
        };
        if anchors.is_empty() {
            find_shortest_edit(&a, &b, &x, &y, work, &mut matches);
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
    build_edits(&matches, a.len(), b.len())
}

/// Numbers the items: equal items have the same number.
fn intern<'t>(list: &[&'t str], ids: &mut HashMap<&'t str, u32>) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(list.len());
    for &it in list {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        numbers.push(*ids.entry(it).or_insert(next));
    }
    numbers
}

/// Number of occurrences of an item in each gap, and its last index in the second.
#[derive(Clone, Copy, Default)]
struct ItemCounts {
    in_a: u32,
    in_b: u32,
    at_b: usize,
}

/// Returns items that occur once in both gaps, as many as are in the same order. Leaves `counts`
/// cleared.
fn unique_anchors(
    a: &[u32],
    b: &[u32],
    x: &Range<usize>,
    y: &Range<usize>,
    counts: &mut [ItemCounts],
) -> Vec<(usize, usize)> {
    for &it in &a[x.clone()] {
        counts[it as usize].in_a += 1;
    }
    for at in y.clone() {
        let entry = &mut counts[b[at] as usize];
        (entry.in_b, entry.at_b) = (entry.in_b + 1, at);
    }
    let unique_pair = |at: usize| match counts[a[at] as usize] {
        ItemCounts { in_a: 1, in_b: 1, at_b } => Some((at, at_b)),
        _ => None,
    };
    let pairs: Vec<(usize, usize)> = x.clone().filter_map(unique_pair).collect();
    for &it in a[x.clone()].iter().chain(&b[y.clone()]) {
        counts[it as usize] = ItemCounts::default();
    }
    longest_increasing(&pairs)
}

/// Returns the longest subsequence of pairs that increases in the second item. Pairs increase in
/// the first.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best subsequence of each length, and the predecessor of each pair.
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

/// Searches for the shortest edit script within a gap: Myers' greedy algorithm, up to a maximum
/// number of changes.
fn find_shortest_edit(
    a: &[u32],
    b: &[u32],
    x: &Range<usize>,
    y: &Range<usize>,
    work: &mut WorkBudget,
    matches: &mut Vec<(usize, usize)>,
) {
    let (a, b) = (&a[x.clone()], &b[y.clone()]);
    let (n, m) = (a.len() as i32, b.len() as i32);
    let max_changes = (a.len() + b.len()).min(MAX_CHANGES);
    let offset = max_changes as i32 + 1;
    let slot = |k: i32| (k + offset) as usize;
    let mut reach = vec![0; 2 * max_changes + 3];
    let mut trace = Vec::new();
    for d in 0..=max_changes as i32 {
        trace.extend_from_slice(&reach[slot(-d - 1)..=slot(d + 1)]);
        for k in (-d..=d).step_by(2) {
            let (left, right) = (reach[slot(k - 1)], reach[slot(k + 1)]);
            let from = if k == -d || k != d && left < right { right } else { left + 1 };
            let mut i = from;
            while i < n && i - k < m && a[i as usize] == b[(i - k) as usize] {
                i += 1;
            }
            work.spend((i - from) as usize);
            reach[slot(k)] = i;
            if i >= n && i - k >= m {
                backtrack(&trace, d, (n, m), (x.start, y.start), matches);
                return;
            }
        }
        if !work.spend(d as usize + 1) {
            return;
        }
    }
}

/// Follows the search from its end to its start. `trace` has the furthest positions for each
/// smaller number d of changes: 2d + 3 diagonals each.
fn backtrack(
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

/// Turns matches into runs and the replacements between them.
fn build_edits(matches: &[(usize, usize)], n: usize, m: usize) -> Vec<Edit> {
    let mut build_edits = Vec::new();
    let (mut at_x, mut at_y) = (0, 0);
    for &(x, y) in matches.iter().chain([&(n, m)]) {
        if x > at_x || y > at_y {
            build_edits.push(Edit::Replace(at_x..x, at_y..y));
        }
        if x < n || y < m {
            match build_edits.last_mut() {
                Some(Edit::Same(_, _, count)) => *count += 1,
                _ => build_edits.push(Edit::Same(x, y, 1)),
            }
        }
        (at_x, at_y) = (x + 1, y + 1);
    }
    build_edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Length of the longest common subsequence, by dynamic programming.
    fn lcs_len(a: &[&str], b: &[&str]) -> usize {
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

    fn common(build_edits: &[Edit]) -> usize {
        build_edits.iter().map(|it| if let Edit::Same(_, _, count) = it { *count } else { 0 }).sum()
    }

    fn check_edits(a: &[&str], b: &[&str]) -> Vec<Edit> {
        let build_edits = align(a, b, &mut WorkBudget::new(a.len() + b.len()));
        let (mut x, mut y) = (0, 0);
        for edit in &build_edits {
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
        build_edits
    }

    proptest! {
        #[test]
        fn edits_turn_the_old_list_into_the_new_one(a in prop::collection::vec("[a-e]", 0..40), b in prop::collection::vec("[a-e]", 0..40)) {
            let a: Vec<&str> = a.iter().map(String::as_str).collect();
            let b: Vec<&str> = b.iter().map(String::as_str).collect();
            let build_edits = check_edits(&a, &b);
            prop_assert!(common(&build_edits) <= lcs_len(&a, &b));
        }
    }

    #[test]
    fn a_small_change_has_the_shortest_edit() {
        let a: Vec<String> = (0..300).map(|it| (it % 7).to_string()).collect();
        let mut b = a.clone();
        b.remove(100);
        b.insert(200, "new".to_owned());
        let a: Vec<&str> = a.iter().map(String::as_str).collect();
        let b: Vec<&str> = b.iter().map(String::as_str).collect();
        assert_eq!(common(&check_edits(&a, &b)), 299);
    }

    #[test]
    fn lists_with_nothing_in_common_take_bounded_time() {
        let a: Vec<String> = (0..200_000).map(|it| (it % 1000).to_string()).collect();
        let b: Vec<String> = (0..200_000).map(|it| (it * 7 % 1000 + 500).to_string()).collect();
        let a: Vec<&str> = a.iter().map(String::as_str).collect();
        let b: Vec<&str> = b.iter().map(String::as_str).collect();
        check_edits(&a, &b);
    }
}
