//! Results of fetches and observed changes: updates beliefs, hosts and schedules.

use super::Engine;
use crate::event::{Action, Alarm, FailureCause, FetchResult};
use crate::half_life::HalfLifeSelector;
use crate::host::{DOWN_AFTER_FAILURES, MAX_FAILURES, back_off};
use crate::source::{SourceFlags, SourceState};

/// Probes of a gone source before it is parked.
const MAX_GONE_PROBES: u8 = 4;
/// Days until the first probe of a gone source.
const FIRST_GONE_PROBE_INTERVAL: f64 = 7.0;

/// Maximum pause that a host can request, in days. A longer request is taken for a mistake.
pub(super) const MAX_RETRY_AFTER: f64 = 30.0;
/// Maximum crawl delay that a host can request, in days.
pub(crate) const MAX_HOST_GAP: f64 = 1.0;

/// Evidence about changes in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeEvidence {
    None,
    AtLeastOne,
    ExactlyOne,
}

impl Engine {
    pub(super) fn on_change_observed(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get_mut(id as usize) else { return };
        if source.state == SourceState::Absent || !source.is_observed() {
            return;
        }
        let days = now - source.evidence_until();
        source.record_pending_change(now);
        if source.state == SourceState::InFlight {
            source.flags.set(SourceFlags::SIGNALLED, true);
        }
        self.update_belief(id, days, ChangeEvidence::ExactlyOne);
        let source = &self.sources[id as usize];
        match source.state {
            SourceState::Waiting if !source.is_retry() => self.enqueue(now, id),
            SourceState::Candidate => self.rerank(now, id),
            _ => {}
        }
    }

    /// Updates the belief about a source with the evidence of the last `days`.
    fn update_belief(&mut self, id: u32, days: f64, evidence: ChangeEvidence) {
        let source = self.sources[id as usize];
        if source.has_owner_belief() || days.is_nan() || days <= 0.0 {
            return;
        }
        self.survey_schedule.answers += 1.0;
        let prior = self.hosts[source.host as usize].prior;
        if evidence != ChangeEvidence::ExactlyOne
            && HalfLifeSelector::is_sampled(id, self.sources.len())
        {
            self.half_life.observe_fetch(id, prior, days, evidence == ChangeEvidence::AtLeastOne);
        }
        let half_life = self.settings.half_life.unwrap_or(self.half_life.half_life());
        let decay = (-days / half_life).exp2();
        let mut decayed = source;
        decayed.set_evidence(f64::from(source.changes) * decay, f64::from(source.days) * decay);
        let belief = decayed.belief_on_prior(prior);
        let belief = match evidence {
            ChangeEvidence::None => belief.observe_no_change(days),
            ChangeEvidence::AtLeastOne => belief.observe_change(days),
            ChangeEvidence::ExactlyOne => belief.observe_count(1, days),
        };
        let before = prior.belief();
        let source = &mut self.sources[id as usize];
        source.set_evidence(belief.shape() - before.shape(), belief.days() - before.days());
    }

    pub(super) fn on_fetch_finished(
        &mut self,
        now: f64,
        id: u32,
        outcome: FetchResult,
        day: f64,
        actions: &mut Vec<Action>,
    ) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if source.state != SourceState::InFlight {
            return;
        }
        let (host, moved_to) = (source.host, source.place);
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        host_state.in_flight -= 1;
        // The gap also follows a slow answer.
        host_state.free_at = host_state.free_at.max(now + gap);
        // It becomes ready again after its gap.
        self.dequeue_host(host);
        self.may_spend_early = true;
        match outcome {
            FetchResult::Changed => {
                self.on_copy_received(now, day, id, Some(ChangeEvidence::AtLeastOne), actions)
            }
            FetchResult::Unchanged => {
                self.on_copy_received(now, day, id, Some(ChangeEvidence::None), actions)
            }
            FetchResult::Uncompared => self.on_copy_received(now, day, id, None, actions),
            FetchResult::Failed { cause: blame, retry_after } => {
                let wait = retry_after
                    .filter(|days| *days > 0.0)
                    .map_or(0.0, |days| days.min(MAX_RETRY_AFTER));
                self.failed(now, id, blame, wait, actions);
            }
            FetchResult::Gone => self.gone(now, id, actions),
        }
        self.sources[id as usize].host = moved_to;
        self.on_host_available(now, host);
    }

    /// Handles a copy made on `day`.
    fn on_copy_received(
        &mut self,
        now: f64,
        day: f64,
        id: u32,
        evidence: Option<ChangeEvidence>,
        actions: &mut Vec<Action>,
    ) {
        let source = self.sources[id as usize];
        let day = if day.is_nan() { now } else { day.max(source.last).min(now) };
        self.record_host_success(source.host, actions);
        match evidence {
            _ if source.is_new() => {}
            // All changes until the last signal are known already.
            _ if source.is_observed() => {
                self.update_belief(id, day - source.evidence_until(), ChangeEvidence::None)
            }
            Some(evidence) => {
                // A source with signals is fetched when a signal arrives, so the timing of its
                // fetches biases the plain estimate.
                if self.signal_sources.active_history(source.history()).is_none() {
                    self.update_belief(id, day - source.last, evidence);
                } else {
                    self.survey_schedule.answers += 1.0;
                }
                self.learn_from_signals(
                    id,
                    day - source.last,
                    evidence == ChangeEvidence::AtLeastOne,
                );
            }
            None => {}
        }
        self.record_copy_in_histories(id, day, evidence == Some(ChangeEvidence::AtLeastOne));
        let source = &mut self.sources[id as usize];
        source.record_copy(day);
        source.failures = 0;
        source.flags.set(SourceFlags::RETRIED, false);
        source.flags.set(SourceFlags::GONE, false);
        // A change announced while the fetch was in flight may be missing from the copy.
        if source.is_observed() {
            source.pending = u32::from(source.flags.has(SourceFlags::SIGNALLED));
        }
        source.flags.set(SourceFlags::SIGNALLED, false);
        self.reschedule(now, id, None);
    }

    /// Sets the crawl delay that a host requests.
    pub(super) fn set_host_gap(&mut self, host: u32, days: f64) {
        if let Some(host_state) = self.hosts.get_mut(host as usize) {
            host_state.gap = if days > 0.0 { days.min(MAX_HOST_GAP) } else { 0.0 };
        }
    }

    pub(super) fn record_host_success(&mut self, host: u32, actions: &mut Vec<Action>) {
        let host_state = &mut self.hosts[host as usize];
        host_state.failures /= 2;
        if host_state.down && host_state.failures == 0 {
            host_state.down = false;
            actions.push(Action::Alarm(Alarm::HostRecovered(host)));
        }
    }

    /// Records a failure of a host. Returns the days for which the host is left alone.
    pub(super) fn record_host_failure(
        &mut self,
        now: f64,
        host: u32,
        actions: &mut Vec<Action>,
    ) -> f64 {
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        // Fetches that were in flight together fail together and count as one failure.
        if host_state.free_at <= now + gap {
            host_state.failures = (host_state.failures + 1).min(MAX_FAILURES);
        }
        if host_state.failures >= DOWN_AFTER_FAILURES && !host_state.down {
            host_state.down = true;
            actions.push(Action::Alarm(Alarm::HostDown(host)));
        }
        back_off(host_state.failures)
    }

    fn failed(
        &mut self,
        now: f64,
        id: u32,
        blame: FailureCause,
        wait: f64,
        actions: &mut Vec<Action>,
    ) {
        let host = self.sources[id as usize].host;
        let wait = match blame {
            FailureCause::Host => wait.max(self.record_host_failure(now, host, actions)),
            FailureCause::Source | FailureCause::Us => wait,
        };
        // A requested pause is honoured whatever the cause of the failure.
        let host_state = &mut self.hosts[host as usize];
        host_state.free_at = host_state.free_at.max(now + wait);
        let source = &mut self.sources[id as usize];
        let back_off = if source.flags.has(SourceFlags::GONE) {
            // The failure count holds "gone" answers, so it uses the maximum back-off.
            back_off(MAX_FAILURES)
        } else {
            let failures = source.failures + u8::from(blame != FailureCause::Us);
            source.failures = failures.min(MAX_FAILURES);
            // For our own failures this may only mean that something else came first.
            let is_deferral = blame == FailureCause::Us && failures == 0 && wait > 0.0;
            if is_deferral { wait } else { back_off(source.failures) }
        };
        let retry_day = now + wait.max(back_off);
        self.reschedule(now, id, Some(retry_day));
    }

    fn gone(&mut self, now: f64, id: u32, actions: &mut Vec<Action>) {
        self.record_host_success(self.sources[id as usize].host, actions);
        let source = &mut self.sources[id as usize];
        if !source.flags.has(SourceFlags::GONE) {
            source.flags.set(SourceFlags::GONE, true);
            source.failures = 0;
        }
        source.failures = source.failures.saturating_add(1);
        if source.failures > MAX_GONE_PROBES {
            source.state = SourceState::Parked;
            source.due = f64::INFINITY;
            actions.push(Action::SourceGone(id));
        } else {
            let retry_day =
                now + FIRST_GONE_PROBE_INTERVAL * f64::from(1_u32 << (source.failures - 1));
            self.reschedule(now, id, Some(retry_day));
        }
    }

    /// Schedules the next fetch of a source: on `day`, or when its value reaches the price.
    pub(super) fn reschedule(&mut self, now: f64, id: u32, day: Option<f64>) {
        let source = &mut self.sources[id as usize];
        source.flags.set(SourceFlags::RETRIED, day.is_some());
        if source.flags.has(SourceFlags::PAUSED) {
            (source.state, source.due) = (SourceState::Paused, day.unwrap_or(f64::INFINITY));
            return;
        }
        source.state = SourceState::Waiting;
        match day {
            None => self.enqueue(now, id),
            Some(day) => self.push_to_queue(day, id),
        }
    }
}
