//! A copy of the whole, while the work goes on.

use std::fs::{self, File};
use std::path::Path;
use std::process;

use crate::error::StoreError;
use crate::open::{make_own, real_path, with_suffix};
use crate::reader::Reader;

impl Reader {
    /// Copies the store as it is at this moment to a file of its own, without its gaps. The file is
    /// there as a whole or not at all; one that exists is replaced only with `force`.
    ///
    /// Writing goes on meanwhile, and the log grows until the copy is done.
    pub fn backup(&self, path: &Path, force: bool) -> Result<(), StoreError> {
        let path = real_path(path);
        if path == self.path || (path.exists() && !force) {
            return Err(StoreError::AlreadyExists { path });
        }
        let partial = with_suffix(&path, &format!(".partial-{}", process::id()));
        let done = self.copy_to(&partial, &path);
        if done.is_err() {
            let _ = fs::remove_file(&partial);
        }
        done
    }

    fn copy_to(&self, partial: &Path, path: &Path) -> Result<(), StoreError> {
        let system = |error| StoreError::from_io(path, error);
        match fs::remove_file(partial) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(system(error));
            }
            _ => {}
        }
        // A file that can be made tells more than SQLite does if it cannot.
        make_own(partial).map_err(system)?;
        let name = partial.to_string_lossy();
        let copied = self.connection.execute("VACUUM INTO ?1", [name.as_ref()]);
        copied.map_err(|error| StoreError::from_sqlite(path, error))?;
        File::open(partial).and_then(|file| file.sync_all()).map_err(system)?;
        fs::rename(partial, path).map_err(system)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(system)
    }
}
