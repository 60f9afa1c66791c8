use freshet_model::{HostColumn, PackedStrings, SourceTable};
use freshet_tables::{Table, write};
use proptest::prelude::*;

use crate::read_path;

/// Returns a number that a table may hold, of any size.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        0.001..1000.0f64,
        (-29.0..29.0f64).prop_map(|exponent| 10f64.powf(exponent)),
        (0u32..1000).prop_map(f64::from),
    ]
}

type Row = (f64, f64, f64, bool, u32, String);

fn table() -> impl Strategy<Value = SourceTable> {
    let row =
        (number(), number(), number(), any::<bool>(), 0u32..4, "[a\",\r\n\té;{\u{feff}]{0,3}");
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let column = |cell: fn(&Row) -> f64| rows.iter().map(cell).collect::<Vec<f64>>();
        let ids: Vec<String> =
            rows.iter().enumerate().map(|(row, cells)| format!("{}{row}", cells.5)).collect();
        // Hosts are numbered in order of first appearance.
        let mut names: Vec<String> = Vec::new();
        let of_source = rows
            .iter()
            .map(|cells| {
                // Some sources have no host.
                let name = if cells.4 == 0 { String::new() } else { format!("host {}", cells.4) };
                let place = names.iter().position(|other| *other == name).unwrap_or(names.len());
                if place == names.len() {
                    names.push(name);
                }
                place as u32
            })
            .collect();
        let mut max_rate = column(|cells| if cells.3 { f64::INFINITY } else { cells.2 * 2.0 });
        // JSON has no word for infinity: a column of nothing else would be no column.
        max_rate[0] = rows[0].2;
        SourceTable {
            ids: Some(ids.iter().map(String::as_str).collect()),
            importance: column(|cells| cells.0),
            change_rate: column(|cells| cells.1),
            observed: Some(rows.iter().map(|cells| cells.3).collect()),
            cost: Some(column(|cells| cells.2.max(1e-30))),
            min_rate: Some(column(|cells| cells.2)),
            max_rate: Some(max_rate),
            hosts: Some(HostColumn {
                names: names.iter().map(String::as_str).collect(),
                index_by_source: of_source,
            }),
        }
    })
}

#[track_caller]
fn check(name: &str, table: &SourceTable) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let flags: Vec<f64> =
        table.observed.iter().flatten().map(|&flag| f64::from(u8::from(flag))).collect();
    let hosts: PackedStrings = table
        .hosts
        .iter()
        .flat_map(|hosts| {
            hosts.index_by_source.iter().map(|&h| hosts.names.get(h as usize).unwrap())
        })
        .collect();
    let columns = Table::new(table.len())
        .names("id", table.ids.as_ref())
        .numbers("importance", &table.importance)
        .numbers("change_rate", &table.change_rate)
        .numbers("complete", &flags)
        .numbers("cost", table.cost.as_deref().unwrap())
        .numbers("min_rate", table.min_rate.as_deref().unwrap())
        .numbers("max_rate", table.max_rate.as_deref().unwrap())
        .names("host", Some(&hosts));
    write(&path, &columns).unwrap();
    assert_eq!(&read_path(&path, false).unwrap().table, table);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn every_format_gives_back_what_was_written(table in table()) {
        for name in ["s.csv", "s.tsv", "s.csv.gz", "s.jsonl", "s.ndjson.gz", "s.parquet"] {
            check(name, &table);
        }
    }
}
