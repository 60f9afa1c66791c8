//! The simulation loop in virtual time.

use freshet_estimate::CaptureObjective;

use crate::backlog::Backlog;
use crate::fault::Health;
use crate::ledger::{Calendar, Ledger, StalePeriod};
use crate::policy::{Event, Outcome, Policy};
use crate::process::Stream;
use crate::signals::SignalFeed;
use crate::web::Web;
use freshet_schedule::DueQueue;

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Sums by time step.
    pub ledger: Ledger,
    /// Largest number of requests to one host on one measured day.
    pub host_load: u32,
    /// Number of simulated changes, requests and signals.
    pub events: u64,
}

/// True state of a source and its copy.
struct Source {
    /// Next change that has not been processed.
    next: f64,
    stream: Stream,
    weight: f64,
    /// Changes that the copy lacks, and their harmonic number.
    missed: u32,
    harmonic: f64,
    /// Days of the first and the last of them.
    first: f64,
    latest: f64,
    host: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Present,
    /// A slow response is pending.
    Waiting,
    /// Gone, but the policy has not been informed.
    Gone,
}

struct World<'a> {
    web: &'a Web,
    sources: Vec<Source>,
    ledger: Ledger,
    /// Updates to capture, if the objective is capture.
    backlog: Option<Backlog>,
    /// Announced changes.
    announced: DueQueue,
    /// Signals that may be false, if the policy uses them.
    signal_feed: Option<SignalFeed<'a>>,
    /// Pending slow responses.
    answers: DueQueue,
    /// Requests to each host on the current day.
    loads: Vec<(u32, u32)>,
    host_load: u32,
    events: u64,
}

/// Runs a policy on a web, with the worth of updates if the objective is capture. The same
/// web and policy give the same run.
pub fn run(
    web: &Web,
    policy: &mut dyn Policy,
    calendar: Calendar,
    capture: Option<CaptureObjective>,
) -> Run {
    let backlog = capture.map(|capture| Backlog::new(capture, web.population.len()));
    play(web, policy, calendar, backlog, u64::MAX).0
}

/// As [`run`], without the worth of updates; stops after a number of requests.
pub(crate) fn run_at_most(
    web: &Web,
    policy: &mut dyn Policy,
    calendar: Calendar,
    requests: u64,
) -> Option<Run> {
    let (run, stopped) = play(web, policy, calendar, None, requests);
    (!stopped).then_some(run)
}

fn play(
    web: &Web,
    policy: &mut dyn Policy,
    calendar: Calendar,
    backlog: Option<Backlog>,
    at_most: u64,
) -> (Run, bool) {
    let mut left = at_most;
    let signal_feed = if policy.hears() { SignalFeed::new(web, calendar.days) } else { None };
    let mut world = World { backlog, signal_feed, ..World::new(web, calendar) };
    let (mut arrivals, mut departures) = world.arrivals_and_departures(calendar.days);
    let mut fetches = Vec::new();
    let mut course = web.course.iter().peekable();
    loop {
        let now = policy
            .wake()
            .min(course.peek().map_or(f64::INFINITY, |(day, _)| *day))
            .min(world.announced.next_day())
            .min(world.next_signal())
            .min(world.answers.next_day())
            .min(arrivals.next_day())
            .min(departures.next_day());
        if now >= calendar.days || left == 0 {
            break;
        }
        // At the same moment, scenario events come first, then arrivals, then changes and signals, then
        // fetches.
        if let Some(&(_, event)) = course.next_if(|(day, _)| *day <= now) {
            policy.step(now, event, &mut fetches);
        } else if let Some((_, source)) = arrivals.pop_due(now) {
            world.arrive(source, now);
            policy.step(now, Event::Added(source), &mut fetches);
        } else if let Some((_, source)) = departures.pop_due(now) {
            if world.depart(source, now) {
                policy.step(now, Event::Removed(source), &mut fetches);
            }
        } else if let Some((_, source)) = world.announced.pop_due(now) {
            if world.announce(source) {
                policy.step(now, Event::Changed(source), &mut fetches);
            }
        } else if let Some(source) = world.pop_signal(now) {
            if world.process_signal(source) {
                policy.step(now, Event::Signalled(source), &mut fetches);
            }
        } else if let Some((_, source)) = world.answers.pop_due(now) {
            let outcome = world.answer(source, now);
            policy.step(now, Event::Fetched { source, outcome }, &mut fetches);
        } else {
            policy.step(now, Event::Wake, &mut fetches);
        }
        while let Some(source) = fetches.pop() {
            left = left.saturating_sub(1);
            if let Some(outcome) = world.fetch(source, now) {
                policy.step(now, Event::Fetched { source, outcome }, &mut fetches);
            }
        }
    }
    (world.close(calendar.days), left == 0)
}

impl<'a> World<'a> {
    fn new(web: &'a Web, calendar: Calendar) -> Self {
        let population = &web.population;
        let source = |i: usize| Source {
            next: f64::INFINITY,
            stream: web.stream(i),
            weight: population.importance[i],
            missed: 0,
            harmonic: 0.0,
            first: 0.0,
            latest: 0.0,
            host: population.host[i],
            state: State::Absent,
        };
        Self {
            web,
            sources: (0..population.len()).map(source).collect(),
            ledger: Ledger::new(calendar),
            backlog: None,
            announced: DueQueue::default(),
            signal_feed: None,
            answers: DueQueue::default(),
            loads: vec![(0, 0); population.hosts()],
            host_load: 0,
            events: 0,
        }
    }

    /// Returns the days on which sources are added and removed.
    fn arrivals_and_departures(&mut self, days: f64) -> (DueQueue, DueQueue) {
        let population = &self.web.population;
        let mut departures = Vec::new();
        let mut arrivals = Vec::new();
        for i in 0..population.len() {
            let presence = population.presence(i);
            if presence.from >= days || presence.to <= presence.from {
                continue;
            }
            arrivals.push((presence.from, i as u32));
            let end = presence.to.min(self.web.faults.end(population.host[i]));
            if end < days {
                departures.push((end, i as u32));
            }
            let weight = population.importance[i];
            self.ledger.present(presence.from, end.min(days), weight);
        }
        (DueQueue::from_entries(arrivals), DueQueue::from_entries(departures))
    }

    fn arrive(&mut self, source: u32, now: f64) {
        let web = self.web;
        let it = &mut self.sources[source as usize];
        it.state = State::Present;
        // Earlier changes are in the first copy.
        loop {
            it.next = web.next_change(source as usize, &mut it.stream);
            if it.next > now {
                break;
            }
        }
        if web.population.complete[source as usize] {
            self.announced.push(it.next, source);
        }
        if let Some(signal_feed) = &mut self.signal_feed {
            signal_feed.arrive(source, now);
        }
    }

    /// Returns true if the policy is informed, which is not the case if the host has disappeared.
    fn depart(&mut self, source: u32, now: f64) -> bool {
        self.catch_up(source, now);
        self.settle(source, now);
        let it = &mut self.sources[source as usize];
        let known = self.web.faults.end(it.host) > now;
        it.state = if known { State::Absent } else { State::Gone };
        it.next = f64::INFINITY;
        if let Some(signal_feed) = &mut self.signal_feed {
            signal_feed.depart(source);
        }
        known
    }

    fn next_signal(&self) -> f64 {
        self.signal_feed.as_ref().map_or(f64::INFINITY, SignalFeed::first)
    }

    fn pop_signal(&mut self, now: f64) -> Option<u32> {
        self.signal_feed.as_mut()?.pop_due(now)
    }

    /// Processes a signal. Returns true if its source exists.
    fn process_signal(&mut self, source: u32) -> bool {
        self.events += 1;
        self.signal_feed.as_ref().is_some_and(|signal_feed| signal_feed.concerns(source))
    }

    /// Processes an announced change. Returns true if the policy is informed.
    fn announce(&mut self, source: u32) -> bool {
        if matches!(self.sources[source as usize].state, State::Absent | State::Gone) {
            return false;
        }
        self.change(source);
        self.announced.push(self.sources[source as usize].next, source);
        true
    }

    /// Processes the next change of a source.
    #[inline]
    fn change(&mut self, source: u32) {
        let it = &mut self.sources[source as usize];
        let at = it.next;
        if it.missed > 0 {
            self.ledger.stale(StalePeriod {
                from: it.latest,
                to: at,
                first: it.first,
                harmonic: it.harmonic,
                weight: it.weight,
            });
        } else {
            it.first = at;
        }
        it.missed += 1;
        it.harmonic += 1.0 / f64::from(it.missed);
        it.latest = at;
        it.next = self.web.next_change(source as usize, &mut it.stream);
        self.ledger.at(at).changes += it.weight;
        let since = self.ledger.since(at);
        if let Some(backlog) = &mut self.backlog {
            backlog.add(source, at, since);
        }
        self.events += 1;
    }

    /// Processes all changes of a source up to now.
    #[inline]
    fn catch_up(&mut self, source: u32, now: f64) {
        while self.sources[source as usize].next <= now {
            self.change(source);
        }
    }

    /// Records stale time up to now.
    #[inline]
    fn settle(&mut self, source: u32, now: f64) {
        let it = &mut self.sources[source as usize];
        if it.missed > 0 {
            self.ledger.stale(StalePeriod {
                from: it.latest,
                to: now,
                first: it.first,
                harmonic: it.harmonic,
                weight: it.weight,
            });
        }
    }

    /// Sends a request. Returns no outcome if the source does not exist or its host is slow.
    #[inline]
    fn fetch(&mut self, source: u32, now: f64) -> Option<Outcome> {
        let it = &mut self.sources[source as usize];
        if matches!(it.state, State::Absent | State::Waiting) {
            return None;
        }
        self.events += 1;
        self.ledger.at(now).requests += 1.0;
        let host = it.host;
        if now >= self.ledger.calendar().burn_in {
            let load = &mut self.loads[host as usize];
            let day = now as u32;
            *load = if load.0 == day { (day, load.1 + 1) } else { (day, 1) };
            self.host_load = self.host_load.max(load.1);
        }
        if it.state == State::Gone {
            return Some(Outcome::Gone);
        }
        match self.web.faults.health(host, now) {
            Health::Well => Some(self.refresh(source, now)),
            Health::Silent => Some(Outcome::Failed),
            Health::Gone => Some(Outcome::Gone),
            Health::Slow(days) => {
                it.state = State::Waiting;
                self.answers.push(now + days, source);
                None
            }
        }
    }

    /// Processes a slow response.
    fn answer(&mut self, source: u32, now: f64) -> Outcome {
        let it = &mut self.sources[source as usize];
        match it.state {
            State::Waiting => {
                it.state = State::Present;
                self.refresh(source, now)
            }
            _ => Outcome::Gone,
        }
    }

    /// Updates the copy and returns the outcome.
    #[inline]
    fn refresh(&mut self, source: u32, now: f64) -> Outcome {
        self.catch_up(source, now);
        if self.sources[source as usize].missed == 0 {
            return Outcome::Unchanged;
        }
        self.settle(source, now);
        let it = &mut self.sources[source as usize];
        let since = self.ledger.since(now);
        let backlog = self.backlog.as_mut();
        let worth = backlog.map_or(0.0, |backlog| backlog.take(source, now, since));
        let sums = self.ledger.at(now);
        sums.utility += it.weight * worth;
        sums.captured += it.weight;
        sums.delay += it.weight * (now - it.latest);
        sums.found += 1.0;
        let times = std::mem::take(&mut it.missed);
        it.harmonic = 0.0;
        Outcome::Changed { times }
    }

    fn close(mut self, days: f64) -> Run {
        for source in 0..self.sources.len() as u32 {
            if matches!(self.sources[source as usize].state, State::Present | State::Waiting) {
                self.catch_up(source, days.next_down());
                self.settle(source, days);
            }
        }
        Run { ledger: self.ledger, host_load: self.host_load, events: self.events }
    }
}
