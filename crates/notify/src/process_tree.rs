//! Finds and kills all descendants of a command.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, kill_process_group};

/// Environment variable that marks a command and its descendants.
pub(crate) const MARK_VARIABLE: &str = "FRESHET_RUN";
/// Maximum number of rounds of killing: processes can start others meanwhile.
const MAX_ROUNDS: usize = 50;

/// Returns a random mark.
pub(crate) fn new_mark() -> String {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => format!("{:032x}", u128::from_be_bytes(bytes)),
        // Without a mark, the process group and the descendants are still found.
        Err(_) => String::new(),
    }
}

/// Kills a command that leads a process group: its group, its descendants, and processes with its mark, in whatever
/// session they are and whatever their parent is now.
pub(crate) fn kill_tree(root: Pid, mark: &str) {
    let _ = kill_process_group(root, Signal::KILL);
    // Running processes can start others: repeat until none is left.
    for _ in 0..MAX_ROUNDS {
        let processes = proc::find_tree(root.as_raw_nonzero().get(), mark);
        if processes.is_empty() {
            return;
        }
        for process in processes {
            proc::kill(&process);
        }
        std::thread::yield_now();
    }
}

/// Reads the process table of Linux.
#[cfg(target_os = "linux")]
mod proc {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    use super::{HashSet, MARK_VARIABLE};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        id: i32,
        parent: i32,
        group: i32,
        /// Start time: a reused process id has another one.
        start: u64,
        has_exited: bool,
    }

    impl Process {
        fn read(id: i32) -> Option<Self> {
            let text = fs::read(format!("/proc/{id}/stat")).ok()?;
            let text = String::from_utf8_lossy(&text);
            // The command name can contain brackets and spaces.
            let (_, rest) = text.rsplit_once(')')?;
            let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
            let field = |at: usize| fields.get(at)?.parse().ok();
            Some(Self {
                id,
                parent: field(1)?,
                group: field(2)?,
                start: fields.get(19)?.parse().ok()?,
                has_exited: matches!(*fields.first()?, "Z" | "X" | "x"),
            })
        }

        /// True if the environment of the process contains the mark. Unreadable for processes of other users.
        fn has_mark(&self, mark: &str) -> bool {
            let variable = format!("{MARK_VARIABLE}={mark}");
            let variables = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|it| it == variable.as_bytes())
        }
    }

    /// Returns the running processes that belong to a command.
    pub(super) fn find_tree(root: i32, mark: &str) -> Vec<Process> {
        let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<Process> =
            ids.filter(|&id: &i32| id > 1 && id != own).filter_map(Process::read).collect();
        let is_marked = |it: &Process| !mark.is_empty() && it.has_mark(mark);
        let mut members: HashSet<i32> = all
            .iter()
            .filter(|it| it.id == root || it.group == root || is_marked(it))
            .map(|it| it.id)
            .collect();
        loop {
            let before = members.len();
            let children = all.iter().filter(|it| members.contains(&it.parent)).map(|it| it.id);
            members.extend(children.collect::<Vec<_>>());
            if members.len() == before {
                break;
            }
        }
        all.into_iter().filter(|it| members.contains(&it.id) && !it.has_exited).collect()
    }

    /// Kills a process, unless its id was reused meanwhile.
    pub(super) fn kill(process: &Process) {
        let Some(pid) = Pid::from_raw(process.id) else { return };
        let is_same = || Process::read(process.id).is_some_and(|it| it.start == process.start);
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

/// Elsewhere no more than the group is members.
#[cfg(not(target_os = "linux"))]
mod proc {
    pub(super) fn find_tree(_: i32, _: &str) -> Vec<()> {
        Vec::new()
    }

    pub(super) fn kill(_: &()) {}
}
