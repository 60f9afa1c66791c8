use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use freshet_model::PackedStrings;
use freshet_tables::{
    Format, PlanRows, Table, TableError, write, write_atomic, write_csv, write_to,
};

const NAN: f64 = f64::NAN;

fn text(format: Format, table: &Table<'_>) -> String {
    let mut bytes = Vec::new();
    write_to(&mut bytes, format, table).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn jsonl() -> Format {
    Format::of(Path::new("x.jsonl")).unwrap()
}

#[test]
fn plans_as_text() {
    let ids: PackedStrings = ["a", "b,\"c\"\n", "d"].into_iter().collect();
    let plan = PlanRows {
        ids: Some(&ids),
        rate: &[0.5, 0.0, 3.0],
        probability: Some(&[NAN, 0.1, NAN]),
        threshold: None,
        value: &[1e-7, 2.0, 0.1 + 0.2],
    };
    let mut bytes = Vec::new();
    write_csv(&mut bytes, &plan.table()).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "id,rate,interval,probability,threshold,value\n\
         a,0.5,2,,,1e-7\n\
         \"b,\"\"c\"\"\n\",0,inf,0.1,,2\n\
         d,3,0.3333333333333333,,,0.30000000000000004\n"
    );
    let rows = PlanRows { ids: None, rate: &[0.0], value: &[5.0], probability: None, ..plan };
    let rows = PlanRows { threshold: Some(&[4.0]), ..rows };
    assert_eq!(
        text(jsonl(), &rows.table()),
        "{\"id\":\"1\",\"rate\":0,\"interval\":null,\"probability\":null,\"threshold\":4,\"value\":5}\n"
    );
}

#[test]
fn a_column_alone_has_no_blank_lines() {
    let table = Table::new(2).numbers("age", &[NAN, 1.0]);
    assert_eq!(text(Format::CSV, &table), "age\n\"\"\n1\n");
}

#[test]
fn plans_as_parquet() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan.parquet");
    let (rate, value) = ([0.0, 4.0], [1.0, 2.0]);
    let plan =
        PlanRows { ids: None, rate: &rate, probability: None, threshold: None, value: &value };
    write(&path, &plan.table()).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batch = reader.next().unwrap().unwrap();
    let names: Vec<String> =
        batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["id", "rate", "interval", "probability", "threshold", "value"]);
    assert_eq!(batch.column(0).as_string::<i32>().value(1), "2");
    let interval = batch.column(2).as_primitive::<Float64Type>();
    assert_eq!(interval.values()[..], [f64::INFINITY, 0.25]);
    assert_eq!((batch.column(3).null_count(), batch.column(5).null_count()), (2, 0));
}

fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_failure_leaves_what_was_there_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.svg");
    let fail = |out: &mut (dyn Write + Send)| {
        out.write_all(&[b'x'; 100_000])?;
        Err(io::Error::other("no more"))
    };
    let message = |error: TableError| error.to_string();
    let expect = format!("{}: cannot be written: no more", path.display());
    assert_eq!(write_atomic(&path, fail).map_err(message), Err(expect.clone()));
    assert!(files(directory.path()).is_empty());
    write_atomic(&path, |out| out.write_all(b"old")).unwrap();
    assert_eq!(write_atomic(&path, fail).map_err(message), Err(expect));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    write_atomic(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(files(directory.path()), ["x.svg"]);
}

#[test]
fn permissions_are_those_of_any_new_file_or_of_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let path = directory.path().join("x.csv");
    write_atomic(&path, |_| Ok(())).unwrap();
    assert_eq!(mode(&path), mode(&plain));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    write_atomic(&path, |_| Ok(())).unwrap();
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn links_are_followed_and_devices_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (directory.path().join("target"), directory.path().join("link"));
    std::fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    write_atomic(&link, |out| out.write_all(b"new")).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read(&target).unwrap(), b"new");
    write_atomic(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let message = |path: &Path| {
        write(path, &Table::new(0))
            .unwrap_err()
            .to_string()
            .replace(directory.path().to_str().unwrap(), "D")
    };
    let nowhere = message(&directory.path().join("no/plan.csv"));
    assert!(
        nowhere.starts_with("D/no/plan.csv: cannot be written: No such file or directory"),
        "{nowhere}"
    );
    assert_eq!(
        message(&directory.path().join("plan.xls")),
        "D/plan.xls: unknown extension (known: .csv, .tsv, .jsonl, .ndjson, each also with .gz, and .parquet)"
    );
    std::fs::create_dir(directory.path().join("d.csv")).unwrap();
    assert_eq!(
        message(&directory.path().join("d.csv")),
        "D/d.csv: cannot be written: Is a directory (os error 21)"
    );
}
