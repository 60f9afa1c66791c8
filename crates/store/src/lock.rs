//! One writing process per file: an advisory lock, which the operating system releases when the process ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::StoreError;

/// Lock that is held as long as the store is open.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Acquires the lock of the store at `path`; the error names the process that holds it.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        let lock_path = lock_path(path);
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&lock_path);
        let mut file = opened.map_err(|error| StoreError::from_io(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    path: path.to_owned(),
                    process: holder_pid(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::from_io(path, error)),
        }
        // Only for messages: the lock holds without it, also on a full disk.
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = write!(file, "{}", process::id());
        Ok(Self { _file: file })
    }
}

fn holder_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The lock file is never removed: otherwise two processes could each hold a lock on their own file.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    name.into()
}
