//! A table in, a plan out, in every format.

use freshet_tables::{Table, write};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::Folder;

const PLAN: &str = "--budget 3/day --quiet --out";

const CSV: &str = "\
id,importance,change_rate,complete
a,12,0.5,0
b,3,2,1
c,0.4,4,0
d,150,0.05,1
";

/// Creates a folder with the same sources in every format.
fn folder() -> Folder {
    let folder = Folder::new(&[("s.csv", CSV), ("s.tsv", &CSV.replace(',', "\t"))]);
    let ids = ["a", "b", "c", "d"].into_iter().collect();
    let table = Table::new(4)
        .names("id", Some(&ids))
        .numbers("importance", &[12.0, 3.0, 0.4, 150.0])
        .numbers("change_rate", &[0.5, 2.0, 4.0, 0.05])
        .numbers("complete", &[0.0, 1.0, 0.0, 1.0]);
    for name in ["s.jsonl", "s.ndjson.gz", "s.parquet", "s.csv.gz"] {
        write(&folder.path(name), &table).unwrap();
    }
    folder
}

#[test]
fn the_same_plan_from_every_format_and_from_standard_input() {
    let folder = folder();
    let expect = folder.rows("plan s.csv --budget 3/day");
    assert_eq!(expect.0.lines().count(), 5);
    for name in ["s.tsv", "s.jsonl", "s.ndjson.gz", "s.parquet", "s.csv.gz"] {
        assert_eq!(folder.rows(&format!("plan {name} --budget 3/day")), expect, "{name}");
    }
    let piped = folder.run_with(CSV, &format!("plan - {PLAN} -"));
    assert_eq!((piped.code, piped.out), (Some(0), expect.0));
}

/// Writes the plan to a file and compares its cells, where a missing value is an empty text.
#[track_caller]
fn check(name: &str, cells: impl Fn(&Folder) -> Vec<[String; 6]>) {
    let folder = folder();
    let ran = folder.run(&format!("plan s.csv {PLAN} {name}"));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let rows = folder.rows("plan s.csv --budget 3/day");
    let expect: Vec<[String; 6]> = rows.0.lines().skip(1).map(|line| split(line, ',')).collect();
    assert_eq!(cells(&folder), expect);
}

fn split(line: &str, separator: char) -> [String; 6] {
    let cells: Vec<String> = line.split(separator).map(str::to_owned).collect();
    cells.try_into().unwrap()
}

#[test]
fn a_plan_as_csv() {
    check("p.csv", |folder| {
        folder.read("p.csv").lines().skip(1).map(|line| split(line, ',')).collect()
    });
}

#[test]
fn a_plan_as_tsv() {
    check("p.tsv", |folder| {
        folder.read("p.tsv").lines().skip(1).map(|line| split(line, '\t')).collect()
    });
}

const COLUMNS: [&str; 6] = ["id", "rate", "interval", "probability", "threshold", "value"];

#[test]
fn a_plan_as_json_lines() {
    check("p.jsonl", |folder| {
        let text = folder.read("p.jsonl");
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| COLUMNS.map(|column| json_cell(&row[column]))).collect()
    });
}

fn json_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => plain(other.as_f64().unwrap()),
    }
}

/// Formats a number as in CSV.
fn plain(number: f64) -> String {
    number.to_string()
}

#[test]
fn a_plan_as_parquet() {
    check("p.parquet", |folder| {
        let file = std::fs::File::open(folder.path("p.parquet")).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        let columns = COLUMNS.map(|name| batches[0].column_by_name(name).unwrap());
        (0..batches[0].num_rows())
            .map(|row| columns.map(|column| arrow_cell(column, row)))
            .collect()
    });
}

fn arrow_cell(column: &arrow_array::ArrayRef, row: usize) -> String {
    use arrow_array::cast::AsArray;
    use arrow_array::{Array, types::Float64Type};
    if column.is_null(row) {
        return String::new();
    }
    match column.as_string_opt::<i32>() {
        Some(texts) => texts.value(row).to_owned(),
        None => plain(column.as_primitive::<Float64Type>().value(row)),
    }
}

#[test]
fn a_compressed_plan_has_the_same_content() {
    let folder = folder();
    for name in ["p.csv", "p.csv.gz"] {
        assert_eq!(folder.run(&format!("plan s.csv {PLAN} {name}")).code, Some(0));
    }
    let packed = std::fs::read(folder.path("p.csv.gz")).unwrap();
    let mut plain = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut plain)
        .unwrap();
    assert_eq!(plain, folder.read("p.csv"));
}
