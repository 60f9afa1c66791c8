//! Changes that a writer makes.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::noise::KINDS;
use crate::pages::pages;
use crate::{assert_no_faults, describe_miss};

#[test]
fn every_change_is_detected() {
    let mut faults = Vec::new();
    for page in pages() {
        assert!(page.changes() > 1, "{} has no changes", page.name);
        for change in 0..page.changes() {
            let after = page.fill(|_| String::new(), Some(change));
            let name = format!("{}, {}", page.name, page.change(change));
            faults.extend(describe_miss(&name, &page.plain(), &after));
        }
    }
    assert_no_faults(&faults);
}

#[test]
fn every_change_is_detected_among_noise() {
    let mut faults = Vec::new();
    for page in pages() {
        for change in 0..page.changes() {
            let noisy = |seed, change| {
                let mut random = Pcg64::seed_from_u64(seed);
                let mut fill =
                    |slot: &str| KINDS.iter().map(|(_, maker)| maker(slot, &mut random)).collect();
                page.fill(&mut fill, change)
            };
            let name = format!("{}, {}", page.name, page.change(change));
            faults.extend(describe_miss(&name, &noisy(1, None), &noisy(2, Some(change))));
        }
    }
    assert_no_faults(&faults);
}
