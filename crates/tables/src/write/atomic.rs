//! Files that are there as a whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{PathPersistError, TempPath};

use crate::error::TableError;

/// Writes a file through a temporary one beside it, which takes its place when all is on disk.
///
/// A file that is there keeps its permissions, and stays as it was when anything fails; a link
/// is followed. What is no file (a pipe, a device) is written to as it is.
///
/// # Errors
/// [`TableError::Write`] with what `fill` or the system refused.
pub fn write_atomic(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), TableError> {
    Staged::new(path, fill)?.put()
}

/// Writes several files, in their order: all of them are on disk before the first takes its place, so
/// that a full disk or a name that cannot be written leaves everything as it was.
///
/// # Errors
/// [`TableError::Write`] with the file that the system refused.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), TableError> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        staged.push(Staged::new(path, |out| out.write_all(bytes))?);
    }
    staged.into_iter().try_for_each(Staged::put)
}

/// A file that is whole and on disk, and not yet in its place.
pub(crate) struct Staged<'a> {
    path: &'a Path,
    /// Where it waits and where it belongs; nothing for what is no file and was written to.
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
        // Opening a directory says what is wrong with it.
        fill_whole(File::options().write(true).open(path)?, fill)?;
        return Ok(None);
    }
    // Renaming onto a link would put the file where the link is.
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

/// The same without the name of the temporary file, of which nobody knows.
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

/// What a file gets that is created in the plain way, before the process's mask is applied.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Makes the new name last through a loss of power. Not every file system can, and the file
/// itself is whole either way.
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
