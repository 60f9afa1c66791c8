//! Lives, urgencies and chances of every kind.

use freshet_capture::{Chances, Life, Page, Urgency};
use proptest::prelude::*;

const LIVES: [&str; 12] = [
    "append",
    "overwrite",
    "window:0",
    "window:1",
    "window:5",
    "window:20",
    "window:4000000000",
    "changes:1",
    "changes:2",
    "changes:3",
    "changes:9",
    "changes:4000000000",
];

const URGENCIES: [&str; 11] = [
    "uniform",
    "decay:0",
    "decay:0.2",
    "decay:0.9",
    "decay:0.999",
    "decay:1",
    "window:0",
    "window:1",
    "window:4",
    "window:15",
    "window:4000000000",
];

pub(crate) fn lives() -> impl Iterator<Item = Life> + Clone {
    LIVES.iter().map(|text| text.parse().unwrap())
}

pub(crate) fn urgencies() -> impl Iterator<Item = Urgency> + Clone {
    URGENCIES.iter().map(|text| text.parse().unwrap())
}

/// Every life with every urgency.
pub(crate) fn kinds() -> impl Iterator<Item = (Life, Urgency)> {
    lives().flat_map(|life| urgencies().map(move |urgency| (life, urgency)))
}

/// Returns a chance: never, always, nearly never, nearly always, or anything.
pub(crate) fn chance() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        1 => Just(1.0),
        1 => 1e-12_f64..1e-3,
        1 => (1e-12_f64..1e-3).prop_map(|less| 1.0 - less),
        5 => 0.0_f64..1.0,
    ]
}

pub(crate) fn page() -> impl Strategy<Value = Page> {
    let kinds: Vec<(Life, Urgency)> = kinds().collect();
    let weight = prop_oneof![1 => Just(0.0), 3 => Just(1.0), 6 => 0.0_f64..10.0];
    (prop::sample::select(kinds), weight)
        .prop_map(|((life, urgency), weight)| Page::new(weight, life, urgency).unwrap())
}

/// Up to so many pages, and their chances over up to so many instants.
pub(crate) fn instance(
    pages: usize,
    instants: usize,
) -> impl Strategy<Value = (Vec<Page>, Chances)> {
    (1..=pages, 1..=instants).prop_flat_map(|(pages, instants)| {
        let chances = prop::collection::vec(chance(), pages * instants);
        let chances = chances.prop_map(move |values| Chances::new(pages, values).unwrap());
        (prop::collection::vec(page(), pages), chances)
    })
}
