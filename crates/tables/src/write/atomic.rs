//! Atomic file replacement.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{PathPersistError, TempPath};

use crate::error::TableError;

/// Writes a temporary file beside the target and renames it when all data is on disk.
///
/// An existing file keeps its permissions, and is unchanged on failure. Links
/// are followed. A target that is not a regular file (a pipe, a device) is written directly.
///
/// # Errors
/// Returns [`TableError::Write`] if `fill` or the system fails.
pub fn write_atomic(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), TableError> {
    Staged::new(path, fill)?.put()
}

/// Writes several files: all of them are on disk before the first is renamed, so
/// that a full disk or an invalid name leaves everything unchanged.
///
/// # Errors
/// Returns [`TableError::Write`] with the file that failed.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), TableError> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        staged.push(Staged::new(path, |out| out.write_all(bytes))?);
    }
    staged.into_iter().try_for_each(Staged::put)
}

/// A file that is complete and on disk, but not renamed yet.
pub(crate) struct Staged<'a> {
    path: &'a Path,
    /// Temporary and final path; `None` if the target is not a regular file and was written directly.
    waiting: Option<(TempPath, PathBuf)>,
}

impl<'a> Staged<'a> {
    pub(crate) fn new(
        path: &'a Path,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<Self, TableError> {
        let waiting = stage(path, fill).map_err(|source| TableError::write(path, source))?;
        Ok(Self { path, waiting })
    }

    pub(crate) fn put(self) -> Result<(), TableError> {
        if let Some((temporary, target)) = self.waiting {
            let refused = |refused: PathPersistError| TableError::write(self.path, refused.error);
            temporary.persist(&target).map_err(refused)?;
            sync_directory(directory(&target));
        }
        Ok(())
    }
}

fn stage(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<Option<(TempPath, PathBuf)>> {
    let existing = match fs::metadata(path) {
        Ok(about) => Some(about),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(about) = &existing
        && !about.is_file()
    {
        // Opening a directory returns the precise error.
        fill_whole(File::options().write(true).open(path)?, fill)?;
        return Ok(None);
    }
    // Renaming onto a link would replace the link.
    let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".freshet-").suffix(".tmp");
    let usual = usual_permissions();
    if let Some(usual) = &usual {
        builder.permissions(usual.clone());
    }
    let (file, temporary) = builder.tempfile_in(directory(&target)).map_err(nameless)?.into_parts();
    let file = fill_whole(file, fill)?;
    if let Some(about) = existing {
        file.set_permissions(about.permissions())?;
    }
    file.sync_all()?;
    Ok(Some((temporary, target)))
}

/// Removes the name of the temporary file from the error.
fn nameless(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why),
        None => error,
    }
}

fn directory(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn fill_whole(
    file: File,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<File> {
    let mut buffered = BufWriter::with_capacity(64 << 10, file);
    fill(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Default permissions of a new file before the umask.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Makes the rename durable. Not every file system supports this; the file
/// itself is complete in any case.
fn sync_directory(directory: &Path) {
    if let Ok(handle) = File::open(directory) {
        drop(handle.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_file_that_was_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("a.csv");
        let refused = write_atomic(&path, |_| Ok(())).unwrap_err().to_string();
        let named = format!("{}: cannot be written", path.display());
        assert!(refused.starts_with(&named), "{refused}");
    }

    #[test]
    fn of_several_files_all_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = |names: [&str; 2]| names.map(|name| (path(name), name.as_bytes().to_vec()));
        write_files(&files(["a", "b"])).unwrap();
        assert_eq!(fs::read(path("b")).unwrap(), b"b");
        fs::create_dir(path("d")).unwrap();
        assert!(write_files(&files(["c", "d"])).is_err());
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "b", "d"]);
    }
}
