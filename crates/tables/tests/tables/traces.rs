//! The recorded traces in the directory beside the project, if present.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use freshet_tables::{Input, pages_beside, read_trace, write_trace};

/// Pages, pages that changed, changes. The trace of raw snapshots lists its pages only.
const TRACES: [(&str, usize, Option<usize>, usize); 4] = [
    ("mdn", 21_636, Some(18_257), 130_097),
    ("k8s_docs", 4_843, Some(2_292), 15_435),
    ("ota_contrib", 877, Some(758), 39_965),
    ("ota_contrib_rawsnap", 801, None, 277_882),
];

fn directory() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if directory.is_dir() {
        return Some(directory);
    }
    eprintln!("skipped: there are no traces in {}", directory.display());
    None
}

/// Returns the path and the number of changes of each page, as another reader finds them.
fn counts(pages: &Path) -> HashMap<String, usize> {
    let mut reader = csv::Reader::from_reader(GzDecoder::new(File::open(pages).unwrap()));
    let rows = reader.deserialize().map(|row| {
        let (_, _, _, count, path): (u64, f64, f64, usize, String) = row.unwrap();
        (path, count)
    });
    rows.collect()
}

#[test]
fn every_trace_has_what_its_description_says_and_comes_back_as_it_was_written() {
    let Some(directory) = directory() else { return };
    let copies = tempfile::tempdir().unwrap();
    let read = |trace: &Path, pages: Option<&Path>| {
        let pages = pages.map(|pages| Input::File(pages.to_owned()));
        read_trace(&Input::File(trace.to_owned()), pages.as_ref(), false, &mut |_| {}).unwrap()
    };
    for (name, pages, changed, changes) in TRACES {
        let trace = directory.join(format!("{name}.csv.gz"));
        let beside = pages_beside(&trace).unwrap();
        let history = read(&trace, Some(&beside));
        assert_eq!((history.len(), history.change_count()), (pages, changes), "{name}");
        let with_changes =
            (0..pages).filter(|&page| !history.change_times(page).is_empty()).count();
        assert!(changed.is_none_or(|changed| changed == with_changes), "{name}: {with_changes}");
        let counts = counts(&beside);
        for (page, path) in history.ids.iter().enumerate() {
            assert_eq!(history.change_times(page).len(), counts[path], "{name}: {path}");
        }

        let copy = copies.path().join(format!("{name}.csv"));
        write_trace(&copy, &history).unwrap();
        assert!(read(&copy, pages_beside(&copy).as_deref()) == history, "{name}");
        // Without the file of pages: those that changed.
        let alone = read(&copy, None);
        assert_eq!((alone.len(), alone.change_count()), (with_changes, changes), "{name}");
    }
}
