//! The engine at work, with an eye on one source.

use freshet_engine::{Action, Alarm, Reason};

use super::engine::Engine;
use super::{Event, Outcome, Policy};
use crate::ledger::Calendar;
use crate::process::Stream;
use crate::setting::Setting;
use crate::story::{Moment, Standpoint, Story, What};
use crate::web::Web;

/// Takes note of all that concerns a source. The engine does what it would do unobserved.
pub(crate) struct SourceRecorder<'a> {
    inner: Engine,
    web: &'a Web,
    calendar: Calendar,
    source: u32,
    /// The true changes, from the same dice as those of the run.
    stream: Stream,
    next: f64,
    missed: u32,
    /// The fetch that is under way: since when, why, and how things stood.
    asked: Option<(f64, Reason, Option<Standpoint>)>,
    moments: Vec<Moment>,
    /// The piece of the calendar at whose end it looks whether anything was noted.
    piece: usize,
}

impl<'a> SourceRecorder<'a> {
    pub(crate) fn new(setting: &Setting<'a>, variant: Option<&str>, source: u32) -> Self {
        Self {
            inner: Engine::new(setting, variant),
            web: setting.web,
            calendar: setting.calendar,
            source,
            stream: setting.web.stream(source as usize),
            next: f64::INFINITY,
            missed: 0,
            asked: None,
            moments: Vec::new(),
            piece: 1,
        }
    }

    /// What came of it.
    pub(crate) fn close(mut self, days: f64) -> Story {
        self.note(days, What::End, self.standpoint(days));
        Story { moments: self.moments, end: self.inner.engine().explain(self.source) }
    }

    fn standpoint(&self, day: f64) -> Option<Standpoint> {
        self.inner.engine().explain(self.source).map(|it| Standpoint::of(&it, day))
    }

    fn note(&mut self, day: f64, what: What, before: Option<Standpoint>) {
        let rate = self.web.rate(self.source as usize, day);
        let after = self.inner.engine().explain(self.source);
        self.moments.push(Moment { day, what, before, missed: self.missed, rate, after });
    }

    /// The next true change; none after the host has gone.
    fn draw(&mut self) {
        let source = self.source as usize;
        let next = self.web.next_change(source, &mut self.stream);
        let end = self.web.faults.end(self.web.population.host[source]);
        self.next = if next < end { next } else { f64::INFINITY };
    }

    /// Changes, and long times without anything, up to now.
    fn look(&mut self, now: f64) {
        while self.next <= now {
            self.missed += 1;
            let (day, announced) = (self.next, self.web.population.complete[self.source as usize]);
            self.draw();
            if !announced {
                self.note(day, What::Changed, self.standpoint(day));
            }
        }
        while self.calendar.edge(self.piece) <= now && self.piece < self.calendar.pieces() {
            let (from, to) = (self.calendar.edge(self.piece - 1), self.calendar.edge(self.piece));
            self.piece += 1;
            let quiet = self.moments.last().is_some_and(|last| last.day < from);
            let before = self.standpoint(to);
            if quiet && before.is_some() {
                self.note(to, What::Waits, before);
            }
        }
    }

    /// What the engine said in the last step.
    fn listen(&mut self, now: f64) {
        let host = self.web.population.host[self.source as usize];
        for at in 0..self.inner.actions().len() {
            match self.inner.actions()[at] {
                Action::Fetch { id, reason } if id == self.source => {
                    self.asked = Some((now, reason, self.standpoint(now)));
                }
                Action::Gone(id) if id == self.source => {
                    self.note(now, What::GivenUp, self.standpoint(now));
                }
                Action::Alarm(Alarm::HostDown(down)) if down == host => {
                    self.note(now, What::HostDown, self.standpoint(now));
                }
                Action::Alarm(Alarm::HostBack(back)) if back == host => {
                    self.note(now, What::HostBack, self.standpoint(now));
                }
                _ => {}
            }
        }
    }

    /// What an event is to the source; `None` if it does not concern it.
    fn what(&mut self, now: f64, event: Event) -> Option<What> {
        match event {
            Event::Added(source) if source == self.source => {
                // What was before is in the first copy.
                loop {
                    self.draw();
                    if self.next > now {
                        break;
                    }
                }
                Some(What::Described)
            }
            Event::Removed(source) if source == self.source => {
                self.next = f64::INFINITY;
                Some(What::Removed)
            }
            Event::Changed(source) if source == self.source => Some(What::Announced),
            Event::Signalled(source) if source == self.source => Some(What::Signalled),
            Event::Fetched { source, outcome } if source == self.source => {
                let (asked, reason, _) = self.asked.unwrap_or((now, Reason::Worth, None));
                if matches!(outcome, Outcome::Changed { .. } | Outcome::Unchanged) {
                    self.missed = 0;
                }
                Some(What::Fetched { reason, asked, outcome })
            }
            Event::Budget(budget) => Some(What::Budget(budget)),
            Event::Rates => {
                let rate = |day| self.web.rate(self.source as usize, day);
                let factor = rate(now) / rate(now - 1e-3);
                (factor != 1.0).then_some(What::Rate(factor))
            }
            _ => None,
        }
    }
}

impl Policy for SourceRecorder<'_> {
    fn wake(&self) -> f64 {
        let look = match self.piece < self.calendar.pieces() {
            true => self.calendar.edge(self.piece),
            false => f64::INFINITY,
        };
        self.inner.wake().min(self.next).min(look)
    }

    fn hears(&self) -> bool {
        self.inner.hears()
    }

    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>) {
        self.look(now);
        if event == Event::Wake && self.inner.wake() > now {
            return;
        }
        let what = self.what(now, event);
        let before = match what {
            Some(What::Fetched { .. }) => self.asked.take().and_then(|(.., before)| before),
            Some(_) => self.standpoint(now),
            None => None,
        };
        self.inner.step(now, event, fetches);
        if let Some(what) = what {
            self.note(now, what, before);
        }
        self.listen(now);
    }
}
