//! Whatever the bytes are, reading ends with a table or an error.

use std::path::Path;

use freshet_model::PackedStrings;
use freshet_tables::{Table, read_host_limits, write};
use proptest::prelude::*;

use crate::read_path;

const FILES: [&str; 5] = [
    "url_urlid_hostid.txt",
    "host_hostid_isconstrained.txt",
    "urlid_imp.txt",
    "urlid_offset_history.txt",
    "urlid_chrate_compl_obs_hist.txt",
];

/// What is read must be usable: columns of one length, values in their ranges.
fn check(path: &Path) {
    for ignore_extra in [false, true] {
        let Ok(sources) = read_path(path, ignore_extra) else {
            continue;
        };
        let table = sources.table;
        let rows = table.len();
        assert!(rows > 0 && table.importance.len() == rows);
        assert!(table.ids.is_none_or(|ids| ids.len() == rows));
        assert!(table.observed.is_none_or(|complete| complete.len() == rows));
        assert!(table.hosts.is_none_or(|hosts| {
            hosts.index_by_source.len() == rows
                && hosts.index_by_source.iter().all(|&host| (host as usize) < hosts.names.len())
        }));
        for column in [Some(table.importance), Some(table.change_rate), table.cost, table.min_rate]
        {
            let column = column.unwrap_or_default();
            assert!(column.iter().all(|value| (0.0..=1e30).contains(value)));
        }
    }
}

fn check_bytes(name: &str, bytes: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    check(&path);
    drop(read_host_limits(&path));
}

fn valid(name: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let numbers: Vec<f64> = (0..50).map(|i| f64::from(i) / 7.0).collect();
    let ids: PackedStrings = (0..50).map(|i| ["a", "b,", "\"c"][i % 3]).collect();
    let ids: Vec<String> = ids.iter().enumerate().map(|(i, id)| format!("{id}{i}")).collect();
    let ids: PackedStrings = ids.iter().map(String::as_str).collect();
    let table = Table::new(50)
        .names("id", Some(&ids))
        .numbers("change_rate", &numbers)
        .numbers("min_rate", &numbers)
        .names("host", Some(&ids));
    write(&path, &table).unwrap();
    std::fs::read(&path).unwrap()
}

/// Returns a few bytes changed, and perhaps the end cut off.
fn mutate(
    mut bytes: Vec<u8>,
    changes: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Vec<u8> {
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len()));
    }
    bytes
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

const NAMES: [&str; 6] = ["s.csv", "s.tsv", "s.csv.gz", "s.jsonl", "s.jsonl.gz", "s.parquet"];

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for name in NAMES {
            check_bytes(name, &bytes);
        }
    }

    #[test]
    fn text_like_a_table(text in "(id|change_rate|host|1|-|e|,|\"|\n|\r|\\{|\\}|:|null|\\[|\\]|\t){0,60}") {
        for name in ["s.csv", "s.tsv", "s.jsonl"] {
            check_bytes(name, format!("id,change_rate\n{text}").as_bytes());
            check_bytes(name, text.as_bytes());
        }
    }

    #[test]
    fn a_data_set_of_anything(texts in prop::array::uniform5("([0-3]|\t|\n|\\[|\\]|,|x|\\.){0,40}")) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in FILES.iter().zip(&texts) {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        check(directory.path());
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn damaged_files(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        which in 0..NAMES.len() + 6,
    ) {
        // The decoder of Parquet is the largest and not ours: it gets half of the cases.
        let name = NAMES[which.min(NAMES.len() - 1)];
        check_bytes(name, &mutate(valid(name), &changes, cut));
    }
}
