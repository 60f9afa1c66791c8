//! Permits to contact hosts that a fetch reaches on its way, such as redirect targets.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_store::{AddResult, HostCooldown, RobotsRecord};
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, days_from_millis, millis_from_days};
use crate::control::{ControlClient, ControlRequest, ControlResponse};
use crate::fetch_context::ReaderPool;
use crate::signal_sources::ObservedEntry;
use crate::source_edit::NewSourceRequest;

/// Longest crawl delay that is respected.
const MAX_GAP_DAYS: f64 = 1.0;
/// Shortest cooldown that is saved over a restart.
pub(crate) const MIN_SAVED_COOLDOWN_DAYS: f64 = 5.0 / 86_400.0;

/// Request for a permit.
#[derive(Clone, Debug)]
pub(crate) struct PermitRequest {
    pub(crate) host: String,
    /// Crawl delay of the host's robots.txt, in days.
    pub(crate) crawl_delay_days: Option<f64>,
    /// Longest wait in days.
    pub(crate) max_wait_days: f64,
    /// True if the caller does not ask again while the host is busy.
    pub(crate) is_final: bool,
}

/// Answer to a permit request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Permit {
    /// Granted from this day on. It must be returned.
    StartsAt(f64),
    /// Other fetches are in flight at the host.
    Busy,
    /// Refused until this day.
    NotBefore(f64),
}

/// Return of a permit after a visit.
#[derive(Clone, Debug)]
pub(crate) struct PermitReturn {
    pub(crate) host: String,
    /// Cooldown that the host asked for, in days.
    pub(crate) cooldown_days: Option<f64>,
    /// True if the host is to blame for a failure.
    pub(crate) failed: bool,
}

/// Message of a fetch or a document reader to the event loop.
pub(crate) enum LoopMessage {
    /// With the id of the host, if it has one.
    RequestPermit(PermitRequest, Option<u32>, oneshot::Sender<Permit>),
    ReturnPermit(PermitReturn, Option<u32>),
    RobotsRead(RobotsRecord),
    /// Entries of a document. Acknowledged when there is room for more.
    Entries {
        signal_source: u32,
        /// Source that was fetched. Ids of signal sources are reused, those of sources are not.
        source: Option<u32>,
        root: u32,
        entries: Vec<ObservedEntry>,
        /// Pages added, out of the number reserved from the limit.
        added: u32,
        reserved: u32,
        done: oneshot::Sender<()>,
    },
    /// Pages to add as sources.
    Discovered {
        signal_source: u32,
        source: Option<u32>,
        root: u32,
        /// Total limit of the rule.
        max_added: u64,
        requests: Vec<NewSourceRequest>,
        done: oneshot::Sender<DiscoveryResult>,
    },
    /// Children of an index. Answered with the sources of the children that are read.
    Children {
        signal_source: u32,
        source: Option<u32>,
        root: u32,
        urls: Vec<String>,
        /// True if the index has no other children.
        is_complete: bool,
        done: oneshot::Sender<Vec<Option<u32>>>,
    },
}

/// Result of adding discovered pages.
#[derive(Debug, Default)]
pub(crate) struct DiscoveryResult {
    /// Results for the first pages, as many as the limit allowed.
    pub(crate) added: Vec<AddResult>,
    /// Number of pages beyond the limit.
    pub(crate) over_limit: u64,
    /// Number reserved from the limit.
    pub(crate) reserved: u32,
}

/// Grants permits for hosts.
pub(crate) enum HostPermits {
    /// The event loop of this process.
    EventLoop(mpsc::UnboundedSender<LoopMessage>),
    /// A daemon in another process.
    Daemon(Mutex<ControlClient>),
    /// No daemon: the store's cooldowns and what this process has done.
    Local(Mutex<UnlistedHosts>),
}

/// State of hosts without sources.
#[derive(Default)]
pub(crate) struct UnlistedHosts {
    hosts: HashMap<String, UnlistedHost>,
    /// Robots.txt files to save.
    pub(crate) robots: Vec<RobotsRecord>,
}

#[derive(Clone, Copy, Default)]
struct UnlistedHost {
    in_flight: u32,
    free_at: f64,
    gap: f64,
    failures: u32,
    /// Day of the last postponed request.
    postponed_until: f64,
}

impl UnlistedHosts {
    /// Sets the cooldown of a host.
    pub(crate) fn set_cooldown(&mut self, host: &str, until: f64) {
        let it = self.hosts.entry(host.to_owned()).or_default();
        it.free_at = it.free_at.max(until);
    }

    pub(crate) fn request(
        &mut self,
        request: &PermitRequest,
        now: f64,
        gap: f64,
        connections: u32,
    ) -> Permit {
        let it = self.hosts.entry(request.host.clone()).or_default();
        if let Some(days) = request.crawl_delay_days {
            it.gap = days.clamp(0.0, MAX_GAP_DAYS);
        }
        let (gap, free) = (gap.max(it.gap), it.free_at.max(now));
        if free <= now + request.max_wait_days {
            if it.in_flight < connections {
                it.in_flight += 1;
                it.free_at = free + gap;
                return Permit::StartsAt(free);
            }
            if !request.is_final {
                return Permit::Busy;
            }
        }
        self.postpone(&request.host, free, gap)
    }

    /// Assigns the next free day to a postponed request; requests line up at the gap.
    pub(crate) fn postpone(&mut self, host: &str, free: f64, gap: f64) -> Permit {
        let it = self.hosts.entry(host.to_owned()).or_default();
        it.postponed_until = free.max(it.postponed_until + gap);
        Permit::NotBefore(it.postponed_until)
    }

    /// Returns a permit. Yields the day until which the host is in a cooldown.
    pub(crate) fn return_permit(
        &mut self,
        permit_return: &PermitReturn,
        now: f64,
        gap: f64,
    ) -> f64 {
        let it = self.hosts.entry(permit_return.host.clone()).or_default();
        it.in_flight = it.in_flight.saturating_sub(1);
        it.failures = if permit_return.failed { (it.failures + 1).min(9) } else { 0 };
        // As for hosts with sources: a minute, doubling with each failure up to four hours.
        let back_off =
            if permit_return.failed { f64::from(1_u32 << (it.failures - 1)) / 1440.0 } else { 0.0 };
        let wait = permit_return
            .cooldown_days
            .unwrap_or(0.0)
            .clamp(0.0, 30.0)
            .max(back_off)
            .max(gap.max(it.gap));
        it.free_at = it.free_at.max(now + wait);
        it.free_at
    }

    /// Returns the cooldowns that end after `now`.
    pub(crate) fn cooldowns_after(&self, now: f64) -> Vec<HostCooldown> {
        let resting = self.hosts.iter().filter(|(_, it)| it.free_at > now);
        resting
            .map(|(host, it)| HostCooldown {
                host: host.clone(),
                until: millis_from_days(it.free_at),
            })
            .collect()
    }

    pub(crate) fn forget(&mut self, host: &str) {
        self.hosts.remove(host);
    }

    /// Drops hosts without pending state.
    pub(crate) fn prune(&mut self, now: f64) {
        self.hosts.retain(|_, it| it.in_flight > 0 || it.free_at.max(it.postponed_until) > now);
        self.hosts.shrink_to(2 * self.hosts.len());
    }
}

impl HostPermits {
    pub(crate) async fn request(
        &self,
        request: PermitRequest,
        readers: &ReaderPool,
        clock: &Clock,
        gap: f64,
    ) -> Permit {
        let now = clock.now_days();
        match self {
            Self::EventLoop(core) => {
                let (reply, answer) = oneshot::channel();
                let number = host_id(readers, &request.host);
                let _ = core.send(LoopMessage::RequestPermit(request, number, reply));
                // A stopping daemon grants no permits.
                answer.await.unwrap_or(Permit::NotBefore(now))
            }
            Self::Daemon(client) => {
                let PermitRequest {
                    host,
                    crawl_delay_days: delay,
                    max_wait_days: patience,
                    is_final: last,
                } = request;
                match send_request(
                    client,
                    ControlRequest::RequestPermit {
                        host,
                        crawl_delay_days: delay,
                        max_wait_days: patience,
                        is_final: last,
                    },
                ) {
                    Some(ControlResponse::Permit(Some(day))) if day <= now + patience => {
                        Permit::StartsAt(day.max(now))
                    }
                    Some(ControlResponse::Permit(Some(day))) => Permit::NotBefore(day),
                    _ => Permit::Busy,
                }
            }
            Self::Local(unlisted) => {
                let stored_cooldown = readers
                    .with_reader(|reader| reader.host_cooldown_until(&request.host))
                    .ok()
                    .flatten();
                let mut unlisted = lock_hosts(unlisted);
                unlisted.set_cooldown(&request.host, stored_cooldown.map_or(0.0, days_from_millis));
                unlisted.request(&request, now, gap, 1)
            }
        }
    }

    pub(crate) fn return_permit(
        &self,
        permit_return: PermitReturn,
        readers: &ReaderPool,
        clock: &Clock,
        gap: f64,
    ) {
        match self {
            Self::EventLoop(core) => {
                let number = host_id(readers, &permit_return.host);
                let _ = core.send(LoopMessage::ReturnPermit(permit_return, number));
            }
            Self::Daemon(client) => {
                let PermitReturn { host, cooldown_days, failed } = permit_return;
                send_request(client, ControlRequest::ReturnPermit { host, cooldown_days, failed });
            }
            Self::Local(unlisted) => {
                lock_hosts(unlisted).return_permit(&permit_return, clock.now_days(), gap);
            }
        }
    }

    /// Sends a message to the event loop, if there is one.
    pub(crate) fn send(&self, message: LoopMessage) {
        if let Self::EventLoop(core) = self {
            let _ = core.send(message);
        }
    }

    pub(crate) fn save_robots(&self, file: RobotsRecord) {
        match self {
            Self::EventLoop(core) => {
                let _ = core.send(LoopMessage::RobotsRead(file));
            }
            Self::Daemon(_) => {}
            Self::Local(unlisted) => lock_hosts(unlisted).robots.push(file),
        }
    }
}

/// Sends a request to the daemon, which may have stopped.
fn send_request(client: &Mutex<ControlClient>, request: ControlRequest) -> Option<ControlResponse> {
    tokio::task::block_in_place(|| {
        client.lock().unwrap_or_else(PoisonError::into_inner).send(request).ok()
    })
}

pub(crate) fn lock_hosts(unlisted: &Mutex<UnlistedHosts>) -> MutexGuard<'_, UnlistedHosts> {
    unlisted.lock().unwrap_or_else(PoisonError::into_inner)
}

fn host_id(readers: &ReaderPool, host: &str) -> Option<u32> {
    readers.with_reader(|reader| reader.find_host(host)).ok().flatten().map(|host| host.id)
}
