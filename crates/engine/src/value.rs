//! What a fetch is worth, and when it will be worth its price.

use freshet_estimate::{Belief, Life, Penalty, Pending};

use crate::engine::Engine;
use crate::source::{Goal, Source};

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
        if source.is_known() {
            let (shape, days) = (f64::from(source.changes), f64::from(source.days));
            Belief::new(shape, days).unwrap_or(self.prior.belief())
        } else {
            source.learnt_on(self.hosts[source.host as usize].prior)
        }
    }

    /// A source with what is believed and wanted of it.
    #[inline]
    pub(crate) fn view<'a>(&self, source: &'a Source) -> View<'a> {
        View { source, belief: self.belief(source), goal: self.goal(source) }
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) source: &'a Source,
    pub(crate) belief: Belief,
    pub(crate) goal: Goal,
}

impl View<'_> {
    /// What a fetch of a source must be worth, for each unit of its importance.
    fn price_for(&self, price: f64) -> f64 {
        let source = self.source;
        price * f64::from(source.cost) / f64::from(source.importance)
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, price: f64) -> f64 {
        let Self { source, belief, goal } = *self;
        let (least, most) = (f64::from(source.min_interval), f64::from(source.max_interval));
        if source.importance <= 0.0 {
            return most;
        }
        let price = self.price_for(price);
        let free = if source.is_observed() {
            // Every k-th change; about as many as are worth the price.
            let between = 1.0 / belief.mean();
            between * (price / between).max(1.0)
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
        let source = self.source;
        if source.is_observed() {
            self.pending_value(now)
        } else {
            let (belief, days) = (self.belief, now - source.last);
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
