//! What fetches and signals tell.

use super::Engine;
use crate::event::{Action, Alarm, Blame, Outcome};
use crate::host::{DOWN, MOST_FAILURES, back_off};
use crate::memory::Memory;
use crate::source::{Flags, State};

/// Probes of a source that is gone before nobody asks any more.
const PROBES: u8 = 4;
/// Days to the first probe of a source that is gone.
const FIRST_PROBE: f64 = 7.0;

/// Days that a host is left alone at most because it asks for it: one that asks for years made a
/// mistake.
pub(super) const LONGEST_REST: f64 = 30.0;
/// Days between two fetches that a host can ask for.
pub(crate) const LONGEST_GAP: f64 = 1.0;

/// What was seen in some days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    Something,
    One,
}

impl Engine {
    pub(super) fn signal(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get_mut(id as usize) else { return };
        if source.state == State::Absent || !source.is_observed() {
            return;
        }
        let days = now - source.seen();
        source.announced(now);
        if source.state == State::Asked {
            source.flags.set(Flags::SIGNALLED, true);
        }
        self.learn(id, days, Seen::One);
        let source = &self.sources[id as usize];
        match source.state {
            State::Waiting if !source.is_retried() => self.enqueue(now, id),
            State::Ready => self.rank_anew(now, id),
            _ => {}
        }
    }

    /// Changes what is believed about a source by what was seen in the last days.
    fn learn(&mut self, id: u32, days: f64, seen: Seen) {
        let source = self.sources[id as usize];
        if source.is_known() || days.is_nan() || days <= 0.0 {
            return;
        }
        self.rhythm.answers += 1.0;
        let prior = self.hosts[source.host as usize].prior;
        if seen != Seen::One && Memory::is_for(id, self.sources.len()) {
            self.memory.learn(id, prior, days, seen == Seen::Something);
        }
        let half_life = self.settings.half_life.unwrap_or(self.memory.half_life());
        let kept = (-days / half_life).exp2();
        let mut faded = source;
        faded.set_learnt(f64::from(source.changes) * kept, f64::from(source.days) * kept);
        let belief = faded.learnt_on(prior);
        let belief = match seen {
            Seen::Nothing => belief.unchanged(days),
            Seen::Something => belief.changed(days),
            Seen::One => belief.counted(1, days),
        };
        let before = prior.belief();
        let source = &mut self.sources[id as usize];
        source.set_learnt(belief.shape() - before.shape(), belief.days() - before.days());
    }

    pub(super) fn fetched(
        &mut self,
        now: f64,
        id: u32,
        outcome: Outcome,
        day: f64,
        actions: &mut Vec<Action>,
    ) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if source.state != State::Asked {
            return;
        }
        let (host, moved_to) = (source.host, source.place);
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        it.asked -= 1;
        // It rests after a slow answer too.
        it.free = it.free.max(now + gap);
        // It gets in line again when it has rested.
        self.leave_line(host);
        self.spare = true;
        match outcome {
            Outcome::Changed => self.answered(now, day, id, Some(Seen::Something), actions),
            Outcome::Unchanged => self.answered(now, day, id, Some(Seen::Nothing), actions),
            Outcome::Copied => self.answered(now, day, id, None, actions),
            Outcome::Failed { blame, retry_after } => {
                let wait = retry_after
                    .filter(|days| *days > 0.0)
                    .map_or(0.0, |days| days.min(LONGEST_REST));
                self.failed(now, id, blame, wait, actions);
            }
            Outcome::Gone => self.gone(now, id, actions),
        }
        self.sources[id as usize].host = moved_to;
        self.come_back(now, host);
    }

    /// There is a copy of a day.
    fn answered(
        &mut self,
        now: f64,
        day: f64,
        id: u32,
        seen: Option<Seen>,
        actions: &mut Vec<Action>,
    ) {
        let source = self.sources[id as usize];
        let day = if day.is_nan() { now } else { day.max(source.last).min(now) };
        self.host_answered(source.host, actions);
        match seen {
            _ if source.is_new() => {}
            // What there was to see has been announced.
            _ if source.is_observed() => self.learn(id, day - source.seen(), Seen::Nothing),
            Some(seen) => {
                // Who listens is fetched when something was said: that tells nothing of all changes alone.
                if self.heralds.first_heard(source.ear()).is_none() {
                    self.learn(id, day - source.last, seen);
                } else {
                    self.rhythm.answers += 1.0;
                }
                self.learn_of_heralds(id, day - source.last, seen == Seen::Something);
            }
            None => {}
        }
        self.copied_with_ears(id, day, seen == Some(Seen::Something));
        let source = &mut self.sources[id as usize];
        source.copied(day);
        source.failures = 0;
        source.flags.set(Flags::RETRIED, false);
        source.flags.set(Flags::GONE, false);
        // What was announced while it was under way may not be in it.
        if source.is_observed() {
            source.pending = u32::from(source.flags.has(Flags::SIGNALLED));
        }
        source.flags.set(Flags::SIGNALLED, false);
        self.wait_again(now, id, None);
    }

    /// A host asks for a gap.
    pub(super) fn set_gap(&mut self, host: u32, days: f64) {
        if let Some(it) = self.hosts.get_mut(host as usize) {
            it.gap = if days > 0.0 { days.min(LONGEST_GAP) } else { 0.0 };
        }
    }

    pub(super) fn host_answered(&mut self, host: u32, actions: &mut Vec<Action>) {
        let it = &mut self.hosts[host as usize];
        it.failures /= 2;
        if it.down && it.failures == 0 {
            it.down = false;
            actions.push(Action::Alarm(Alarm::HostBack(host)));
        }
    }

    /// A host is at fault. Says for how many days it is left alone.
    pub(super) fn host_failed(&mut self, now: f64, host: u32, actions: &mut Vec<Action>) -> f64 {
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        // Fetches that were under way together fail together: that is one failure.
        if it.free <= now + gap {
            it.failures = (it.failures + 1).min(MOST_FAILURES);
        }
        if it.failures >= DOWN && !it.down {
            it.down = true;
            actions.push(Action::Alarm(Alarm::HostDown(host)));
        }
        back_off(it.failures)
    }

    fn failed(&mut self, now: f64, id: u32, blame: Blame, wait: f64, actions: &mut Vec<Action>) {
        let host = self.sources[id as usize].host;
        let wait = match blame {
            Blame::Host => wait.max(self.host_failed(now, host, actions)),
            Blame::Source | Blame::Us => wait,
        };
        // Whoever was at fault, a host that asks to be left alone is.
        let it = &mut self.hosts[host as usize];
        it.free = it.free.max(now + wait);
        let source = &mut self.sources[id as usize];
        let back_off = if source.flags.has(Flags::GONE) {
            // Its failures count something else: as long as can be.
            back_off(MOST_FAILURES)
        } else {
            let failures = source.failures + u8::from(blame != Blame::Us);
            source.failures = failures.min(MOST_FAILURES);
            // Our own fault may be no more than that something else came first.
            let is_put_off = blame == Blame::Us && failures == 0 && wait > 0.0;
            if is_put_off { wait } else { back_off(source.failures) }
        };
        let again = now + wait.max(back_off);
        self.wait_again(now, id, Some(again));
    }

    fn gone(&mut self, now: f64, id: u32, actions: &mut Vec<Action>) {
        self.host_answered(self.sources[id as usize].host, actions);
        let source = &mut self.sources[id as usize];
        if !source.flags.has(Flags::GONE) {
            source.flags.set(Flags::GONE, true);
            source.failures = 0;
        }
        source.failures = source.failures.saturating_add(1);
        if source.failures > PROBES {
            source.state = State::Parked;
            source.due = f64::INFINITY;
            actions.push(Action::Gone(id));
        } else {
            let again = now + FIRST_PROBE * f64::from(1_u32 << (source.failures - 1));
            self.wait_again(now, id, Some(again));
        }
    }

    /// A source that was fetched waits for its next time: a day, or the one on which it will be worth
    /// its price.
    pub(super) fn wait_again(&mut self, now: f64, id: u32, day: Option<f64>) {
        let source = &mut self.sources[id as usize];
        source.flags.set(Flags::RETRIED, day.is_some());
        if source.flags.has(Flags::PAUSED) {
            (source.state, source.due) = (State::Paused, day.unwrap_or(f64::INFINITY));
            return;
        }
        source.state = State::Waiting;
        match day {
            None => self.enqueue(now, id),
            Some(day) => self.queue_for(day, id),
        }
    }
}
