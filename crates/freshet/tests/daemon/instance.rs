//! Test instance: a directory with a configuration, in which commands and daemons are run. Daemons are
//! killed at the end of a test.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Configuration without waiting times.
pub(crate) const FAST: &str = "budget = \"1000000/day\"\n[hosts]\ngap = \"0s\"\nconnections = 4\n";

pub(crate) struct TestInstance(TempDir);

/// Result of running the program.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl RunResult {
    /// Checks that the exit code is 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// Checks the exit code, and that standard error contains a text.
    #[track_caller]
    pub(crate) fn has_error(&self, code: i32, part: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(part), "no `{part}` in: {}", self.err);
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok().out).unwrap()
    }
}

impl TestInstance {
    pub(crate) fn new(config: &str) -> Self {
        let instance = Self(tempfile::tempdir().unwrap());
        instance.configure(config);
        instance
    }

    pub(crate) fn configure(&self, config: &str) {
        let allow = "[fetch]\nallow = [\"127.0.0.0/8\"]\n";
        self.write("freshet.toml", format!("{config}{allow}"));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> RunResult {
        self.run_with("", arguments)
    }

    pub(crate) fn run_with(&self, input: &str, arguments: &[&str]) -> RunResult {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
        let output = command.current_dir(self.0.path()).args(arguments).write_stdin(input).output();
        let output = output.unwrap();
        RunResult {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts the program in the background.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> RunningProgram {
        let log = fs::File::create(self.path("log")).unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("freshet"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        RunningProgram { child }
    }

    /// Starts a daemon and waits until it answers.
    pub(crate) fn start(&self) -> RunningProgram {
        let daemon = self.spawn(&["run"]);
        wait_until("the daemon answers", || self.run(&["status"]).code == Some(0));
        daemon
    }

    pub(crate) fn log(&self) -> String {
        self.read("log")
    }

    /// Returns the URL of the service from the daemon's log.
    pub(crate) fn service(&self) -> String {
        let found = || {
            let log = self.log();
            let rest = log.split("the service is at ").nth(1)?.to_owned();
            rest.split_once("/v1/docs").map(|(service, _)| service.to_owned())
        };
        wait_until("the service is there", || found().is_some());
        found().unwrap()
    }

    /// Returns the JSON lines that a command prints.
    #[track_caller]
    pub(crate) fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(arguments).ok();
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) struct RunningProgram {
    pub(crate) child: Child,
}

impl RunningProgram {
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Stops the program and returns its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition holds, for at most a minute.
#[track_caller]
pub(crate) fn wait_until(description: &str, condition: impl Fn() -> bool) {
    for _ in 0..3000 {
        if condition() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("timed out waiting until {description}");
}
