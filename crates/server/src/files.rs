//! How many files the system lets this process have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files for all else: the store, fetches, destinations.
const OTHERS: usize = 512;

/// How many connections there can be, of so many that are wanted and take so many files. As far as the
/// system allows it, the process may have more files open from now on.
pub(crate) fn connections(wanted: usize, files: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Without a limit there is none.
    let Some(current) = current else { return wanted };
    let needed = files.saturating_add(OTHERS) as u64;
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum)).max(current);
    let limit = Rlimit { current: Some(raised), maximum };
    let is_raised = raised > current && setrlimit(Resource::Nofile, limit).is_ok();
    let have = if is_raised { raised } else { current };
    let most = wanted.min(left(have, files - wanted));
    if most < wanted {
        tracing::warn!(
            files = have,
            connections = most,
            "the system allows too few open files for more connections: see `ulimit -n`"
        );
    }
    most
}

/// What can be had for connections, of so many files, if so many are for their coming and going.
fn left(files: u64, beside: usize) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    // Some must be left for all else, and some for them.
    let others = (OTHERS + beside).min(files / 2);
    (files - others).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_left_for_all_else() {
        assert_eq!(left(20_000, 128), 19_360);
        assert_eq!(left(1024, 128), 512);
        assert_eq!(left(64, 128), 32);
        assert_eq!(left(1, 0), 1);
    }
}
