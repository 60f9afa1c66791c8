//! Runs `git` so that its output is the same on every machine.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use crate::error::Quoted;
use crate::trace::git::error::GitError;

/// Variables that redirect git or change the meaning of pathspecs; hooks set some of them.
const FORGOTTEN: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "LANGUAGE",
];

/// Variables that keep git from translating, prompting, fetching, locking and replacing parents.
const SET: [(&str, &str); 5] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// Log of first parents, newest first: a commit is `@TIME`, a file is a `--raw` line and
/// its path, each ended by a zero byte. Settings that the user's configuration could change are explicit.
///
/// Newest first, because git would hold all commits in memory to reverse them.
const LOG: [&str; 24] = [
    "-c",
    "log.showRoot=true",
    "-c",
    "log.follow=false",
    "log",
    "--first-parent",
    "--diff-merges=first-parent",
    "--full-history",
    // Commits that do not touch the selected files are included for their times.
    "--sparse",
    "--format=tformat:@%ct",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-color",
    "--no-decorate",
    "--no-notes",
    "--no-mailmap",
    "--no-show-signature",
    "--no-relative",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
    "-O/dev/null",
];

/// Longest stored text of git's standard error.
const MAX_STDERR_BYTES: u64 = 16 << 10;

/// The program, for a directory.
pub(super) struct Program<'a> {
    path: &'a Path,
}

impl<'a> Program<'a> {
    pub(super) fn at(path: &'a Path) -> Result<Self, GitError> {
        if path.is_dir() {
            Ok(Self { path })
        } else {
            Err(GitError::NoDirectory { path: path.to_owned() })
        }
    }

    /// Returns the output of git without the line end.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<String, GitError> {
        let mut answer = Vec::new();
        self.run(arguments.iter().map(OsStr::new), |out| {
            out.read_to_end(&mut answer).map_err(GitError::Run).map(drop)
        })?;
        let answer = String::from_utf8_lossy(&answer);
        Ok(answer.strip_suffix('\n').unwrap_or(&answer).to_owned())
    }

    /// Resolves a revision to a commit hash.
    pub(super) fn commit(&self, revision: &str) -> Result<String, GitError> {
        let wanted = format!("{revision}^{{commit}}");
        let path = self.path.to_owned();
        match self.ask(&["rev-parse", "--verify", "--end-of-options", &wanted]) {
            Err(GitError::Failed { .. }) if revision == "HEAD" => Err(GitError::NoCommits { path }),
            Err(GitError::Failed { .. }) => {
                Err(GitError::UnknownRevision { path, revision: Quoted::new(revision) })
            }
            answer => answer,
        }
    }

    /// Passes each part of the log to `take`.
    pub(super) fn log(
        &self,
        commit: &str,
        pathspecs: &[OsString],
        take: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let fixed = LOG.iter().chain([&commit, &"--"]).map(OsStr::new);
        self.run(fixed.chain(pathspecs.iter().map(OsString::as_os_str)), |out| {
            let mut token = Vec::new();
            while out.read_until(0, &mut token).map_err(GitError::Run)? > 0 {
                take(token.strip_suffix(&[0]).unwrap_or(&token))?;
                token.clear();
            }
            Ok(())
        })
    }

    fn run<'b>(
        &self,
        arguments: impl Iterator<Item = &'b OsStr>,
        listen: impl FnOnce(&mut BufReader<std::process::ChildStdout>) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.path).args(["--no-pager", "--no-replace-objects"]);
        // Git warns about an empty graft file.
        command.args(["-c", "advice.graftFileDeprecated=false"]);
        command.args(arguments).envs(SET);
        for name in FORGOTTEN {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => GitError::NoGit,
            _ => GitError::Run(error),
        })?;
        let mut running = Running(child);
        let stderr = running.read_stderr();
        if let Some(out) = running.0.stdout.take() {
            listen(&mut BufReader::with_capacity(64 << 10, out))?;
        }
        let status = running.0.wait().map_err(GitError::Run)?;
        let stderr = stderr.and_then(|stderr| stderr.join().ok()).unwrap_or_default();
        if status.success() { Ok(()) } else { Err(GitError::failed(self.path, &stderr)) }
    }
}

/// A child process that is killed when this value is dropped.
struct Running(Child);

impl Running {
    /// Reads its standard error, because a full pipe would block it.
    fn read_stderr(&mut self) -> Option<JoinHandle<String>> {
        let mut pipe = self.0.stderr.take()?;
        Some(std::thread::spawn(move || {
            let mut stderr = Vec::new();
            // Errors of reading are ignored.
            let _ = pipe.by_ref().take(MAX_STDERR_BYTES).read_to_end(&mut stderr);
            let _ = io::copy(&mut pipe, &mut io::sink());
            String::from_utf8_lossy(&stderr).into_owned()
        }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
