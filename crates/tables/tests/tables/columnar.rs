use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, UInt8Array, UInt64Array,
};
use freshet_model::{HostColumn, SourceTable};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::read_path;

fn save(path: &Path, columns: &[(&str, ArrayRef)], compression: Compression) {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(columns: &[(&str, ArrayRef)]) -> Result<SourceTable, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.parquet");
    save(&path, columns, Compression::SNAPPY);
    let prefix = format!("{}/", directory.path().display());
    read_path(&path, false)
        .map(|sources| sources.table)
        .map_err(|error| error.to_string().replace(&prefix, ""))
}

fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn rates() -> (&'static str, ArrayRef) {
    ("change_rate", array(Float64Array::from(vec![0.5, 2.0])))
}

#[track_caller]
fn check_error(columns: &[(&str, ArrayRef)], expect: &str) {
    assert_eq!(read(columns), Err(expect.to_owned()));
}

#[test]
fn texts_and_numbers_of_every_type() {
    let dictionary: DictionaryArray<Int8Type> = ["a", "b"].into_iter().collect();
    let texts: [ArrayRef; 5] = [
        array(StringArray::from(vec!["a", "b"])),
        array(LargeStringArray::from(vec!["a", "b"])),
        array(StringViewArray::from(vec!["a", "b"])),
        array(BinaryArray::from(vec![&b"a"[..], b"b"])),
        array(dictionary),
    ];
    let decimals = Decimal128Array::from(vec![50, 200]).with_precision_and_scale(5, 2).unwrap();
    let numbers: [ArrayRef; 3] = [
        array(Float64Array::from(vec![0.5, 2.0])),
        array(Float32Array::from(vec![0.5, 2.0])),
        array(decimals),
    ];
    for text in texts {
        for number in &numbers {
            let columns = [
                ("id", Arc::clone(&text)),
                ("host", Arc::clone(&text)),
                ("change_rate", number.clone()),
            ];
            let table = read(&columns).unwrap();
            assert_eq!(table.ids.unwrap().iter().collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(table.hosts.unwrap().index_by_source, [0, 1]);
            assert_eq!(table.change_rate, [0.5, 2.0]);
        }
    }
}

#[test]
fn integers_flags_and_nulls() {
    let table = read(&[
        ("id", array(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("importance", array(Int32Array::from(vec![None, Some(3)]))),
        ("change_rate", array(UInt8Array::from(vec![1, 2]))),
        ("complete", array(BooleanArray::from(vec![Some(true), None]))),
        ("cost", array(Int64Array::from(vec![Some(2), None]))),
        ("max_rate", array(Float64Array::from(vec![None, Some(f64::INFINITY)]))),
        ("host", array(Int64Array::from(vec![-7, -7]))),
    ]);
    let expect = SourceTable {
        ids: Some(["18446744073709551615", "2"].into_iter().collect()),
        importance: vec![1.0, 3.0],
        change_rate: vec![1.0, 2.0],
        observed: Some(vec![true, false]),
        cost: Some(vec![2.0, 1.0]),
        min_rate: None,
        max_rate: Some(vec![f64::INFINITY; 2]),
        hosts: Some(HostColumn {
            names: ["-7"].into_iter().collect(),
            index_by_source: vec![0, 0],
        }),
    };
    assert_eq!(table, Ok(expect));
}

#[test]
fn a_source_without_a_host_has_the_empty_name() {
    for (cells, names, of_source) in [
        ([Some("x"), None], &["x", ""][..], [0, 1]),
        ([Some(""), Some("x")], &["", "x"], [0, 1]),
        ([None, Some("")], &[""], [0, 0]),
    ] {
        let table = read(&[rates(), ("host", array(StringArray::from(cells.to_vec())))]).unwrap();
        let hosts = table.hosts.unwrap();
        assert_eq!(hosts.names.iter().collect::<Vec<_>>(), names);
        assert_eq!(hosts.index_by_source, of_source);
    }
}

#[test]
fn every_common_compression_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
    ];
    for codec in codecs {
        let path = directory.path().join("s.parquet");
        save(&path, &[rates()], codec);
        assert_eq!(read_path(&path, false).unwrap().table.change_rate, [0.5, 2.0]);
    }
}

#[test]
fn what_is_wrong_is_named_with_row_and_column() {
    let numbers = |a: f64, b: f64| array(Float64Array::from(vec![a, b]));
    let texts = |a: &'static str, b: &'static str| array(StringArray::from(vec![a, b]));
    check_error(
        &[("change_rate", numbers(1.0, -3.0))],
        "s.parquet: row 2: change_rate: `-3` is negative",
    );
    check_error(
        &[("change_rate", numbers(f64::NAN, 1.0))],
        "s.parquet: row 1: change_rate: `NaN` is not a finite number",
    );
    check_error(
        &[("change_rate", numbers(1.0, 1e-99))],
        "s.parquet: row 2: change_rate: `1e-99` is outside 1e-30 to 1e30",
    );
    check_error(
        &[("change_rate", array(Float64Array::from(vec![Some(1.0), None])))],
        "s.parquet: row 2: change_rate: no value",
    );
    check_error(
        &[rates(), ("id", texts("x", "x"))],
        "s.parquet: row 2: id: `x` was seen before, in row 1",
    );
    check_error(
        &[rates(), ("complete", numbers(0.0, 0.5))],
        "s.parquet: row 2: complete: `0.5` is not 0, 1, true or false",
    );
    check_error(
        &[rates(), ("max_rate", numbers(1.0, 1.0)), ("min_rate", numbers(0.0, 2.0))],
        "s.parquet: row 2: max_rate: `1` is below min_rate `2`",
    );
    check_error(
        &[("change_rate", texts("1", "2"))],
        "s.parquet: change_rate: a column of type Utf8, but numbers expected",
    );
    check_error(
        &[rates(), ("id", numbers(1.0, 2.0))],
        "s.parquet: id: a column of type Float64, but text or integers expected",
    );
    check_error(
        &[rates(), ("rank", numbers(1.0, 2.0))],
        "s.parquet: unknown column `rank` (known: id, importance, change_rate, complete, host, \
         cost, min_rate, max_rate)",
    );
    check_error(&[("id", texts("1", "2"))], "s.parquet: no column `change_rate`");
    check_error(
        &[("change_rate", array(Float64Array::from(Vec::<f64>::new())))],
        "s.parquet: no sources",
    );
}

#[test]
fn extra_columns_can_be_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.parquet");
    let title = ("title", array(StringArray::from(vec!["x", "y"])));
    save(&path, &[title.clone(), rates(), ("note", title.1)], Compression::UNCOMPRESSED);
    assert_eq!(read_path(&path, true).unwrap().table.change_rate, [0.5, 2.0]);
}

#[test]
fn what_is_no_parquet_says_so() {
    let message = |bytes: &[u8]| crate::read_bytes("s.parquet", bytes, false).unwrap_err();
    for bytes in [&b""[..], b"id,change_rate\n1,2\n", b"PAR1", b"PAR1\0\0\0\0\xFF\xFF\xFF\xFFPAR1"]
    {
        let message = message(bytes);
        assert!(message.starts_with("s.parquet: not a readable Parquet file: "), "{message}");
    }
}
