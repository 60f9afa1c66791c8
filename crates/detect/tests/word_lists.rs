//! The form of the word lists in `data/`. The parser is tested beside its code.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use unicode_normalization::is_nfc;

fn is_entry(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Returns all files in `data/`, with their text.
fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let folders = std::fs::read_dir(root).unwrap().map(|it| it.unwrap().path());
    let paths = folders.flat_map(|it| std::fs::read_dir(it).unwrap());
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    paths.map(|it| read(it.unwrap().path())).collect()
}

#[test]
fn every_data_file_is_sorted_and_has_no_duplicates() {
    let files = files();
    assert!(files.len() > 60);
    for (path, text) in files {
        let entries: Vec<&str> = text.lines().filter(|it| is_entry(it)).collect();
        assert!(!entries.is_empty(), "{path:?} has no entries");
        for pair in entries.windows(2) {
            assert!(pair[0] < pair[1], "{path:?}: {pair:?}");
        }
    }
}

#[test]
fn every_data_file_has_the_same_form() {
    /// Files of names in which case matters.
    const WITH_CASE: [&str; 2] = ["entities.txt", "state_variables.txt"];
    for (path, text) in files() {
        assert!(text.starts_with("# "), "{path:?} does not say what a line is");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path:?}");
        assert!(is_nfc(&text), "{path:?} is not in normalization form C");
        let entries = text.lines().skip_while(|it| it.starts_with('#')).skip(1);
        let with_case = WITH_CASE.iter().any(|it| path.ends_with(it));
        for line in entries {
            assert!(is_entry(line), "{path:?}: a comment or a gap among entries");
            assert_eq!(line.trim(), line, "{path:?}");
            assert!(with_case || line.to_lowercase() == line, "{path:?}: {line}");
        }
    }
}
