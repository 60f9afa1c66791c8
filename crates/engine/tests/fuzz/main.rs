//! Throws random events at the engine, and checks after each one what holds whatever happens.
//!
//! A case that fails is shrunk, and printed as text, one line for each event (see `case.rs`). To run
//! it again, and to keep it:
//!
//! ```text
//! FRESHET_CASE=$PWD/case.txt cargo test -p freshet-engine --test fuzz replay
//! cp case.txt crates/engine/tests/cases/what-went-wrong.txt      # from then on it is always run
//! PROPTEST_CASES=5000 cargo test -p freshet-engine --test fuzz whatever  # a longer search
//! PROPTEST_RNG_SEED=7 ...                                               # the same one again
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

/// Cases of each search, unless `PROPTEST_CASES` says otherwise.
fn config(cases: u32) -> ProptestConfig {
    let told = std::env::var_os("PROPTEST_CASES").is_some();
    let usual = ProptestConfig {
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    };
    if told { usual } else { ProptestConfig { cases, ..usual } }
}

proptest! {
    #![proptest_config(config(200))]

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

fn read(path: &Path) -> Case {
    let name = path.display();
    let text = std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{name}: {why}"));
    text.parse().unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[test]
#[allow(clippy::print_stderr, reason = "whoever runs one case wants to see it")]
fn replay() {
    if let Some(path) = std::env::var_os("FRESHET_CASE") {
        let said = driver::show(&read(Path::new(&path)), |step| eprintln!("{step}"));
        return said.unwrap_or_else(|why| panic!("{why}"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let wrong =
        |file: &PathBuf| Some(format!("{}: {}", file.display(), driver::run(&read(file)).err()?));
    let wrong: Vec<_> = files.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty() && !files.is_empty(), "{}", wrong.join("\n"));
}
