//! Path of the control socket.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Longest socket path that all systems accept, in bytes.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// Returns the socket path of the daemon of a store: beside the store, or in `/tmp` under a hash of
/// the store's path if that would be too long for a socket.
#[must_use]
pub fn socket_path(store: &Path) -> PathBuf {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let mut name = OsString::from(&store);
    name.push(".sock");
    if name.len() <= MAX_SOCKET_PATH_BYTES {
        return name.into();
    }
    let hash = fnv1a(store.as_os_str().as_encoded_bytes());
    Path::new("/tmp").join(format!("freshet-{hash:016x}.sock"))
}

/// FNV-1a. The hash must be the same in every version, since a command may meet an older daemon.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_beside_its_store_unless_the_path_is_too_long() {
        let beside = socket_path(Path::new("/nowhere/freshet.db"));
        assert_eq!(beside, Path::new("/nowhere/freshet.db.sock"));
        let deep = format!("/nowhere/{}/freshet.db", "deep".repeat(30));
        let elsewhere = socket_path(Path::new(&deep));
        assert!(elsewhere.starts_with("/tmp"), "{elsewhere:?}");
        let other = deep.replace("freshet.db", "other.db");
        assert_ne!(elsewhere, socket_path(Path::new(&other)));
        // Check value of FNV-1a for `foobar`.
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
