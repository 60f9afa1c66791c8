//! One process for each file: an advisory lock that the system takes back when the process ends,
//! however it ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::StoreError;

/// Held as long as the store is open.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the store at `path`, or says who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, StoreError> {
        let beside = beside(path);
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&beside);
        let mut file = opened.map_err(|error| StoreError::from_io(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    path: path.to_owned(),
                    process: holder(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::from_io(path, error)),
        }
        // For messages only: the lock holds without it, on a full disk as well.
        let _ = file.set_len(0).and_then(|()| file.rewind());
        let _ = write!(file, "{}", process::id());
        Ok(Self { _file: file })
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The lock file never goes away: to remove it would let two processes hold one lock each.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    name.into()
}
