//! What a fetch is worth, and when it will be worth its price.

use freshet_estimate::{Belief, Counted, Heard, Life, Penalty, Pending, Reading};

use crate::engine::Engine;
use crate::signal_sources::{Listening, Reader};
use crate::source::{Goal, Link, Source};

/// What a source that is fetched at any price counts, so that it is first; the more important first.
const FORCED: f64 = 1e100;
/// Days within which the first copy of a source is in time.
const IN_TIME: f64 = 1.0;
/// Of a source of which nothing is known yet, the interval is at most so many times as long as if it
/// changed all the time: what its siblings are like is no excuse for not looking.
const RISK: f64 = 2.0;

/// How many standard deviations above what is believed a change rate may well be.
const HOPE: f64 = 3.0;

impl Engine {
    /// What a source's copy is to be good for.
    pub(crate) fn goal(&self, source: &Source) -> Goal {
        let other = (source.goal as usize).checked_sub(1);
        other.and_then(|at| self.goals.get(at).copied()).unwrap_or(self.settings.goal)
    }

    /// What is believed about a source's change rate.
    pub(crate) fn belief(&self, source: &Source) -> Belief {
        if let Some(ear) = self.heralds.first_heard(source.ear()) {
            return ear.reading.changes();
        }
        let known = self.known_belief(source);
        known.unwrap_or_else(|| source.learnt_on(self.hosts[source.host as usize].prior))
    }

    /// What the owner knows about a source's change rate.
    pub(crate) fn known_belief(&self, source: &Source) -> Option<Belief> {
        source.is_known().then(|| {
            let (shape, days) = (f64::from(source.changes), f64::from(source.days));
            Belief::new(shape, days).unwrap_or(self.prior.belief())
        })
    }

    /// A source with what is believed and wanted of it.
    #[inline]
    pub(crate) fn view<'a>(&self, source: &'a Source) -> View<'a> {
        let hears = self.hears(source);
        View { source, belief: self.belief(source), goal: self.goal(source), hears }
    }

    /// What heralds have to do with a source.
    #[inline]
    pub(crate) fn hears(&self, source: &Source) -> Hears {
        match source.link() {
            Link::None => Hears::Nobody,
            Link::Ear(place) => match self.heralds.first_heard(Some(place)) {
                Some(ear) => Hears::Somebody(ear.into()),
                None => Hears::Nobody,
            },
            Link::Herald(number) => match self.heralds.voice(number) {
                Some(voice) => Hears::Read(Box::new(voice.reader())),
                None => Hears::Nobody,
            },
        }
    }

    /// Whether there may be an end to what a fetch is worth as time goes by, or it is not known how fast
    /// that grows.
    pub(crate) fn levels_off(&self, source: &Source) -> bool {
        self.goal(source).levels_off() || source.link() != Link::None
    }

    /// What a fetch of a source is worth just after a signal, for each unit of importance.
    pub(crate) fn jump(&self, source: &Source, reading: &Reading) -> f64 {
        let heard = Heard { days: 0.0, signals: 1.0 };
        let told = reading.precision();
        match self.goal(source) {
            Goal::Keep(penalty) => match Counted::new(penalty) {
                Some(counted) => reading.value(counted, heard),
                // A change that is as old as changes usually are when the next one comes.
                None => told * 1.5 / reading.changes().mean().powi(2),
            },
            Goal::Capture(capture) => told * capture.captured(0.0, 0),
        }
    }

    /// What a fetch of a source is worth now for each unit of cost, as if heralds had said nothing since the
    /// last one.
    pub(crate) fn worth_unsaid(&self, now: f64, source: &Source) -> f64 {
        if source.importance <= 0.0 {
            return 0.0;
        }
        self.view(source).deaf().worth(now)
    }

    /// The same for the day on which it is worth a price.
    pub(crate) fn due_unsaid(&self, now: f64, source: &Source, price: f64) -> f64 {
        self.view(source).deaf().due(now, price)
    }

    /// The chance that a copy is what its source is.
    pub(crate) fn fresh_now(&self, source: &Source) -> f64 {
        let days = (self.now - source.seen()).max(0.0);
        match self.heralds.first_heard(source.ear()) {
            Some(ear) => ear.reading.no_change(ear.heard(days)),
            None => self.belief(source).no_change(days),
        }
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, source: &Source, price: f64) -> f64 {
        if source.importance <= 0.0 {
            return f64::from(source.max_interval);
        }
        self.view(source).interval(price)
    }

    /// The day on which a source will be worth a price.
    pub(crate) fn due(&self, now: f64, source: &Source, price: f64) -> f64 {
        if source.is_new() {
            return now;
        }
        self.view(source).due(now, price)
    }

    /// What a fetch of a source is worth now for each unit of cost, apart from all limits.
    pub(crate) fn worth(&self, now: f64, source: &Source) -> f64 {
        if source.importance <= 0.0 {
            return 0.0;
        }
        self.view(source).worth(now)
    }

    /// Its rank among those that wait: its worth, or more than that if it is to be fetched anyway.
    pub(crate) fn rank(&self, now: f64, source: &Source) -> f64 {
        let is_first = source.is_new() && !source.is_retried() && source.importance > 0.0;
        if is_first || source.is_overdue(now) {
            // Where not all can be had in time, nobody waits for ever. In whole steps: who was ranked last
            // is not worth more for that.
            let in_time = f64::from(source.max_interval).clamp(1e-9, IN_TIME);
            let late = ((now - source.last) / in_time).clamp(0.0, 1e9).floor();
            FORCED * (1.0 + f64::from(source.importance)) * (1.0 + late) / f64::from(source.cost)
        } else if source.is_retried() {
            // It also tells whether its host is there again.
            self.worth(now, source).max(self.price)
        } else {
            self.worth(now, source)
        }
    }
}

/// A source with what is believed and wanted of it: all that its worth depends on.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub(crate) source: &'a Source,
    pub(crate) belief: Belief,
    pub(crate) goal: Goal,
    pub(crate) hears: Hears,
}

/// What heralds have to do with a source.
#[derive(Clone, Debug)]
pub(crate) enum Hears {
    Nobody,
    /// One that speaks of it is listened to.
    Somebody(Listening),
    /// It is read to hear one.
    Read(Box<Reader>),
}

/// Steps in search of the day on which something is worth a price.
const STEPS: u32 = 60;
/// The farthest day that is looked for, in days.
const FARTHEST: f64 = 1e5;

/// The first of the days on which what never falls reaches a price; infinite if there is none.
fn first_day(price: f64, value: impl Fn(f64) -> f64) -> f64 {
    if value(FARTHEST) < price || price.is_nan() {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, FARTHEST);
    for _ in 0..STEPS {
        // Short times as exactly as long ones.
        let middle = if low > 0.0 { (low * high).sqrt() } else { 1e-3 * high };
        if value(middle) < price {
            low = middle
        } else {
            high = middle
        }
        if high < 1e-9 || high - low <= 1e-9 * high {
            break;
        }
    }
    high
}

impl View<'_> {
    /// What a fetch of a source must be worth, for each unit of its importance.
    fn price_for(&self, price: f64) -> f64 {
        let source = self.source;
        price * f64::from(source.cost) / f64::from(source.importance)
    }

    /// The same as if heralds had said nothing since the last fetch.
    fn deaf(self) -> Self {
        match self.hears {
            Hears::Somebody(it) => Self { hears: Hears::Somebody(it.deaf()), ..self },
            _ => self,
        }
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, price: f64) -> f64 {
        let Self { source, belief, goal, .. } = *self;
        let (least, most) = (f64::from(source.min_interval), f64::from(source.max_interval));
        if source.importance <= 0.0 {
            return most;
        }
        let price = self.price_for(price);
        let free = if source.is_observed() {
            // Every k-th change; about as many as are worth the price.
            let between = 1.0 / belief.mean();
            between * (price / between).max(1.0)
        } else if let Hears::Somebody(it) = &self.hears {
            self.interval_by_signals(it, price)
        } else if let Hears::Read(_) = &self.hears {
            first_day(price, |days| self.value_after(days))
        } else {
            match goal {
                Goal::Keep(penalty) if source.is_unknown() => {
                    let cap = risk_cap(penalty, price);
                    if is_at_risk(penalty, belief, cap) {
                        cap
                    } else {
                        penalty.due(belief, price).min(cap)
                    }
                }
                Goal::Keep(penalty) => penalty.due(belief, price),
                Goal::Capture(capture) => capture.due(hopeful(source, belief), price),
            }
        };
        free.max(least).min(most)
    }

    /// The day on which a source will be worth a price.
    pub(crate) fn due(&self, now: f64, price: f64) -> f64 {
        let source = self.source;
        if source.is_new() {
            return now;
        }
        if let Hears::Somebody(it) = &self.hears {
            return self.due_by_signals(it, now, price);
        }
        if !source.is_observed() {
            return source.last + self.interval(price);
        }
        let latest = source.last + f64::from(source.max_interval);
        if source.pending == 0 || source.importance <= 0.0 {
            return latest;
        }
        let price = self.price_for(price);
        let earliest = source.last + f64::from(source.min_interval);
        if self.pending_value(now) >= price {
            return now.max(earliest);
        }
        let day = match self.goal {
            // Only age grows by itself: T²/2 + T·E[1/c].
            Goal::Keep(Penalty::Age) => {
                let pending = Pending { changes: source.pending, days: 1.0 };
                let belief = self.belief.unchanged(now - source.seen());
                let rate = Penalty::Age.pending_value(belief, pending) - 0.5;
                let wait = 2.0 * price / (rate + (rate * rate + 2.0 * price).sqrt());
                if wait > 0.0 { source.first() + wait } else { f64::INFINITY }
            }
            _ => f64::INFINITY,
        };
        day.max(earliest).min(latest)
    }

    /// What a fetch of a source is worth now for each unit of cost, and of importance 1.
    fn value(&self, now: f64) -> f64 {
        if self.source.is_observed() {
            self.pending_value(now)
        } else {
            self.value_after(now - self.source.last)
        }
    }

    /// The same so many days after the last fetch, of a source that does not announce its changes.
    fn value_after(&self, days: f64) -> f64 {
        match &self.hears {
            Hears::Somebody(it) => self.value_by_signals(it, days),
            Hears::Read(reader) => {
                let penalty = match self.goal {
                    Goal::Keep(penalty) => penalty,
                    Goal::Capture(_) => Penalty::Freshness,
                };
                let importance = f64::from(self.source.importance);
                let worth = reader.worth(penalty, days, importance) / importance;
                if reader.on_trial { worth.max(self.usual_value(days)) } else { worth }
            }
            Hears::Nobody => self.usual_value(days),
        }
    }

    /// The same of a source of which nobody speaks.
    fn usual_value(&self, days: f64) -> f64 {
        let Self { source, belief, .. } = *self;
        match self.goal {
            Goal::Keep(penalty) if source.is_unknown() => {
                let risk = risk(penalty, days);
                if is_at_risk(penalty, belief, days) {
                    risk
                } else {
                    penalty.value(belief, days).max(risk)
                }
            }
            Goal::Keep(penalty) => penalty.value(belief, days),
            Goal::Capture(capture) => capture.value(hopeful(source, belief), days),
        }
    }

    /// The same of one that listens to a herald.
    fn value_by_signals(&self, it: &Listening, days: f64) -> f64 {
        let heard = it.heard(days);
        let missed = it.reading.missed();
        let rest = match self.goal {
            Goal::Keep(penalty) => match Counted::new(penalty) {
                Some(counted) => return it.reading.value(counted, heard),
                None => penalty.value(missed, days),
            },
            Goal::Capture(capture) => capture.value(hopeful(self.source, missed), days),
        };
        if heard.signals <= 0.0 {
            return rest;
        }
        // One of them is true, or none: then it is as if nobody had said anything.
        let none = (1.0 - it.reading.precision()).powf(heard.signals);
        let age = days - f64::from(it.first_after);
        let told = match self.goal {
            Goal::Keep(penalty) => {
                let changes = (it.reading.precision() * heard.signals).round().max(1.0) as u32;
                let belief = it.reading.changes();
                // At least one change is as good as seen.
                let seen = Belief::new(belief.shape().max(1.0) + 1.0, belief.days());
                penalty.pending_value(seen.unwrap_or(belief), Pending { changes, days: age })
            }
            Goal::Capture(capture) => {
                let latest = (days - f64::from(it.last_after)).max(0.0);
                0.5 * (capture.captured(age, 0) + capture.captured(latest, 0))
            }
        };
        (none * rest + (1.0 - none) * told).max(rest)
    }

    /// The day on which one that listens to a herald will be worth a price.
    fn due_by_signals(&self, it: &Listening, now: f64, price: f64) -> f64 {
        let source = self.source;
        let earliest = source.last + f64::from(source.min_interval);
        let latest = source.last + f64::from(source.max_interval);
        if source.importance <= 0.0 {
            return latest;
        }
        let price = self.price_for(price);
        let so_far = now - source.last;
        if self.value_by_signals(it, so_far) >= price {
            return now.max(earliest).min(latest);
        }
        let days = match self.goal {
            Goal::Keep(penalty) if let Some(counted) = Counted::new(penalty) => {
                it.reading.due(counted, f64::from(it.signals), price)
            }
            _ => first_day(price, |days| self.value_by_signals(it, days.max(so_far))),
        };
        (source.last + days).max(now).max(earliest).min(latest)
    }

    /// Days between the fetches of one that listens to a herald, about: if a signal is worth the price it
    /// is fetched with the next one, or when what is not told of is worth it.
    fn interval_by_signals(&self, it: &Listening, price: f64) -> f64 {
        let alone = |belief: Belief| match self.goal {
            Goal::Keep(penalty) => penalty.due(belief, price),
            Goal::Capture(capture) => capture.due(hopeful(self.source, belief), price),
        };
        if f64::from(it.jump) < price {
            return alone(self.belief);
        }
        let (rate, longest) = (it.reading.signals(), alone(it.reading.missed()));
        let spoken_of = -(-rate * longest).exp_m1() / rate;
        if spoken_of.is_finite() { spoken_of } else { longest }
    }

    /// The same for announced changes.
    fn pending_value(&self, now: f64) -> f64 {
        let source = self.source;
        if source.pending == 0 {
            return 0.0;
        }
        let days = (now - source.first()).max(0.0);
        match self.goal {
            Goal::Keep(penalty) => {
                let belief = self.belief.unchanged(now - source.seen());
                penalty.pending_value(belief, Pending { changes: source.pending, days })
            }
            Goal::Capture(capture) => {
                // As if they had come evenly from the first to the last; of a few that are left, the last.
                let latest = (now - source.seen()).clamp(0.0, days);
                let age = |share: f64| capture.captured(latest + share * (days - latest), 0);
                match capture.life {
                    Life::Changes(most) if source.pending > most => f64::from(most) * age(0.0),
                    _ => {
                        let each =
                            (0..8).map(|at| age((f64::from(at) + 0.5) / 8.0)).sum::<f64>() / 8.0;
                        (f64::from(source.pending) * each).max(age(0.0))
                    }
                }
            }
        }
    }

    /// What a fetch is worth now for each unit of cost, apart from all limits.
    pub(crate) fn worth(&self, now: f64) -> f64 {
        let source = self.source;
        if source.importance <= 0.0 {
            return 0.0;
        }
        f64::from(source.importance) * self.value(now) / f64::from(source.cost)
    }
}

/// What a source of which nothing is known is worth at least. If it changed all the time it would be
/// worth the days since the last fetch; or, by age, half their square.
fn risk(penalty: Penalty, days: f64) -> f64 {
    match penalty {
        Penalty::Harmonic | Penalty::Freshness => days / RISK,
        Penalty::Age => 0.5 * days * days / RISK,
    }
}

/// Whether that is surely more than what is believed of it: a fetch is worth `E[c] τ²/2` at most, or, by
/// age, `E[c] τ³/3`, and most of very many sources are far below that while nothing is known of them.
fn is_at_risk(penalty: Penalty, belief: Belief, days: f64) -> bool {
    let most = match penalty {
        Penalty::Harmonic | Penalty::Freshness => 2.0 / RISK,
        Penalty::Age => 1.5 / RISK,
    };
    belief.mean() * days <= most
}

/// The days after which that is a price.
fn risk_cap(penalty: Penalty, price: f64) -> f64 {
    match penalty {
        Penalty::Harmonic | Penalty::Freshness => RISK * price,
        Penalty::Age => (2.0 * RISK * price).sqrt(),
    }
}

/// To capture, a source is taken for one that changes as often as may well be: what a fetch brings may
/// have an upper limit, so that one that is thought to change seldom would never be worth a look
/// again, and nobody would learn better. The more is known of it, the less that is.
fn hopeful(source: &Source, belief: Belief) -> Belief {
    if source.is_known() {
        return belief;
    }
    let shape = belief.shape();
    Belief::new(HOPE.mul_add(shape.sqrt(), shape), belief.days()).unwrap_or(belief)
}
