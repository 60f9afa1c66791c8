//! Online backup.

use std::fs::{self, File};
use std::path::Path;
use std::process;

use crate::error::StoreError;
use crate::open::{create_private, real_path, with_suffix};
use crate::reader::Reader;

impl Reader {
    /// Copies the store to another file, as of this moment and compacted. The file appears complete or not at all; an
    /// existing file is replaced only with `force`.
    ///
    /// Writing continues meanwhile, and the write-ahead log grows until the copy is done.
    pub fn backup(&self, path: &Path, force: bool) -> Result<(), StoreError> {
        let path = real_path(path);
        if path == self.path || (path.exists() && !force) {
            return Err(StoreError::AlreadyExists { path });
        }
        let partial = with_suffix(&path, &format!(".partial-{}", process::id()));
        let result = self.copy_to(&partial, &path);
        if result.is_err() {
            let _ = fs::remove_file(&partial);
        }
        result
    }

    fn copy_to(&self, partial: &Path, path: &Path) -> Result<(), StoreError> {
        let io_error = |error| StoreError::from_io(path, error);
        match fs::remove_file(partial) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io_error(error));
            }
            _ => {}
        }
        // If the file cannot be created, this error is more specific than SQLite's.
        create_private(partial).map_err(io_error)?;
        let name = partial.to_string_lossy();
        let copied = self.connection.execute("VACUUM INTO ?1", [name.as_ref()]);
        copied.map_err(|error| StoreError::from_sqlite(path, error))?;
        File::open(partial).and_then(|file| file.sync_all()).map_err(io_error)?;
        fs::rename(partial, path).map_err(io_error)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(io_error)
    }
}
