//! All that a program has begun, and its end.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, kill_process_group};

/// The variable that marks a program and all that it begins.
pub(crate) const MARK: &str = "FRESHET_RUN";
/// How often it is looked whether more was begun meanwhile.
const ROUNDS: usize = 50;

/// A mark that no other run has.
pub(crate) fn mark() -> String {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => format!("{:032x}", u128::from_be_bytes(bytes)),
        // Without one, the group and the descendants are found all the same.
        Err(_) => String::new(),
    }
}

/// Ends a program that runs in a group of its own, with all that it has begun: its group, its descendants,
/// and what bears its mark, whatever session that is in and whoever its parent is now.
pub(crate) fn end(root: Pid, mark: &str) {
    let _ = kill_process_group(root, Signal::KILL);
    // What runs while it is looked at can begin more: until there is nothing left.
    for _ in 0..ROUNDS {
        let family = proc::family(root.as_raw_nonzero().get(), mark);
        if family.is_empty() {
            return;
        }
        for member in family {
            proc::kill(&member);
        }
        std::thread::yield_now();
    }
}

/// By what Linux tells of processes.
#[cfg(target_os = "linux")]
mod proc {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    use super::{HashSet, MARK};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        id: i32,
        parent: i32,
        group: i32,
        /// When it was started: others may get its number, but not this.
        start: u64,
        is_over: bool,
    }

    impl Process {
        fn read(id: i32) -> Option<Self> {
            let text = fs::read(format!("/proc/{id}/stat")).ok()?;
            let text = String::from_utf8_lossy(&text);
            // Its name can hold anything, also brackets and blanks.
            let (_, rest) = text.rsplit_once(')')?;
            let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
            let number = |at: usize| fields.get(at)?.parse().ok();
            Some(Self {
                id,
                parent: number(1)?,
                group: number(2)?,
                start: fields.get(19)?.parse().ok()?,
                is_over: matches!(*fields.first()?, "Z" | "X" | "x"),
            })
        }

        /// Of others than our own user it cannot be known.
        fn bears(&self, mark: &str) -> bool {
            let wanted = format!("{MARK}={mark}");
            let variables = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|it| it == wanted.as_bytes())
        }
    }

    /// All that belong to a program and are not over.
    pub(super) fn family(root: i32, mark: &str) -> Vec<Process> {
        let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<Process> =
            ids.filter(|&id: &i32| id > 1 && id != own).filter_map(Process::read).collect();
        let is_marked = |it: &Process| !mark.is_empty() && it.bears(mark);
        let mut known: HashSet<i32> = all
            .iter()
            .filter(|it| it.id == root || it.group == root || is_marked(it))
            .map(|it| it.id)
            .collect();
        loop {
            let before = known.len();
            let children = all.iter().filter(|it| known.contains(&it.parent)).map(|it| it.id);
            known.extend(children.collect::<Vec<_>>());
            if known.len() == before {
                break;
            }
        }
        all.into_iter().filter(|it| known.contains(&it.id) && !it.is_over).collect()
    }

    /// Ends one, and nobody who got its number meanwhile.
    pub(super) fn kill(member: &Process) {
        let Some(pid) = Pid::from_raw(member.id) else { return };
        let is_same = || Process::read(member.id).is_some_and(|it| it.start == member.start);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) if is_same() => {
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
            Err(rustix::io::Errno::NOSYS) if is_same() => {
                let _ = kill_process(pid, Signal::KILL);
            }
            _ => {}
        }
    }
}

/// Elsewhere no more than the group is known.
#[cfg(not(target_os = "linux"))]
mod proc {
    pub(super) fn family(_: i32, _: &str) -> Vec<()> {
        Vec::new()
    }

    pub(super) fn kill(_: &()) {}
}
