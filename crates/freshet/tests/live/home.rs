//! A directory with a configuration, the program run in it, and daemons that are gone when a test is.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// With nothing to wait for.
pub(crate) const FAST: &str = "budget = \"1000000/day\"\n[hosts]\ngap = \"0s\"\nconnections = 4\n";

pub(crate) struct Home(TempDir);

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// It went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self
    }

    /// It did not, and says why.
    #[track_caller]
    pub(crate) fn says(&self, code: i32, part: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(part), "no `{part}` in: {}", self.err);
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok().out).unwrap()
    }
}

impl Home {
    pub(crate) fn new(config: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.configure(config);
        home
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

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with("", arguments)
    }

    pub(crate) fn run_with(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("freshet");
        let output = command.current_dir(self.0.path()).args(arguments).write_stdin(input).output();
        let output = output.unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A program that goes on.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Running {
        let log = fs::File::create(self.path("log")).unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("freshet"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        Running { child }
    }

    /// A daemon that answers.
    pub(crate) fn start(&self) -> Running {
        let daemon = self.spawn(&["run"]);
        until("the daemon answers", || self.run(&["status"]).code == Some(0));
        daemon
    }

    pub(crate) fn log(&self) -> String {
        self.read("log")
    }

    /// Where the service is, by the daemon's log.
    pub(crate) fn service(&self) -> String {
        let found = || {
            let log = self.log();
            let rest = log.split("the service is at ").nth(1)?.to_owned();
            rest.split_once("/v1/docs").map(|(service, _)| service.to_owned())
        };
        until("the service is there", || found().is_some());
        found().unwrap()
    }

    /// Lines of JSON that a command prints.
    #[track_caller]
    pub(crate) fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(arguments).ok();
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) struct Running {
    pub(crate) child: Child,
}

impl Running {
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Asks it to end, and says how it did.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds; a minute at most.
#[track_caller]
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("never happened: {what}");
}
