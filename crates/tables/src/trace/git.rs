//! The history of a git repository as a trace of its files.

mod error;
mod log;
mod path;
mod program;

use std::ffi::OsString;
use std::path::Path;

use freshet_model::ChangeTrace;

pub use error::GitError;
use log::Log;
use program::Program;

/// Part of a repository's history to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitOptions {
    /// Commit whose history is read: `HEAD`, a branch, a tag or a hash.
    pub revision: String,
    /// Pathspecs of the files to read, relative to the path; empty for all files.
    pub pathspecs: Vec<OsString>,
}

impl Default for GitOptions {
    fn default() -> Self {
        Self { revision: "HEAD".to_owned(), pathspecs: Vec::new() }
    }
}

/// History of a repository.
#[derive(Clone, Debug, PartialEq)]
pub struct GitHistory {
    /// Files, named by their paths from the top of the repository, in order of birth.
    pub history: ChangeTrace,
    /// Number of commits on the branch.
    pub commits: u64,
    /// Number of commits that are dated before their parent.
    pub out_of_order: u64,
    /// True if the repository is a shallow clone, which lacks older commits.
    pub shallow: bool,
}

/// Reads the history of a local git repository with the program `git`. Each file is a source.
///
/// The history follows first parents, so each merge is one step. The time of a
/// commit is its committer time, or that of its parent if that is later. For each file:
///
/// - The creation is the birth and not a change.
/// - A change of the content is a change, and so is one between a file and a symbolic link. A
///   change of permissions alone is not.
/// - The deletion is the end. A file that was not deleted ends with the last commit.
/// - If the file is created again, that is a change, and its life continues.
/// - A renamed file is a new one: a path is a source, as a URL is.
///
/// Submodules are ignored. A `path` inside a repository selects the files below it, and bare
/// repositories are supported. In a path that is not UTF-8, each invalid byte becomes U+FFFD and two
/// hexadecimal digits, so that different paths have different names.
///
/// Memory grows with the number of files, changes and commits, not with the size of the
/// repository. `progress` is called with the number of commits from time to time on this thread.
///
/// # Errors
/// Returns a [`GitError`]. The `git` process has ended when this returns.
pub fn read_git(
    path: &Path,
    options: &GitOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<GitHistory, GitError> {
    let program = Program::at(path)?;
    let about = program.ask(&["rev-parse", "--is-shallow-repository", "--show-prefix"])?;
    let (shallow, prefix) = about.split_once('\n').unwrap_or((&about, ""));
    let commit = program.commit(&options.revision)?;
    let mut log = Log::default();
    program.log(&commit, &pathspecs(options, !prefix.trim_end().is_empty()), &mut |token| {
        let commits = log.take(token).map_err(|fault| fault.in_repository(path))?;
        if let Some(commits) = commits.filter(|commits| commits.is_multiple_of(REPORT_EVERY)) {
            progress(commits);
        }
        Ok(())
    })?;
    let commits = log.commits();
    let (history, out_of_order) = log.into_history();
    if history.is_empty() {
        return Err(GitError::NoFiles { path: path.to_owned() });
    }
    Ok(GitHistory { history, commits, out_of_order, shallow: shallow == "true" })
}

/// Commits between two reports of progress.
const REPORT_EVERY: u64 = 64;

/// Pathspecs; without one that includes files, all files below the path.
fn pathspecs(options: &GitOptions, inside: bool) -> Vec<OsString> {
    let excludes = |spec: &OsString| {
        let spec = spec.to_string_lossy();
        [":!", ":^", ":(exclude"].iter().any(|start| spec.starts_with(start))
    };
    let mut pathspecs = options.pathspecs.clone();
    if inside && pathspecs.iter().all(excludes) {
        pathspecs.push(".".into());
    }
    pathspecs
}
