//! Fetches that others make: handed out like our own, on leases that end.

use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::BuildHasher;
use std::time::Duration;

use freshet_engine::{Action, Blame, Engine, Event, Outcome};
use freshet_store::{Batch, StoredReason};
use tokio::sync::oneshot;

use super::{Core, known};
use crate::claim::{Lease, Taken};
use crate::clock::{Millis, millis};
use crate::config::ConcurrencySetting;
use crate::judge::Judged;

/// Sources of one claim at most.
const MOST: u32 = 10_000;
/// Steps that bring nothing before a claim is as full as it gets: with each the engine looks at some
/// sources.
const IN_VAIN: u32 = 3;
/// Sources that may be with others at one time.
const OUT: usize = 1 << 20;
/// For how long after its end a lease is good for a report, if nobody else was given the source.
const LATE: Millis = 3_600_000;
/// Days for which a source rests that goes back.
const A_MOMENT: f64 = 1e-8;
/// What a clock of somebody else may be ahead.
const AHEAD: Millis = 60_000;

/// What was handed out, and is to be looked up by who asked.
pub(crate) struct Granted {
    pub(crate) lease: Lease,
    pub(crate) until: Millis,
    pub(crate) sources: Vec<(u32, StoredReason)>,
    pub(crate) next: Option<Millis>,
}

/// What somebody else saw, judged.
pub(crate) struct JudgedReport {
    pub(crate) lease: Lease,
    pub(crate) at: Millis,
    pub(crate) judged: Judged,
}

/// A claim that is to be paid for.
struct Asked {
    sources: Vec<(u32, StoredReason)>,
    length: Duration,
    /// The day on which there may be more.
    next: f64,
    reply: oneshot::Sender<Granted>,
}

struct ActiveLease {
    since: Millis,
    sources: Vec<u32>,
    /// How many of them have not been reported.
    left: usize,
    over: bool,
}

/// What is with others.
#[derive(Default)]
pub(crate) struct Claims {
    waiting: VecDeque<Asked>,
    leases: HashMap<Lease, ActiveLease>,
    /// Which lease a source is of, until it is reported or asked for again.
    held: HashMap<u32, Lease>,
    /// The same of leases that are over: it may still be reported.
    late: HashMap<u32, Lease>,
    ends: BinaryHeap<Reverse<(Millis, Lease)>>,
    /// Leases that are not in the store yet.
    unwritten: HashMap<Lease, Millis>,
    /// Leases in the store that need not be there any more.
    dropped: Vec<u128>,
    secret: RandomState,
    made: u64,
    /// Reports that are recorded with the batch of a number, and who waits for them.
    reports: VecDeque<(u64, Vec<Taken>, oneshot::Sender<Vec<Taken>>)>,
    /// The number of the batch that is being filled.
    filling: u64,
    sent: u64,
}

impl Claims {
    /// What was asked for and has not been handed out.
    pub(super) fn asked(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().flat_map(|claim| claim.sources.iter().map(|(id, _)| *id))
    }

    /// How many sources are with others.
    pub(super) fn out(&self) -> usize {
        self.held.len()
    }

    /// A source is asked for anew: whoever held it does not any more. Says whether somebody did.
    pub(super) fn take_back(&mut self, id: u32) -> bool {
        !self.late.is_empty() && self.late.remove(&id).is_some()
            || !self.held.is_empty() && self.held.remove(&id).is_some()
    }

    /// A batch goes to the writer, with the leases that were given since the last: what comes now is in
    /// the next one.
    pub(super) fn send(&mut self, batch: &mut Batch) {
        let leases = &self.leases;
        let given = self.unwritten.drain().filter_map(|(lease, until)| {
            let ActiveLease { since, sources, .. } = leases.get(&lease)?;
            let (id, sources) = (lease.0, sources.clone());
            Some(freshet_store::Lease { id, granted_at: *since, expires_at: until, sources })
        });
        batch.leases.extend(given);
        batch.dropped_leases.append(&mut self.dropped);
        self.sent = self.filling;
        self.filling += 1;
    }

    /// What was sent last is written, with all before.
    pub(super) fn was_written(&mut self) {
        while self.reports.front().is_some_and(|(batch, ..)| *batch <= self.sent) {
            let Some((_, taken, reply)) = self.reports.pop_front() else { break };
            // Who reported may have gone.
            let _ = reply.send(taken);
        }
    }

    /// A lease need not be kept any more.
    fn drop_lease(&mut self, lease: Lease) {
        if self.unwritten.remove(&lease).is_none() {
            self.dropped.push(lease.0);
        }
    }

    /// Takes up a lease that another process gave. Gives the sources that its holder is fetching.
    fn take_up(&mut self, kept: freshet_store::Lease, now: Millis) -> Vec<u32> {
        let freshet_store::Lease { id, granted_at: since, expires_at: until, sources } = kept;
        let (lease, left) = (Lease(id), sources.len());
        if left == 0 || until.saturating_add(LATE) <= now {
            self.dropped.push(id);
            return Vec::new();
        }
        let over = until <= now;
        for &id in &sources {
            // Who was given it later has it.
            self.take_back(id);
            if over { &mut self.late } else { &mut self.held }.insert(id, lease);
        }
        let end = if over { until.saturating_add(LATE) } else { until };
        self.ends.push(Reverse((end, lease)));
        let asked = if over { Vec::new() } else { sources.clone() };
        self.leases.insert(lease, ActiveLease { since, sources, left, over });
        asked
    }

    /// Takes up what was given by the process before this one. What is being fetched, the engine is
    /// told; it is paid for.
    pub(crate) fn resume(
        &mut self,
        kept: Vec<freshet_store::Lease>,
        engine: &mut Engine,
        now: Millis,
        day: f64,
    ) {
        for lease in kept {
            for id in self.take_up(lease, now) {
                let Some(cost) = engine.cost(id) else { continue };
                engine.step(day, Event::Fetching(id), &mut Vec::new());
                engine.refund_budget(cost);
            }
        }
    }

    fn lease(&mut self) -> Lease {
        self.made += 1;
        let half = |part: u8| u128::from(self.secret.hash_one((self.made, part)));
        Lease(half(0) << 64 | half(1))
    }
}

impl Core {
    /// Somebody can make so many fetches now.
    pub(super) fn claim(&mut self, most: u32, length: Duration, reply: oneshot::Sender<Granted>) {
        let room = OUT.saturating_sub(self.flow.claims.out() + self.flow.claims.late.len());
        let most = most.min(MOST).min(u32::try_from(room).unwrap_or(u32::MAX));
        let (own, others) = (self.flow.tasks.len(), self.flow.claims.out());
        let held = self.allowance.until(self.engine.now(), own, others);
        let most = if held.is_some() || self.flow.stopping { 0 } else { most };
        let mut sources = Vec::new();
        let mut event = Event::Capacity(most);
        let mut in_vain = 0;
        loop {
            let before = sources.len();
            for action in self.step(event) {
                match action {
                    // What heralds say is heard here: nobody else could.
                    Action::Fetch { id, .. } if self.flow.heralds.is_read(id) => {
                        self.read_ourselves(id);
                    }
                    Action::Fetch { id, reason } if sources.len() < most as usize => {
                        sources.push((id, known(&self.engine, id, reason)));
                    }
                    action => self.follow_up(action),
                }
            }
            in_vain += u32::from(sources.len() == before);
            let is_full = sources.len() == most as usize;
            if is_full || in_vain == IN_VAIN || self.engine.wake() > self.engine.now() {
                break;
            }
            event = Event::Tick;
        }
        // Before nobody can fetch any more: then nothing is to be waited for.
        let is_paid = self.engine.settings().budget > 0.0;
        let next = held.unwrap_or_else(|| if is_paid { self.engine.wake() } else { f64::INFINITY });
        let left = most - u32::try_from(sources.len()).unwrap_or(most);
        if left > 0 {
            self.tell(Event::Withdrawn(left));
        }
        self.flow.claims.waiting.push_back(Asked { sources, length, next, reply });
    }

    /// A sitemap or feed is not for others to read. Where nobody is to fetch but others, it waits.
    fn read_ourselves(&mut self, id: u32) {
        if self.config.crew == ConcurrencySetting::Fixed(0) {
            self.flow.decided.remove(&id);
            return self.tell(Event::PutOff { id, days: 1.0, unasked: true });
        }
        self.flow.given += 1;
        self.flow.outbox.push_back(id);
    }

    /// Hands out what is paid for.
    pub(super) fn grant_claims(&mut self) {
        while let Some(claim) = self.flow.claims.waiting.front() {
            let mut ids = claim.sources.iter().map(|(id, _)| *id);
            if ids.any(|id| self.flow.unwritten.contains_key(&id)) {
                self.write();
                return;
            }
            let cost = self.cost_of_next_claim();
            if cost > 0.0 && self.flow.paid + cost > self.flow.covered {
                self.flow.stale = true;
                self.write();
                return;
            }
            let Some(claim) = self.flow.claims.waiting.pop_front() else { return };
            self.flow.paid += cost;
            self.hand_over(claim);
        }
    }

    /// What the claim that is next in line costs.
    pub(super) fn cost_of_next_claim(&self) -> f64 {
        let claim = self.flow.claims.waiting.front();
        let ids = claim.iter().flat_map(|claim| claim.sources.iter());
        ids.filter_map(|(id, _)| self.engine.cost(*id)).sum()
    }

    fn hand_over(&mut self, claim: Asked) {
        let Asked { sources, length, next, reply } = claim;
        let since = self.shop.clock.now();
        let until = since.saturating_add(millis(self.shop.clock.days_of(length)));
        let next = next.is_finite().then(|| millis(next).max(since));
        let claims = &mut self.flow.claims;
        let lease = claims.lease();
        let ids: Vec<u32> = sources.iter().map(|(id, _)| *id).collect();
        let granted = Granted { lease, until, sources, next };
        if reply.send(granted).is_err() {
            return self.give_back(&ids);
        }
        if ids.is_empty() {
            return;
        }
        claims.held.extend(ids.iter().map(|&id| (id, lease)));
        let left = ids.len();
        claims.leases.insert(lease, ActiveLease { since, sources: ids, left, over: false });
        claims.unwritten.insert(lease, until);
        claims.ends.push(Reverse((until, lease)));
        self.flow.stale = true;
    }

    fn give_back(&mut self, ids: &[u32]) {
        for &id in ids {
            let retry_after = Some(A_MOMENT);
            let outcome = Outcome::Failed { blame: Blame::Us, retry_after };
            self.tell(Event::Fetched { id, outcome });
        }
    }

    /// Leases that are over: what was not reported goes back.
    pub(super) fn end_leases(&mut self) {
        let now = self.shop.clock.now();
        while let Some(&Reverse((end, lease))) = self.flow.claims.ends.peek() {
            if end > now {
                break;
            }
            let claims = &mut self.flow.claims;
            claims.ends.pop();
            let Some(given) = claims.leases.get_mut(&lease) else { continue };
            if given.over {
                let given = claims.leases.remove(&lease);
                claims.drop_lease(lease);
                for id in given.iter().flat_map(|given| &given.sources) {
                    if claims.late.get(id) == Some(&lease) {
                        claims.late.remove(id);
                    }
                }
                continue;
            }
            given.over = true;
            let mut left = given.sources.clone();
            left.retain(|id| claims.held.get(id) == Some(&lease));
            if left.is_empty() {
                let is_kept = given.left > 0;
                claims.leases.remove(&lease);
                if is_kept {
                    claims.drop_lease(lease);
                }
                continue;
            }
            for id in &left {
                claims.held.remove(id);
                claims.late.insert(*id, lease);
            }
            claims.ends.push(Reverse((end.saturating_add(LATE), lease)));
            tracing::debug!(%lease, sources = left.len(), "a claim was not reported in time");
            self.give_back(&left);
        }
    }

    /// Records what others saw. They are told when it is durable.
    pub(super) fn reported(&mut self, told: Vec<JudgedReport>, reply: oneshot::Sender<Vec<Taken>>) {
        let taken: Vec<Taken> = told.into_iter().map(|told| self.take(told)).collect();
        if taken.iter().any(|it| matches!(it, Taken::Recorded(_))) {
            let batch = self.flow.claims.filling;
            self.flow.claims.reports.push_back((batch, taken, reply));
        } else {
            let _ = reply.send(taken);
        }
    }

    fn take(&mut self, told: JudgedReport) -> Taken {
        let JudgedReport { lease, at, mut judged } = told;
        let id = judged.record.source;
        let now = self.shop.clock.now();
        let claims = &mut self.flow.claims;
        let Some(given) = claims.leases.get_mut(&lease) else { return Taken::NoLease };
        let is_late = claims.late.get(&id) == Some(&lease);
        if !is_late && claims.held.get(&id) != Some(&lease) {
            return Taken::NotHeld;
        }
        if at < given.since || at > now.saturating_add(AHEAD) {
            return Taken::WrongTime;
        }
        given.left = given.left.saturating_sub(1);
        if given.left == 0 {
            claims.drop_lease(lease);
        }
        claims.take_back(id);
        // A clock that is a little ahead does not take the log along.
        judged.record.at = at.min(now);
        if let Some(change) = &mut judged.record.change {
            change.first_changed_at = change.first_changed_at.min(now);
        }
        self.flow.checked.remove(&id);
        let Some(cost) = self.engine.cost(id) else { return Taken::NoSource };
        if is_late {
            self.tell(Event::Fetching(id));
            // It was paid for when it was claimed.
            self.engine.refund_budget(cost);
        }
        let changed = judged.record.change.is_some();
        self.keep_report(id, judged);
        Taken::Recorded(changed)
    }
}
