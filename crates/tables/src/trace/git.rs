//! The history of a git repository as a trace: what someone who polls its files would see.

mod error;
mod log;
mod path;
mod program;

use std::ffi::OsString;
use std::path::Path;

use freshet_model::History;

pub use error::GitError;
use log::Log;
use program::Program;

/// Which part of a repository's history to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitOptions {
    /// The commit to read the history of: `HEAD`, a branch, a tag or a hash.
    pub revision: String,
    /// Only files that match one of these pathspecs, relative to the path; all if there are none.
    pub pathspecs: Vec<OsString>,
}

impl Default for GitOptions {
    fn default() -> Self {
        Self { revision: "HEAD".to_owned(), pathspecs: Vec::new() }
    }
}

/// What was read from a repository.
#[derive(Clone, Debug, PartialEq)]
pub struct GitHistory {
    /// The files, named by their paths from the top of the repository, in the order of birth.
    pub history: History,
    /// How many commits the branch has.
    pub commits: u64,
    /// How many of them are dated before the commit that they follow.
    pub out_of_order: u64,
    /// Whether the repository is a shallow clone, which lacks the commits before some point.
    pub shallow: bool,
}

/// Reads the history of a local git repository with the program `git`. Each file is a source.
///
/// It is the history of what a branch's head showed: along first parents, each merge one step. A
/// commit's time is that of its committer, or of the commit before if that is later. For a file:
///
/// - Its creation is the birth, and no change.
/// - A change of its content is a change, and so is one between a file and a symbolic link. A
///   change of its permissions alone is none.
/// - Its deletion is the end. A file that was not deleted ends with the last commit.
/// - If it comes back, that is a change, and its life goes on as if it had never ended.
/// - A renamed file is another one: a path is a source, as a URL is.
///
/// Submodules are no files. A `path` inside a repository means the files below it, and bare
/// repositories will do. A path that is not UTF-8 has the mark U+FFFD and two hexadecimal digits
/// for each byte that is no text, so that different paths have different names.
///
/// Memory grows with the number of files, changes and commits, not with the size of the
/// repository. `progress` is called with the number of commits now and then, on this thread.
///
/// # Errors
/// See [`GitError`]. The program has ended when this returns.
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

/// What limits the files: without anything that includes some, all that are below the path.
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
