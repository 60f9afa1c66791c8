//! Throws random events at the engine, and checks after each one what holds whatever happens.
//!
//! A case that fails is shrunk, and printed as text, one line for each event (see `case.rs`). To run
//! it again, and to keep it:
//!
//! ```text
//! FRESHET_CASE=case.txt cargo test -p freshet-engine --test fuzz replay
//! cp case.txt crates/engine/tests/cases/what-went-wrong.txt      # from then on it is always run
//! PROPTEST_CASES=20000 cargo test -p freshet-engine --test fuzz  # a longer search
//! ```

#![allow(clippy::unwrap_used)]

mod case;
mod driver;
mod model;
mod purse;
mod strategy;

use std::path::Path;

use proptest::prelude::*;

use case::Case;

/// Cases of each search, unless `PROPTEST_CASES` says otherwise.
fn config(cases: u32) -> ProptestConfig {
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    let usual = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if told { usual } else { ProptestConfig { cases, ..usual } }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn whatever_happens_the_invariants_hold(case in strategy::case()) {
        driver::run(&case).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_case_is_what_its_text_says(case in strategy::case()) {
        let text = case.to_string();
        prop_assert_eq!(text.parse::<Case>().unwrap().to_string(), text);
    }
}

fn replay_text(name: &str, text: &str) {
    let case = text.parse::<Case>().unwrap_or_else(|why| panic!("{name}: {why}"));
    driver::run(&case).unwrap_or_else(|why| panic!("{name}: {why}"));
}

#[test]
fn replay() {
    if let Ok(path) = std::env::var("FRESHET_CASE") {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
        let case = text.parse::<Case>().unwrap_or_else(|why| panic!("{path}: {why}"));
        let shown = |step: &str| {
            #[allow(clippy::print_stderr, reason = "somebody wants to see it")]
            {
                eprintln!("{step}");
            }
        };
        driver::show(&case, shown).unwrap_or_else(|why| panic!("{path}: {why}"));
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        replay_text(&file.display().to_string(), &std::fs::read_to_string(&file).unwrap());
    }
}
