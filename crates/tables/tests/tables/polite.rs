use std::path::Path;

use freshet_model::{HostColumn, SourceTable};
use freshet_tables::{PoliteNotes, Sources};

use crate::read_path;

/// The files of a small data set. The estimator of these tests counts the observations.
const URLS: &str =
    "http://a.org/1\t1\t10\nhttp://a.org/2\t2\t10\nhttp://b.org/\t3\t20\nhttp://b.org/x\t9\t20\n";
const HOSTS: &str = "http://a.org\t10\t0\nhttp://b.org\t20\t1\n";
const IMPORTANCE: &str = "3\t0.5\n1\t2.0\n2\t1\n4\t1\n";
const HISTORY: &str = "1\t5.5143\t[[1.10396990740741, 0], [1.47311342592593, 1]]\n2\t0.1\t[[1, 1]]\n\
                       3\t1\t[[1, 0]]\n8\t0\t[]\n";
const COMPLETE: &str = "3\t0.25\n";

fn read(files: &[(&str, &str)]) -> Result<Sources, String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let prefix = format!("{}/", directory.path().display());
    read_path(directory.path(), false).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[track_caller]
fn check_error(files: &[(&str, &str)], expect: &str) {
    assert_eq!(read(files), Err(expect.to_owned()));
}

#[test]
fn all_files_join_in_the_order_of_the_importance_file() {
    let sources = read(&[
        ("url_urlid_hostid.txt", URLS),
        ("host_hostid_isconstrained.txt", HOSTS),
        ("urlid_imp.txt", IMPORTANCE),
        ("urlid_offset_history.txt", HISTORY),
        ("urlid_chrate_compl_obs_hist.txt", COMPLETE),
    ]);
    let ids = ["http://b.org/", "http://a.org/1", "http://a.org/2"];
    let expect = Sources {
        table: SourceTable {
            ids: Some(ids.into_iter().collect()),
            importance: vec![0.5, 2.0, 1.0],
            change_rate: vec![0.25, 2.0, 1.0],
            observed: Some(vec![true, false, false]),
            hosts: Some(HostColumn {
                names: ["http://b.org", "http://a.org"].into_iter().collect(),
                index_by_source: vec![0, 1, 1],
            }),
            ..SourceTable::default()
        },
        polite: Some(PoliteNotes {
            complete: 1,
            estimated: 2,
            without_rate: 1,
            without_url: 0,
            without_importance: 1,
            constrained: Some(vec![true, false]),
        }),
    };
    assert_eq!(sources, Ok(expect));
}

#[test]
fn headers_are_passed_over_and_optional_files_may_be_missing() {
    let importance = format!("URL_ID\tImportance_score\n{IMPORTANCE}");
    let history = format!("URL_ID\tFirst\tHistory\r\n{}", HISTORY.replace('\n', "\r\n"));
    let files = [
        ("urlid_imp.txt", importance.as_str()),
        ("urlid_offset_history.txt", history.as_str()),
        ("url_urlid_hostid.txt", "URL\tURL_ID\tHost_ID\nu3\t3\th\nu1\t1\th\n"),
    ];
    let by_id = read(&files[..2]).unwrap();
    assert_eq!(by_id.table.ids.unwrap().iter().collect::<Vec<_>>(), ["3", "1", "2"]);
    assert_eq!((by_id.table.hosts, by_id.table.change_rate), (None, vec![1.0, 2.0, 1.0]));
    let by_url = read(&files).unwrap();
    assert_eq!(by_url.table.ids.unwrap().iter().collect::<Vec<_>>(), ["u3", "u1"]);
    let hosts = by_url.table.hosts.unwrap();
    assert_eq!(
        (hosts.names.iter().collect::<Vec<_>>(), hosts.index_by_source),
        (vec!["h"], vec![0, 0])
    );
    let notes = by_url.polite.unwrap();
    assert_eq!((notes.without_url, notes.without_rate, notes.constrained), (1, 1, None));
}

#[test]
fn what_is_wrong_is_named_with_its_file() {
    let importance = ("urlid_imp.txt", IMPORTANCE);
    let with = |name, text| [importance, (name, text)];
    let history = "urlid_offset_history.txt";
    let complete = "urlid_chrate_compl_obs_hist.txt";
    check_error(
        &with(history, "1\t0\t[[1, 0], ...\n"),
        "urlid_offset_history.txt:1: history: `[[1, 0], ...` is not a history such as \
         `[[1.5, 0], [2.25, 1]]`",
    );
    check_error(
        &with(history, "1\t0\t[[-1, 0]]\n"),
        "urlid_offset_history.txt:1: history: `-1` is negative",
    );
    check_error(
        &with(history, "1\t0\t[[1, 2]]\n"),
        "urlid_offset_history.txt:1: history: `2` is not 0, 1, true or false",
    );
    check_error(&with(history, "1\t0\n"), "urlid_offset_history.txt:1: 2 cells, but 3 expected");
    check_error(
        &with(complete, "1\t1\n1\t1\n"),
        "urlid_chrate_compl_obs_hist.txt:2: URL_ID: `1` was seen before, on line 1",
    );
    check_error(
        &with(complete, "1\t1\n2\tx\n"),
        "urlid_chrate_compl_obs_hist.txt:2: change_rate: `x` is not a number",
    );
    check_error(
        &[("urlid_imp.txt", "1\t1\n2\t1\n1\t1\n"), (complete, "1\t1\n")],
        "urlid_imp.txt:3: URL_ID: `1` was seen before, on line 1",
    );
    check_error(
        &[importance, (complete, "1\t1\n2\t1\n"), ("url_urlid_hostid.txt", "u\t1\th\n\nu\t2\th\n")],
        "url_urlid_hostid.txt:3: id: `u` was seen before, on line 1",
    );
}

#[test]
fn files_that_must_be_there_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let message = |path: &Path| read_path(path, false).unwrap_err().to_string();
    let name = directory.path().display().to_string();
    assert_eq!(message(directory.path()), format!("{name}: no file urlid_imp.txt"));
    std::fs::write(directory.path().join("urlid_imp.txt"), "1\t1\n").unwrap();
    assert_eq!(
        message(directory.path()),
        format!("{name}: no file urlid_chrate_compl_obs_hist.txt or urlid_offset_history.txt")
    );
    std::fs::write(directory.path().join("urlid_offset_history.txt"), "").unwrap();
    assert_eq!(message(directory.path()), format!("{name}: no sources"));
}
