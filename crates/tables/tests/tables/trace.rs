use std::path::Path;

use freshet_model::{ChangeTrace, PackedStrings, TimeRange};
use freshet_tables::{Input, TableError, pages_beside, read_trace, write_trace};
use proptest::prelude::*;

/// Reads a trace and its pages from files of these texts: a line for each source, or the message
/// without the directory.
fn read(trace: &str, pages: Option<&str>, ignore_extra: bool) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().unwrap();
    let (trace_path, pages_path) = (directory.path().join("t.csv"), directory.path().join("p.csv"));
    std::fs::write(&trace_path, trace).unwrap();
    let pages = pages.map(|text| {
        std::fs::write(&pages_path, text).unwrap();
        Input::File(pages_path)
    });
    let prefix = format!("{}/", directory.path().display());
    let history = read_trace(&Input::File(trace_path), pages.as_ref(), ignore_extra, &mut |_| {});
    history.map(|history| lines(&history)).map_err(|error| {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{error}{hint}").replace(&prefix, "")
    })
}

fn lines(history: &ChangeTrace) -> Vec<String> {
    let line = |(source, (id, life)): (usize, (&str, &TimeRange))| {
        let TimeRange { start: birth, end } = life;
        format!("{id} {birth} to {end}: {:?}", history.change_times(source))
    };
    history.ids.iter().zip(&history.lifetimes).enumerate().map(line).collect()
}

#[track_caller]
fn check(trace: &str, pages: Option<&str>, expect: &[&str]) {
    let expect: Vec<String> = expect.iter().map(|&line| line.to_owned()).collect();
    assert_eq!(read(trace, pages, false), Ok(expect));
}

#[track_caller]
fn check_fault(trace: &str, pages: Option<&str>, expect: &str) {
    assert_eq!(read(trace, pages, false), Err(expect.to_owned()));
}

const PAGES: &str = "page_id,birth_unix,end_unix\na,10,90\nb,0,50.5\n";

#[test]
fn changes_alone() {
    check(
        "unix_time,page_id\n30,b\n20.5,a\n30,b\n\n1e1,\"x,\"\"y\"\n",
        None,
        &["b 10 to 30: [30.0, 30.0]", "a 10 to 30: [20.5]", "x,\"y 10 to 30: [10.0]"],
    );
}

#[test]
fn changes_with_their_pages() {
    check(
        "page_id,unix_time\na,90\na,10\n",
        Some(PAGES),
        &["a 10 to 90: [10.0, 90.0]", "b 0 to 50.5: []"],
    );
    check("page_id,unix_time\n", Some(PAGES), &["a 10 to 90: []", "b 0 to 50.5: []"]);
    check(
        "page_id,unix_time\n7,5\n",
        Some("path,n_changes,end_unix,birth_unix,page_id\ndocs/x,1,5,5,7\n,,9,1,8\n"),
        &["docs/x 5 to 5: [5.0]", "8 1 to 9: []"],
    );
}

#[test]
fn extra_columns_are_named_or_skipped() {
    let trace = "page_id,author,unix_time\na,me,12\n";
    check_fault(trace, None, "t.csv: unknown column `author` (known: page_id, unix_time)");
    check_fault(
        "page_id,unixtime\na,12\n",
        None,
        "t.csv: unknown column `unixtime` (known: page_id, unix_time; did you mean `unix_time`?)",
    );
    let pages = "page_id,birth_unix,end_unix,size\na,10,90,3\n";
    check_fault(
        "page_id,unix_time\na,12\n",
        Some(pages),
        "p.csv: unknown column `size` (known: page_id, birth_unix, end_unix, n_changes, path)",
    );
    let expect = Ok(vec!["a 10 to 90: [12.0]".to_owned()]);
    assert_eq!(read(trace, Some(pages), true), expect);
}

#[test]
fn bad_changes() {
    check_fault("", None, "t.csv: empty");
    check_fault("page_id,unix_time\n", None, "t.csv: no sources");
    check_fault("page_id\n1\n", None, "t.csv: no column `unix_time`");
    check_fault(
        "1,1600000000\n",
        None,
        "t.csv: unknown columns `1`, `1600000000` (known: page_id, unix_time)",
    );
    check_fault("page_id,unix_time,unix_time\n", None, "t.csv: column `unix_time` occurs twice");
    let row = |row: &str| format!("page_id,unix_time\na,12\n{row}\n");
    check_fault(
        &row("a"),
        None,
        "t.csv:3: 1 cell, but 2 expected; put values that hold the separator in double quotes",
    );
    check_fault(&row(",5"), None, "t.csv:3: page_id: no value");
    check_fault(&row("a,"), None, "t.csv:3: unix_time: no value");
    check_fault(&row("a,NaN"), None, "t.csv:3: unix_time: `NaN` is not a finite number");
    check_fault(&row("a,inf"), None, "t.csv:3: unix_time: `inf` is not a finite number");
    check_fault(&row("a,-5"), None, "t.csv:3: unix_time: `-5` is negative");
    check_fault(&row("a,noon"), None, "t.csv:3: unix_time: `noon` is not a number");
    check_fault(
        &row("a,1600000000000"),
        None,
        "t.csv:3: unix_time: `1600000000000` is more than 1e12 seconds after 1970; give seconds, \
         not milliseconds",
    );
}

#[test]
fn changes_that_do_not_fit_their_pages() {
    let row = |row: &str| format!("page_id,unix_time\na,12\n{row}\n");
    check_fault(
        &row("c,12"),
        Some(PAGES),
        "t.csv:3: page_id: `c` is not in p.csv; give the file of pages that belongs to the trace, \
         with a row for each page",
    );
    check_fault(&row("a,9"), Some(PAGES), "t.csv:3: unix_time: `9` is before birth_unix `10`");
    check_fault(&row("b,51"), Some(PAGES), "t.csv:3: unix_time: `51` is after end_unix `50.5`");
    check_fault(
        "page_id,unix_time\na,12\n",
        Some("page_id,birth_unix,end_unix,n_changes\nb,0,90,0\na,0,90,3\n"),
        "p.csv:3: n_changes: `3`, but the trace has 1; give the file of pages that belongs to the \
         trace; if the trace was cut on purpose, remove the column n_changes",
    );
}

#[test]
fn bad_pages() {
    let trace = "page_id,unix_time\na,12\n";
    let row =
        |row: &str| format!("page_id,birth_unix,end_unix,n_changes,path\na,10,90,1,x\n\n{row}\n");
    let check_row = |text: &str, expect: &str| check_fault(trace, Some(&row(text)), expect);
    check_fault(trace, Some(""), "p.csv: empty");
    check_fault(trace, Some("page_id,birth_unix,end_unix\n"), "p.csv: no sources");
    check_fault(trace, Some("page_id,birth_unix\n"), "p.csv: no column `end_unix`");
    check_row("b,90,10,0,y", "p.csv:4: end_unix: `10` is before birth_unix `90`");
    check_row("b,x,10,0,y", "p.csv:4: birth_unix: `x` is not a number");
    check_row("b,1,,0,y", "p.csv:4: end_unix: no value");
    check_row(",1,2,0,y", "p.csv:4: page_id: no value");
    check_row("b,1,2,-1,y", "p.csv:4: n_changes: `-1` is negative");
    let keep = "keep one of the two rows";
    check_row("a,1,2,0,y", &format!("p.csv:4: page_id: `a` was seen before, on line 2; {keep}"));
    check_row("b,1,2,0,x", &format!("p.csv:4: path: `x` was seen before, on line 2; {keep}"));
}

#[test]
fn a_trace_is_known_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let check = |input: &Input, expect: &str, hint: &str| {
        let error = read_trace(input, None, false, &mut |_| {}).unwrap_err();
        let plain = |text: String| text.replace(directory.path().to_str().unwrap(), "D");
        assert_eq!(plain(error.to_string()), expect);
        assert_eq!(error.hint().map(plain).as_deref(), Some(hint));
    };
    check(
        &Input::File("t.txt".into()),
        "t.txt: a trace is a file named .csv or .csv.gz",
        "choose a name such as trace.csv.gz",
    );
    check(
        &Input::from_argument(directory.path()),
        "D: a trace is a file named .csv or .csv.gz",
        "if it is a git repository, make a trace of it: `freshet trace git D -o trace.csv`",
    );
}

fn three() -> ChangeTrace {
    let ids: PackedStrings = ["a,\"b\"\n", " c ", "é\r"].into_iter().collect();
    let lives = vec![
        TimeRange { start: 0.0, end: 2e9 },
        TimeRange { start: 0.1 + 0.2, end: 7.0 },
        TimeRange { start: 5.0, end: 5.0 },
    ];
    ChangeTrace::new(
        ids,
        lives,
        &[(1, 7.0), (0, 1e9 + 0.25), (1, 0.5), (0, 7.0), (0, 7.0), (2, 5.0)],
    )
}

fn round_trip(history: &ChangeTrace, name: &str) -> ChangeTrace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    write_trace(&path, history).unwrap();
    let pages = Input::File(pages_beside(&path).unwrap());
    read_trace(&Input::File(path), Some(&pages), false, &mut |_| {}).unwrap()
}

#[test]
fn what_is_written_is_sorted_by_time_and_reads_back() {
    for name in ["t.csv", "t.csv.gz", "T.v1.CSV"] {
        assert_eq!(round_trip(&three(), name), three(), "{name}");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    write_trace(&path, &three()).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "page_id,unix_time\n1,0.5\n2,5\n0,7\n0,7\n1,7\n0,1000000000.25\n"
    );
    assert_eq!(
        std::fs::read_to_string(directory.path().join("t_pages.csv")).unwrap(),
        "page_id,birth_unix,end_unix,n_changes,path\n0,0,2000000000,3,\"a,\"\"b\"\"\n\"\n\
         1,0.30000000000000004,7,2, c \n2,5,5,1,\"é\r\"\n"
    );
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_trace_that_cannot_be_written_leaves_both_files_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let pages = directory.path().join("t_pages.csv");
    std::fs::write(&pages, "old").unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = write_trace(&path, &three()).unwrap_err();
    assert!(matches!(&error, TableError::Write { path: at, .. } if *at == path), "{error}");
    assert_eq!(std::fs::read_to_string(&pages).unwrap(), "old");
    assert_eq!(names(directory.path()), ["t.csv", "t_pages.csv"]);

    let error = write_trace(&directory.path().join("t.parquet"), &three()).unwrap_err();
    assert!(matches!(error, TableError::NotATrace { .. }), "{error}");
}

#[test]
fn the_pages_beside_a_trace_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    assert_eq!(pages_beside(&at("t.csv.gz")), None);
    std::fs::write(at("t_pages.csv"), "").unwrap();
    assert_eq!(pages_beside(&at("t.csv.gz")), Some(at("t_pages.csv")));
    std::fs::write(at("t_pages.csv.gz"), "").unwrap();
    assert_eq!(pages_beside(&at("t.csv.gz")), Some(at("t_pages.csv.gz")));
    assert_eq!(pages_beside(&at("t.csv")), Some(at("t_pages.csv")));
    assert_eq!(pages_beside(&at("t.txt")), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_history_reads_back(
        pages in prop::collection::btree_map("[a,\"\r\n \u{feff}é]{1,6}", (0.0..1e12_f64, 0.0..1e11_f64), 1..20),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0.0..=1.0_f64), 0..60),
    ) {
        let ids: PackedStrings = pages.keys().map(String::as_str).collect();
        let lives: Vec<TimeRange> = pages
            .values()
            .map(|&(birth, length)| TimeRange { start: birth, end: (birth + length).min(1e12) })
            .collect();
        let changes: Vec<(u32, f64)> = changes
            .iter()
            .map(|(page, part)| {
                let page = page.index(lives.len());
                let TimeRange { start: birth, end } = lives[page];
                (page as u32, (birth + part * (end - birth)).clamp(birth, end))
            })
            .collect();
        let history = ChangeTrace::new(ids, lives, &changes);
        prop_assert_eq!(round_trip(&history, "t.csv"), history);
    }

    #[test]
    fn any_bytes_end_in_a_history_or_an_error(
        trace in "(page_id,unix_time\n)?(a|b|1|9|e|,|\"|\n|\r|-|\\.){0,40}",
        pages in prop::option::of("(page_id,birth_unix,end_unix\n)?(a|b|1|9|,|\"|\n|\\.){0,40}"),
    ) {
        if let Ok(lines) = read(&trace, pages.as_deref(), true) {
            prop_assert!(!lines.is_empty());
        }
    }
}
