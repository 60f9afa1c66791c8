//! Tables that are read in pieces: the same rows, and bad ones apart.

use std::ops::ControlFlow;
use std::path::Path;

use freshet_tables::{Piece, Table, TableError, stream, write};

/// Ids and change rates of the good rows with their numbers, and the errors of the others.
#[derive(Debug, Default, PartialEq)]
struct Streamed {
    rows: Vec<(u64, String, f64)>,
    bad: Vec<String>,
}

fn streamed(path: &Path) -> Result<Streamed, TableError> {
    let mut all = Streamed::default();
    stream(path, &mut |piece| {
        match piece {
            Piece::Rows(table, before) => {
                for (row, id) in table.ids.as_ref().unwrap().iter().enumerate() {
                    let number = before + row as u64 + 1;
                    all.rows.push((number, id.to_owned(), table.change_rate[row]));
                }
            }
            Piece::Bad(error) => all.bad.push(error.to_string()),
        }
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

#[track_caller]
fn check(name: &str, bytes: &[u8], rows: &[(u64, &str)], bad: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let found = streamed(&path).unwrap();
    let told: Vec<_> = found.rows.iter().map(|(row, id, _)| (*row, id.as_str())).collect();
    assert_eq!(told, rows);
    assert_eq!(found.bad.len(), bad.len(), "{:?}", found.bad);
    for (told, part) in found.bad.iter().zip(bad) {
        assert!(told.contains(part), "no `{part}` in: {told}");
    }
}

#[test]
fn bad_rows_do_not_spoil_the_others() {
    let csv = b"id,change_rate,extra\na,1,x\nb,often,x\nc,2,x\nd,3\na,1,x\n";
    let bad = ["t.csv:3: change_rate: `often` is not a number", "t.csv:5: "];
    check("t.csv", csv, &[(1, "a"), (3, "c"), (5, "a")], &bad);
    let json =
        b"{\"id\":\"a\"}\n{\"id\":\"b\",\"cost\":0}\nnot\n{\"id\":\"c\",\"change_rate\":1}\n";
    check("t.jsonl", json, &[(1, "a"), (4, "c")], &["t.jsonl:2: cost", "t.jsonl:3: "]);
    check("t.tsv", b"importance\tid\n1\ta\n", &[(1, "a")], &[]);
}

#[test]
fn long_tables_come_in_order_from_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let rates: Vec<f64> = (0..30_000).map(f64::from).collect();
    let ids = rates.iter().map(|rate| format!("id {rate}")).collect::<Vec<_>>();
    let ids = ids.iter().map(String::as_str).collect();
    let table = Table::new(rates.len()).names("id", Some(&ids)).numbers("change_rate", &rates);
    for name in ["t.csv", "t.tsv.gz", "t.jsonl", "t.parquet"] {
        let path = directory.path().join(name);
        write(&path, &table).unwrap();
        let found = streamed(&path).unwrap();
        assert_eq!(found.rows.len(), rates.len(), "{name}");
        for (at, (row, id, rate)) in found.rows.iter().enumerate() {
            assert_eq!(
                (*row, id.as_str(), *rate),
                (at as u64 + 1, ids.get(at).unwrap(), rates[at])
            );
        }
    }
}

#[test]
fn bad_rows_of_parquet_are_found_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let mut rates: Vec<f64> = (0..10_000).map(f64::from).collect();
    (rates[0], rates[9_000]) = (-1.0, -2.0);
    let ids = rates.iter().map(|_| "same").collect();
    let table = Table::new(rates.len()).names("id", Some(&ids)).numbers("change_rate", &rates);
    write(&path, &table).unwrap();
    let found = streamed(&path).unwrap();
    assert_eq!((found.rows.len(), found.bad.len()), (9_998, 2), "{:?}", found.bad);
    assert_eq!((found.rows[0].0, found.rows[9_997].0), (2, 10_000));
    assert!(found.bad[0].contains("row 1: change_rate"), "{:?}", found.bad);
}

#[test]
fn whoever_has_seen_enough_ends_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let rows: String = (0..20_000).map(|row| format!("{row}\n")).collect();
    std::fs::write(&path, format!("id\n{rows}")).unwrap();
    let mut pieces = 0;
    stream(&path, &mut |_| {
        pieces += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(pieces, 1);
    std::fs::write(&path, "importance\n1\n").unwrap();
    assert!(matches!(streamed(&path), Err(TableError::MissingColumn { name: "id", .. })));
}
