//! Turns at hosts that a fetch comes to on its way: who gives them, and from when on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_store::{AddResult, HostCooldown, RobotsRecord};
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, days, millis};
use crate::control::{Answer, Call, Client};
use crate::edit::NewSourceRequest;
use crate::signal_sources::Word;
use crate::work::Readers;

/// A host may ask for a gap of so many days.
const LONGEST_GAP: f64 = 1.0;
/// Days for which it is worth remembering over a restart that a host is left alone.
pub(crate) const WORTH_KEEPING: f64 = 5.0 / 86_400.0;

/// A turn that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct PermitRequest {
    pub(crate) host: String,
    /// Days between two fetches that its robots.txt asks for.
    pub(crate) delay: Option<f64>,
    /// Days that may be waited.
    pub(crate) patience: f64,
    /// Whether nobody asks again if it is busy.
    pub(crate) last: bool,
}

/// What is said to that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Permit {
    /// From this day on. It is taken, and has to be given back.
    From(f64),
    /// Others are there, and it is not known for how long.
    Busy,
    /// Not before this day.
    NotBefore(f64),
}

/// A visit that is over.
#[derive(Clone, Debug)]
pub(crate) struct PermitReturn {
    pub(crate) host: String,
    /// Days that the host asked to be left alone.
    pub(crate) rest: Option<f64>,
    /// Whether it is the host's fault that nothing came.
    pub(crate) failed: bool,
}

/// What the loop is told of turns.
pub(crate) enum Notice {
    /// With the number of the host, if it has one.
    Want(PermitRequest, Option<u32>, oneshot::Sender<Permit>),
    Left(PermitReturn, Option<u32>),
    Robots(RobotsRecord),
    /// What a herald says. Answered when there is room for more.
    Words {
        herald: u32,
        /// The source that was read to hear it: numbers of heralds are used again, those of sources are not.
        source: Option<u32>,
        root: u32,
        words: Vec<Word>,
        /// Pages that were added, of those that were taken off the limit for it.
        found: u32,
        reserved: u32,
        done: oneshot::Sender<()>,
    },
    /// A herald names pages that are to be sources.
    Found {
        herald: u32,
        source: Option<u32>,
        root: u32,
        /// How many it may add, in all.
        most: u64,
        wanted: Vec<NewSourceRequest>,
        done: oneshot::Sender<Found>,
    },
    /// A herald consists of these. Answered with the sources that are read to hear them, as far as they
    /// are read.
    Parts {
        herald: u32,
        source: Option<u32>,
        root: u32,
        urls: Vec<String>,
        /// Whether there are no others.
        is_whole: bool,
        done: oneshot::Sender<Vec<Option<u32>>>,
    },
}

/// What became of pages that were to be sources.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The first of them, as many as there was room for.
    pub(crate) added: Vec<AddResult>,
    /// Those that there was no room for.
    pub(crate) over: u64,
    /// What was taken off the limit.
    pub(crate) reserved: u32,
}

/// Who gives turns.
pub(crate) enum HostPermits {
    /// The loop of a daemon.
    Core(mpsc::UnboundedSender<Notice>),
    /// The daemon that runs elsewhere.
    Daemon(Mutex<Client>),
    /// Nobody else: what the store says, and what this process has done.
    Alone(Mutex<UnlistedHosts>),
}

/// What is known of hosts that have no sources.
#[derive(Default)]
pub(crate) struct UnlistedHosts {
    hosts: HashMap<String, Stranger>,
    /// Files that were found, to be kept.
    pub(crate) robots: Vec<RobotsRecord>,
}

#[derive(Clone, Copy, Default)]
struct Stranger {
    asked: u32,
    free: f64,
    gap: f64,
    failures: u32,
    /// The day up to which others have been put off.
    line: f64,
}

impl UnlistedHosts {
    /// Leaves a host alone until a day.
    pub(crate) fn rest(&mut self, host: &str, until: f64) {
        let it = self.hosts.entry(host.to_owned()).or_default();
        it.free = it.free.max(until);
    }

    pub(crate) fn want(
        &mut self,
        want: &PermitRequest,
        now: f64,
        gap: f64,
        connections: u32,
    ) -> Permit {
        let it = self.hosts.entry(want.host.clone()).or_default();
        if let Some(days) = want.delay {
            it.gap = days.clamp(0.0, LONGEST_GAP);
        }
        let (gap, free) = (gap.max(it.gap), it.free.max(now));
        if free <= now + want.patience {
            if it.asked < connections {
                it.asked += 1;
                it.free = free + gap;
                return Permit::From(free);
            }
            if !want.last {
                return Permit::Busy;
            }
        }
        self.put_off(&want.host, free, gap)
    }

    /// A day for one more that has to come again: one after another.
    pub(crate) fn put_off(&mut self, host: &str, free: f64, gap: f64) -> Permit {
        let it = self.hosts.entry(host.to_owned()).or_default();
        it.line = free.max(it.line + gap);
        Permit::NotBefore(it.line)
    }

    /// Says until when the host is left alone now.
    pub(crate) fn left(&mut self, left: &PermitReturn, now: f64, gap: f64) -> f64 {
        let it = self.hosts.entry(left.host.clone()).or_default();
        it.asked = it.asked.saturating_sub(1);
        it.failures = if left.failed { (it.failures + 1).min(9) } else { 0 };
        // As with hosts that have sources: a minute, then twice as long each time, up to four hours.
        let back_off =
            if left.failed { f64::from(1_u32 << (it.failures - 1)) / 1440.0 } else { 0.0 };
        let wait = left.rest.unwrap_or(0.0).clamp(0.0, 30.0).max(back_off).max(gap.max(it.gap));
        it.free = it.free.max(now + wait);
        it.free
    }

    /// Those that are left alone, and until when.
    pub(crate) fn resting(&self, now: f64) -> Vec<HostCooldown> {
        let resting = self.hosts.iter().filter(|(_, it)| it.free > now);
        resting
            .map(|(host, it)| HostCooldown { host: host.clone(), until: millis(it.free) })
            .collect()
    }

    pub(crate) fn forget(&mut self, host: &str) {
        self.hosts.remove(host);
    }

    /// Forgets those of whom nothing is to be known any more.
    pub(crate) fn tidy(&mut self, now: f64) {
        self.hosts.retain(|_, it| it.asked > 0 || it.free.max(it.line) > now);
        self.hosts.shrink_to(2 * self.hosts.len());
    }
}

impl HostPermits {
    pub(crate) async fn want(
        &self,
        want: PermitRequest,
        readers: &Readers,
        clock: &Clock,
        gap: f64,
    ) -> Permit {
        let now = clock.day();
        match self {
            Self::Core(core) => {
                let (reply, answer) = oneshot::channel();
                let number = number(readers, &want.host);
                let _ = core.send(Notice::Want(want, number, reply));
                // A daemon that stops gives none.
                answer.await.unwrap_or(Permit::NotBefore(now))
            }
            Self::Daemon(client) => {
                let PermitRequest { host, delay, patience, last } = want;
                match ask(client, Call::Turn { host, delay, patience, last }) {
                    Some(Answer::Turn(Some(day))) if day <= now + patience => {
                        Permit::From(day.max(now))
                    }
                    Some(Answer::Turn(Some(day))) => Permit::NotBefore(day),
                    _ => Permit::Busy,
                }
            }
            Self::Alone(strangers) => {
                let kept =
                    readers.with(|reader| reader.host_cooldown_until(&want.host)).ok().flatten();
                let mut strangers = lock(strangers);
                strangers.rest(&want.host, kept.map_or(0.0, days));
                strangers.want(&want, now, gap, 1)
            }
        }
    }

    pub(crate) fn left(&self, left: PermitReturn, readers: &Readers, clock: &Clock, gap: f64) {
        match self {
            Self::Core(core) => {
                let number = number(readers, &left.host);
                let _ = core.send(Notice::Left(left, number));
            }
            Self::Daemon(client) => {
                let PermitReturn { host, rest, failed } = left;
                ask(client, Call::Heard { host, rest, failed });
            }
            Self::Alone(strangers) => {
                lock(strangers).left(&left, clock.day(), gap);
            }
        }
    }

    /// Tells the loop, if there is one.
    pub(crate) fn notice(&self, notice: Notice) {
        if let Self::Core(core) = self {
            let _ = core.send(notice);
        }
    }

    pub(crate) fn found(&self, file: RobotsRecord) {
        match self {
            Self::Core(core) => {
                let _ = core.send(Notice::Robots(file));
            }
            Self::Daemon(_) => {}
            Self::Alone(strangers) => lock(strangers).robots.push(file),
        }
    }
}

/// Asks the daemon, which may have stopped meanwhile.
fn ask(client: &Mutex<Client>, call: Call) -> Option<Answer> {
    tokio::task::block_in_place(|| {
        client.lock().unwrap_or_else(PoisonError::into_inner).ask(call).ok()
    })
}

pub(crate) fn lock(strangers: &Mutex<UnlistedHosts>) -> MutexGuard<'_, UnlistedHosts> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(readers: &Readers, host: &str) -> Option<u32> {
    readers.with(|reader| reader.find_host(host)).ok().flatten().map(|host| host.id)
}
