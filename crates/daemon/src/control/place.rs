//! Where the socket is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Bytes that the path of a socket may have on all systems.
const LONGEST: usize = 100;

/// The socket of the daemon of a store: beside it, or in `/tmp` under a name made from the store's if that
/// would be too long for a socket.
#[must_use]
pub fn socket_of(store: &Path) -> PathBuf {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let mut name = OsString::from(&store);
    name.push(".sock");
    if name.len() <= LONGEST {
        return name.into();
    }
    let hash = hash(store.as_os_str().as_encoded_bytes());
    Path::new("/tmp").join(format!("freshet-{hash:016x}.sock"))
}

/// FNV-1a: the same in every version, since two of them may meet.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_beside_its_store_unless_that_is_too_far_down() {
        let beside = socket_of(Path::new("/nowhere/freshet.db"));
        assert_eq!(beside, Path::new("/nowhere/freshet.db.sock"));
        let deep = format!("/nowhere/{}/freshet.db", "deep".repeat(30));
        let elsewhere = socket_of(Path::new(&deep));
        assert!(elsewhere.starts_with("/tmp"), "{elsewhere:?}");
        let other = deep.replace("freshet.db", "other.db");
        assert_ne!(elsewhere, socket_of(Path::new(&other)));
        // The check value of FNV-1a for these letters.
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
