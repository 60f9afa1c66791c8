//! Fuzz tests: random events, with all invariants checked after each one.
//!
//! A failing case is shrunk and printed as text, one line per event (see `case.rs`). To run it
//! again and to keep it:
//!
//! ```text
//! FRESHET_CASE=$PWD/case.txt cargo test -p freshet-engine --test fuzz replay
//! cp case.txt crates/engine/tests/cases/description.txt                      # always run from then on
//! PROPTEST_CASES=5000 cargo test -p freshet-engine --test fuzz invariants    # a longer search
//! PROPTEST_RNG_SEED=7 ...                                                    # the same search again
//! ```

#![allow(clippy::unwrap_used)]

mod budget_model;
mod bytes;
mod case;
mod driver;
mod model;
mod strategy;

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use case::Case;

/// Cases per search, unless `PROPTEST_CASES` is set.
fn config(cases: u32) -> ProptestConfig {
    let description = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig {
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    };
    if description { default } else { ProptestConfig { cases, ..default } }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn invariants_hold_for_random_events(case in strategy::case()) {
        driver::run(&case).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_case_round_trips_through_text(case in strategy::case()) {
        let text = case.to_string();
        prop_assert_eq!(text.parse::<Case>().unwrap().to_string(), text);
    }
}

fn read(path: &Path) -> Case {
    let name = path.display();
    let text = std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{name}: {why}"));
    text.parse().unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[test]
#[allow(clippy::print_stderr, reason = "whoever runs one case wants to see it")]
fn replay() {
    if let Some(path) = std::env::var_os("FRESHET_CASE") {
        let change_time = driver::show(&read(Path::new(&path)), |step| eprintln!("{step}"));
        return change_time.unwrap_or_else(|why| panic!("{why}"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let violation =
        |file: &PathBuf| Some(format!("{}: {}", file.display(), driver::run(&read(file)).err()?));
    let violation: Vec<_> = files.iter().filter_map(violation).collect();
    assert!(violation.is_empty() && !files.is_empty(), "{}", violation.join("\n"));
}
