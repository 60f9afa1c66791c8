//! Errors of reading the history of a repository.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Quoted;

/// Error of reading the history of a git repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program `git` was not found.
    #[error("the program `git` is not installed, or not in PATH")]
    NoGit,
    /// The program could not be run.
    #[error("cannot run `git`: {0}")]
    Run(#[source] io::Error),
    /// The path is not a directory.
    #[error("{}: no such directory", path.display())]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory is not in a repository.
    #[error("{}: not a git repository", path.display())]
    NotARepository {
        /// The path.
        path: PathBuf,
    },
    /// Git refuses to open a repository of another user.
    #[error("{}: git does not open a repository of another user", path.display())]
    NotTrusted {
        /// The path.
        path: PathBuf,
        /// Directory as git names it.
        directory: String,
    },
    /// The repository has no commit yet.
    #[error("{}: no commits", path.display())]
    NoCommits {
        /// The path.
        path: PathBuf,
    },
    /// Unknown revision.
    #[error("{}: no commit {revision}", path.display())]
    UnknownRevision {
        /// The path.
        path: PathBuf,
        /// The revision.
        revision: Quoted,
    },
    /// No file ever existed, or none matches.
    #[error("{}: no files in its history", path.display())]
    NoFiles {
        /// The path.
        path: PathBuf,
    },
    /// The number of files does not fit in 32 bits.
    #[error("{}: more than {} files", path.display(), u32::MAX)]
    TooManyFiles {
        /// The path.
        path: PathBuf,
    },
    /// The program failed.
    #[error("{}: git failed: {message}", path.display())]
    Failed {
        /// The path.
        path: PathBuf,
        /// Message of the program.
        message: String,
    },
    /// The output of the program is not a log.
    #[error("{}: git printed {found}, which is not a log", path.display())]
    NotALog {
        /// The path.
        path: PathBuf,
        /// The unexpected output.
        found: Quoted,
    },
}

impl GitError {
    /// Returns a hint about what to do, if the message does not imply it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoGit => "install git",
            Self::NotARepository { .. } => "give the directory of a clone, or a bare repository",
            Self::NotTrusted { directory, .. } => {
                return Some(format!(
                    "if you trust it: `git config --global --add safe.directory {directory}`"
                ));
            }
            Self::UnknownRevision { .. } => "`git branch --all` and `git tag` list the names",
            Self::NoFiles { .. } => {
                "only committed files count; pathspecs are relative to the path, and `*.md` needs \
                 quotes in a shell"
            }
            Self::Failed { message, .. } if message.contains("unable to read") => {
                "objects are missing: a partial clone gets them with `git fetch --refetch \
                 --filter=blob:none`, and `git fsck` looks for damage"
            }
            Self::NotALog { .. } => "use git 2.31 or newer",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Classifies the error message of the program.
    pub(super) fn failed(path: &Path, said: &str) -> Self {
        let path = path.to_owned();
        if said.contains("not a git repository") {
            return Self::NotARepository { path };
        }
        if said.contains("dubious ownership") {
            let named = said.split_once("--add safe.directory ").map(|(_, rest)| rest);
            let directory = named.and_then(|rest| rest.lines().next()).map(str::to_owned);
            let directory = directory.unwrap_or_else(|| path.display().to_string());
            return Self::NotTrusted { path, directory };
        }
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("hint:")).collect();
        let said = lines.join("\n");
        let message = said.trim().trim_start_matches("fatal: ");
        let message = if message.is_empty() { "it was stopped" } else { message };
        Self::Failed { path, message: message.to_owned() }
    }
}
