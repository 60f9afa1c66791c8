use freshet_model::{HostColumn, SourceTable};

use crate::read_bytes;

#[track_caller]
fn check(text: &str, expect: Result<SourceTable, &str>) {
    assert_eq!(read_bytes("s.jsonl", text.as_bytes(), false), expect.map_err(str::to_owned));
}

#[test]
fn columns_may_begin_on_any_line() {
    let text = "{\"change_rate\": 1, \"host\": \"a\"}\r\n\n\
                {\"id\": 17, \"change_rate\": 2.5e-1, \"complete\": true, \"host\": 5}\n\
                {\"max_rate\": 4, \"cost\": null, \"change_rate\": 0, \"id\": \"\\u00e9\\n\", \"host\": \"a\"}";
    check(
        text,
        Ok(SourceTable {
            ids: Some(["1", "17", "é\n"].into_iter().collect()),
            importance: vec![1.0; 3],
            change_rate: vec![1.0, 0.25, 0.0],
            observed: Some(vec![false, true, false]),
            max_rate: Some(vec![f64::INFINITY, f64::INFINITY, 4.0]),
            hosts: Some(HostColumn {
                names: ["a", "5"].into_iter().collect(),
                index_by_source: vec![0, 1, 0],
            }),
            ..SourceTable::default()
        }),
    );
}

#[test]
fn bad_values_name_file_line_column_and_value() {
    let line = |cells: &str| format!("{{\"change_rate\":1}}\n\n{{{cells}}}\n");
    let check = |cells: &str, message: &str| check(&line(cells), Err(message));
    check("\"change_rate\":-3", "s.jsonl:3: change_rate: `-3` is negative");
    check("\"change_rate\":null", "s.jsonl:3: change_rate: no value");
    check("\"id\":\"a\"", "s.jsonl:3: change_rate: no value");
    check("\"change_rate\":\"3\"", "s.jsonl:3: change_rate: `\"3\"` is not a number");
    check("\"change_rate\":[3]", "s.jsonl:3: change_rate: `[3]` is not a number");
    check("\"change_rate\":1e-400", "s.jsonl:3: change_rate: `1e-400` is outside 1e-30 to 1e30");
    check("\"change_rate\":1e400", "s.jsonl:3: change_rate: `1e400` is outside 1e-30 to 1e30");
    check("\"change_rate\":1,\"id\":1.5", "s.jsonl:3: id: `1.5` is neither text nor an integer");
    check("\"change_rate\":1,\"id\":\"1\"", "s.jsonl:3: id: `1` was seen before, on line 1");
    check(
        "\"change_rate\":1,\"complete\":\"1\"",
        "s.jsonl:3: complete: `\"1\"` is not 0, 1, true or false",
    );
    check("\"change_rate\":1,\"change_rate\":1", "s.jsonl:3: column `change_rate` occurs twice");
    check(
        "\"change_rate\":1,\"max_rate\":1,\"min_rate\":2",
        "s.jsonl:3: max_rate: `1` is below min_rate `2`",
    );
    check(
        "\"change_rate\":1,\"Cost\":1",
        "s.jsonl:3: unknown column `Cost` (known: id, importance, change_rate, complete, host, \
         cost, min_rate, max_rate; did you mean `cost`?)",
    );
}

#[test]
fn a_line_that_is_no_object_says_where_it_goes_wrong() {
    check("[1]\n", Err("s.jsonl:1: not a JSON object: invalid type: sequence, expected an object"));
    check(
        "{\"change_rate\":1}\n{\"change_rate\":1",
        Err("s.jsonl:2: not a JSON object: EOF while parsing an object at column 16"),
    );
    check(
        "{\"change_rate\":1} x\n",
        Err("s.jsonl:1: not a JSON object: trailing characters at column 19"),
    );
    check(
        "{\"change_rate\":NaN}\n",
        Err("s.jsonl:1: not a JSON object: expected value at column 16"),
    );
    check("", Err("s.jsonl: no sources"));
}

#[test]
fn a_source_without_a_host_has_the_empty_name() {
    let text = "{\"change_rate\":1}\n{\"change_rate\":1,\"host\":\"a\"}\n\
                {\"change_rate\":1,\"host\":null}\n{\"change_rate\":1,\"host\":\"\"}\n";
    let hosts =
        HostColumn { names: ["", "a"].into_iter().collect(), index_by_source: vec![0, 1, 0, 0] };
    check(
        text,
        Ok(SourceTable {
            importance: vec![1.0; 4],
            change_rate: vec![1.0; 4],
            hosts: Some(hosts),
            ..SourceTable::default()
        }),
    );
}

#[test]
fn extra_names_can_be_skipped() {
    let text = b"{\"change_rate\":1,\"title\":{\"a\":[1,2]},\"title\":0}\n";
    assert_eq!(read_bytes("s.ndjson", text, true).unwrap().change_rate, [1.0]);
}
