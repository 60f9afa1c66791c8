//! The limit on open files of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files reserved for the rest of the process: the store, fetches, notifications.
const RESERVED_FILES: usize = 512;

/// Returns how many of `requested` connections are possible, when they need `files` open files in
/// all. Raises the process's limit on open files as far as the system allows.
pub(crate) fn raise_for_connections(requested: usize, files: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // There is no limit.
    let Some(current) = current else { return requested };
    let needed = files.saturating_add(RESERVED_FILES) as u64;
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum)).max(current);
    let new_limit = Rlimit { current: Some(raised), maximum };
    let is_raised = raised > current && setrlimit(Resource::Nofile, new_limit).is_ok();
    let limit = if is_raised { raised } else { current };
    let allowed = requested.min(connections_for(limit, files - requested));
    if allowed < requested {
        tracing::warn!(
            files = limit,
            connections = allowed,
            "connections limited by the number of open files: raise `ulimit -n`"
        );
    }
    allowed
}

/// Returns how many connections fit into `files` open files, of which `extra` are for connections
/// being opened or closed.
fn connections_for(files: u64, extra: usize) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    // Neither side may take everything.
    let reserved = (RESERVED_FILES + extra).min(files / 2);
    (files - reserved).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_rest_of_the_process() {
        assert_eq!(connections_for(20_000, 128), 19_360);
        assert_eq!(connections_for(1024, 128), 512);
        assert_eq!(connections_for(64, 128), 32);
        assert_eq!(connections_for(1, 0), 1);
    }
}
