//! Tests of the command line: arguments and tables in; output, files and exit codes out.

#![allow(clippy::unwrap_used)]

mod budget;
mod crew;
mod curve;
mod demo;
mod detect;
mod errors;
mod exit_codes;
mod explain;
mod fetch;
mod format;
mod host;
mod lab;
mod paper;
mod plan_rows;
mod policy;
mod scenario;
mod simulate;
mod target;
mod thread;
mod trace;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

/// Directory in which the program is run, so that its messages contain relative file names.
struct Folder(TempDir);

/// Result of running the program.
#[derive(Debug)]
struct RunResult {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the names of all files, including hidden ones.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn run(&self, arguments: &str) -> RunResult {
        self.run_with("", arguments)
    }

    fn run_with(&self, input: impl Into<Vec<u8>>, arguments: &str) -> RunResult {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
        command.current_dir(self.0.path()).args(arguments.split_whitespace()).write_stdin(input);
        let output = command.output().unwrap();
        RunResult {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the object that `--json` prints.
    #[track_caller]
    fn json(&self, arguments: &str) -> Value {
        let ran = self.run(&format!("{arguments} --json"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Returns the rows that `--out` writes.
    #[track_caller]
    fn rows(&self, arguments: &str) -> Rows {
        let ran = self.run(&format!("{arguments} --quiet --out -"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        Rows(ran.out)
    }
}

/// Rows of a plan as CSV.
#[derive(Debug, PartialEq)]
struct Rows(String);

impl Rows {
    /// Returns a column by its name; cells without a value are NaN.
    #[track_caller]
    fn numbers(&self, column: &str) -> Vec<f64> {
        let mut lines = self.0.lines();
        let place = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
        let cell = |line: &str| line.split(',').nth(place).unwrap().parse().unwrap_or(f64::NAN);
        lines.map(cell).collect()
    }
}

/// Returns a number of a JSON object; null stands for an infinite or undefined number.
#[track_caller]
fn number(object: &Value, key: &str) -> Option<f64> {
    assert!(object.get(key).is_some(), "no `{key}` in {object}");
    object[key].as_f64()
}

/// Returns a table with importance and change rates over five powers of ten, and a sixth of the sources
/// observed. Change rates are below 1, so that they are also valid probabilities.
fn generated(rows: usize) -> String {
    let mut text = String::from("id,importance,change_rate,complete,cost,host\n");
    // Multiples of an irrational number are evenly distributed, and the same in each run.
    let spread = |row: usize, step: f64| (row as f64 * step).fract();
    for row in 0..rows {
        let importance = 10f64.powf(5.0 * spread(row, 0.618_033_988_749_895) - 2.0);
        let change_rate = 10f64.powf(5.0 * spread(row, 0.414_213_562_373_095) - 5.01);
        let complete = u8::from(row % 6 == 0);
        let cost = 1.0 + spread(row, 0.732_050_807_568_877);
        writeln!(text, "s{row},{importance},{change_rate},{complete},{cost},h{}", row % 7).unwrap();
    }
    text
}
