use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use freshet_model::{HostColumn, SourceTable};
use freshet_tables::{Input, Progress, ReadOptions, read};

use crate::read_bytes;

#[track_caller]
fn check(text: &str, expect: &SourceTable) {
    assert_eq!(read_bytes("s.csv", text.as_bytes(), false).as_ref(), Ok(expect));
}

#[track_caller]
fn check_error(text: impl AsRef<[u8]>, expect: &str) {
    assert_eq!(read_bytes("s.csv", text.as_ref(), false), Err(expect.to_owned()));
}

fn rates<const N: usize>(change_rate: [f64; N]) -> SourceTable {
    SourceTable {
        importance: vec![1.0; N],
        change_rate: change_rate.to_vec(),
        ..SourceTable::default()
    }
}

#[test]
fn columns_that_are_absent_stay_absent() {
    check("change_rate\n0.5\n0\n", &rates([0.5, 0.0]));
}

#[test]
fn every_column_in_any_order_with_defaults_for_empty_cells() {
    let text = "max_rate,host,complete,id,change_rate,min_rate,cost,importance\n\
                3,b.org,1,x,0.5,1,2,7\n\
                ,a.org,,,2,,,\n\
                inf,b.org,True,\"y,\"\"z\"\"\",1e3,0, 4 ,0\n";
    check(
        text,
        &SourceTable {
            ids: Some(["x", "2", "y,\"z\""].into_iter().collect()),
            importance: vec![7.0, 1.0, 0.0],
            change_rate: vec![0.5, 2.0, 1000.0],
            observed: Some(vec![true, false, true]),
            cost: Some(vec![2.0, 1.0, 4.0]),
            min_rate: Some(vec![1.0, 0.0, 0.0]),
            max_rate: Some(vec![3.0, f64::INFINITY, f64::INFINITY]),
            hosts: Some(HostColumn {
                names: ["b.org", "a.org"].into_iter().collect(),
                index_by_source: vec![0, 1, 0],
            }),
        },
    );
}

#[test]
fn a_source_without_a_host_has_the_empty_name() {
    let with = |names: &[&str], of_source: [u32; 3]| SourceTable {
        hosts: Some(HostColumn {
            names: names.iter().copied().collect(),
            index_by_source: of_source.to_vec(),
        }),
        ..rates([1.0, 2.0, 3.0])
    };
    check("change_rate,host\n1,a\n2,\n3,a\n", &with(&["a", ""], [0, 1, 0]));
    check("host,change_rate\n,1\n,2\n\"\",3\n", &with(&[""], [0, 0, 0]));
}

#[test]
fn line_ends_marks_and_blank_lines_do_not_matter() {
    for text in [
        "\u{feff}change_rate\r\n1\r\n2",
        "\n\nchange_rate\n\n1\n\n\n2\n\n",
        "change_rate\r1\r2\r",
        " change_rate \n 1\n2 \n",
        "\"change_rate\"\n\"1\"\n2\n",
    ] {
        check(text, &rates([1.0, 2.0]));
    }
}

#[test]
fn tabs_and_gzip_by_extension() {
    let expect = SourceTable { ids: Some(["a,b"].into_iter().collect()), ..rates([2.0]) };
    assert_eq!(read_bytes("s.tsv", b"id\tchange_rate\na,b\t2\n", false).as_ref(), Ok(&expect));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"id,change_rate\n\"a,b\",2\n").unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(read_bytes("s.csv.gz", &packed, false).as_ref(), Ok(&expect));
    let message = read_bytes("s.csv.gz", &packed[..packed.len() - 9], false).unwrap_err();
    assert!(message.starts_with("s.csv.gz: cannot be read: "), "{message}");
}

#[test]
fn bad_values_name_file_line_column_and_value() {
    check_error("change_rate\n-3\n", "s.csv:2: change_rate: `-3` is negative");
    check_error("id,change_rate\na,\n", "s.csv:2: change_rate: no value");
    check_error("id,change_rate\na, \n", "s.csv:2: change_rate: no value");
    check_error("change_rate\n1\nfast\n", "s.csv:3: change_rate: `fast` is not a number");
    check_error("change_rate\nNaN\n", "s.csv:2: change_rate: `NaN` is not a finite number");
    check_error("change_rate\n1e-70\n", "s.csv:2: change_rate: `1e-70` is outside 1e-30 to 1e30");
    check_error(
        "change_rate,importance\n1,inf\n",
        "s.csv:2: importance: `inf` is not a finite number",
    );
    check_error("change_rate,cost\n1,0\n", "s.csv:2: cost: `0` is not above 0");
    check_error(
        "change_rate,complete\n1,yes\n",
        "s.csv:2: complete: `yes` is not 0, 1, true or false",
    );
    check_error(
        "min_rate,max_rate,change_rate\n2,2,1\n2,1.5,1\n",
        "s.csv:3: max_rate: `1.5` is below min_rate `2`",
    );
}

#[test]
fn lines_are_those_of_the_file() {
    check_error(
        "\u{feff}id,change_rate\r\n\r\n\"a\nb\",1\r\n\r\nc,-1\r\n",
        "s.csv:6: change_rate: `-1` is negative",
    );
    check_error("id,change_rate\na,1\nb\n", "s.csv:3: 1 cell, but 2 expected");
    check_error("id,change_rate\na,1\nb,2,3\n", "s.csv:3: 3 cells, but 2 expected");
    check_error(b"id,change_rate\na,1\n\n\xFFb,2\n", "s.csv:4: not UTF-8");
    check_error(b"\xFF\xFEi\0d\0", "s.csv:1: not UTF-8");
    check_error("change_rate\n\"1\n2\n", "s.csv:2: a quote is opened here and not closed");
}

#[test]
fn a_duplicate_id_names_both_lines() {
    check_error(
        "id,change_rate\na,1\n\nb,1\n\"b\nc\",1\n\na,1\nd,1\n",
        "s.csv:8: id: `a` was seen before, on line 2",
    );
    // An id that was not given is the row number, which may be taken.
    check_error("id,change_rate\n2,1\n,1\n", "s.csv:3: id: `2` was seen before, on line 2");
}

#[test]
fn a_duplicate_id_comes_before_what_is_wrong_after_it() {
    for later in ["c,-1\n", "c\n", "\"c", "a,1\n"] {
        check_error(
            format!("id,change_rate\na,1\na,1\nb,1\n{later}"),
            "s.csv:3: id: `a` was seen before, on line 2",
        );
    }
}

#[test]
fn columns_must_be_known_and_distinct() {
    let known = "known: id, importance, change_rate, complete, host, cost, min_rate, max_rate";
    check_error(
        "id,chnage_rate\na,1\n",
        &format!("s.csv: unknown column `chnage_rate` ({known}; did you mean `change_rate`?)"),
    );
    check_error(
        "url,change_rate,Importance\na,1\n",
        &format!(
            "s.csv: unknown columns `url`, `Importance` ({known}; \
             did you mean `importance` for `Importance`?)"
        ),
    );
    check_error("id,change_rate,id\n", "s.csv: column `id` occurs twice");
    check_error("id,importance\na,1\n", "s.csv: no column `change_rate`");
    let text = b"title,change_rate,title\nx,1,y\n";
    assert_eq!(read_bytes("s.csv", text, true), Ok(rates([1.0])));
}

#[test]
fn a_table_has_rows() {
    check_error("", "s.csv: empty");
    check_error("\u{feff}\r\n\n", "s.csv: empty");
    check_error("change_rate\n", "s.csv: no sources");
    check_error("change_rate", "s.csv: no sources");
}

#[test]
fn hints_say_what_to_do() {
    let hint = |name: &str, text: &str| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        crate::read_path(&path, false).unwrap_err().hint()
    };
    assert_eq!(
        hint("s.csv", "title,change_rate\n").as_deref(),
        Some("use --ignore-extra to skip columns that freshet does not know")
    );
    assert_eq!(
        hint("s.csv", "id;change_rate\n1;2\n").as_deref(),
        Some("separate the cells by commas, or name the file .tsv if they are separated by tabs")
    );
    assert_eq!(hint("s.csv", "change_rate\n-1\n"), None);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = crate::read_path(std::path::Path::new("no/such.csv"), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no/such.csv: cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn progress_rises_to_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.csv");
    std::fs::write(&path, format!("change_rate\n{}", "0.25\n".repeat(200_000))).unwrap();
    let mut reports: Vec<Progress> = Vec::new();
    let options = ReadOptions { ignore_extra: false, estimate: &|_| 0.0 };
    let sources = read(&Input::File(path), &options, &mut |at| reports.push(at)).unwrap();
    assert_eq!(sources.table.len(), 200_000);
    assert_eq!(reports.iter().map(|at| at.rows).collect::<Vec<_>>(), [65536, 131_072, 196_608]);
    assert!(reports.is_sorted_by_key(|at| at.fraction));
    assert!(reports[2].fraction.unwrap() > 0.9 && reports[2].fraction.unwrap() <= 1.0);
}
