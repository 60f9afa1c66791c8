//! Value of fetching a source, and the day on which the value reaches a price.

use freshet_estimate::{
    Belief, ChangeCountPenalty, Penalty, PendingChanges, SignalEstimate, SignalsSinceFetch,
    UpdateLifetime,
};

use crate::engine::Engine;
use crate::signal_sources::{ActiveSignals, ReadValueModel};
use crate::source::{Goal, Link, Source};

/// Rank of a source that must be fetched regardless of its value. Multiplied by importance.
const FORCED_RANK: f64 = 1e100;
/// Days within which the first copy of a source is in time.
const FIRST_COPY_DEADLINE: f64 = 1.0;
/// The interval of a source without observations is at most this many times the interval of a
/// source that changes all the time. Quiet siblings do not replace a first look.
const UNKNOWN_INTERVAL_FACTOR: f64 = 2.0;

/// Standard deviations above the mean that an optimistic change rate adds.
const OPTIMISM_STD_DEVS: f64 = 3.0;

impl Engine {
    /// Goal of a source.
    pub(crate) fn goal(&self, source: &Source) -> Goal {
        let other = (source.goal as usize).checked_sub(1);
        other.and_then(|at| self.goals.get(at).copied()).unwrap_or(self.settings.goal)
    }

    /// Belief about the change rate of a source.
    pub(crate) fn belief(&self, source: &Source) -> Belief {
        if let Some(history) = self.signal_sources.active_history(source.history()) {
            return history.estimate.change_belief();
        }
        let known = self.owner_belief(source);
        known.unwrap_or_else(|| source.belief_on_prior(self.hosts[source.host as usize].prior))
    }

    /// Belief that the owner provided, if any.
    pub(crate) fn owner_belief(&self, source: &Source) -> Option<Belief> {
        source.has_owner_belief().then(|| {
            let (shape, days) = (f64::from(source.changes), f64::from(source.days));
            Belief::new(shape, days).unwrap_or(self.prior.belief())
        })
    }

    /// Combines a source with its belief, goal and signals.
    #[inline]
    pub(crate) fn view<'a>(&self, source: &'a Source) -> SourceView<'a> {
        let signal_influence = self.signal_influence(source);
        SourceView {
            source,
            belief: self.belief(source),
            goal: self.goal(source),
            signal_influence,
        }
    }

    /// Returns how signals influence the value of a source.
    #[inline]
    pub(crate) fn signal_influence(&self, source: &Source) -> SignalInfluence {
        match source.link() {
            Link::None => SignalInfluence::None,
            Link::History(place) => match self.signal_sources.active_history(Some(place)) {
                Some(history) => SignalInfluence::Signals(history.into()),
                None => SignalInfluence::None,
            },
            Link::SignalSource(number) => match self.signal_sources.trust(number) {
                Some(trust) => SignalInfluence::ReadFor(Box::new(trust.read_value_model())),
                None => SignalInfluence::None,
            },
        }
    }

    /// True if the value of a source may stop growing with time, or if its growth is unknown.
    pub(crate) fn levels_off(&self, source: &Source) -> bool {
        self.goal(source).levels_off() || source.link() != Link::None
    }

    /// Value of a fetch just after a signal, per unit of importance.
    pub(crate) fn value_after_signal(&self, source: &Source, estimate: &SignalEstimate) -> f64 {
        let since_fetch = SignalsSinceFetch { days: 0.0, count: 1.0 };
        let signalled = estimate.precision();
        match self.goal(source) {
            Goal::KeepFresh(penalty) => match ChangeCountPenalty::from_penalty(penalty) {
                Some(count_penalty) => estimate.fetch_value(count_penalty, since_fetch),
                // A change as old as changes usually are when the next one occurs.
                None => signalled * 1.5 / estimate.change_belief().mean().powi(2),
            },
            Goal::Capture(capture) => signalled * capture.update_value(0.0, 0),
        }
    }

    /// Value of a fetch now per unit of cost, ignoring the signals since the last one.
    pub(crate) fn fetch_value_without_signals(&self, now: f64, source: &Source) -> f64 {
        if source.importance <= 0.0 {
            return 0.0;
        }
        self.view(source).without_signals().fetch_value(now)
    }

    /// Due day at a price, ignoring the signals since the last fetch.
    pub(crate) fn due_day_without_signals(&self, now: f64, source: &Source, price: f64) -> f64 {
        self.view(source).without_signals().due_day(now, price)
    }

    /// Probability that a copy equals its source.
    pub(crate) fn fresh_probability(&self, source: &Source) -> f64 {
        let days = (self.now - source.evidence_until()).max(0.0);
        match self.signal_sources.active_history(source.history()) {
            Some(history) => history.estimate.no_change_probability(history.since_fetch(days)),
            None => self.belief(source).no_change_probability(days),
        }
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, source: &Source, price: f64) -> f64 {
        if source.importance <= 0.0 {
            return f64::from(source.max_interval);
        }
        self.view(source).interval(price)
    }

    /// Day on which the value of a source reaches a price.
    pub(crate) fn due_day(&self, now: f64, source: &Source, price: f64) -> f64 {
        if source.is_new() {
            return now;
        }
        self.view(source).due_day(now, price)
    }

    /// Value of a fetch now per unit of cost, regardless of interval limits.
    pub(crate) fn fetch_value(&self, now: f64, source: &Source) -> f64 {
        if source.importance <= 0.0 {
            return 0.0;
        }
        self.view(source).fetch_value(now)
    }

    /// Rank among the candidates: the value, or more if the source must be fetched anyway.
    pub(crate) fn rank(&self, now: f64, source: &Source) -> f64 {
        let is_first = source.is_new() && !source.is_retry() && source.importance > 0.0;
        if is_first || source.is_overdue(now) {
            // If not all can be fetched in time, the lateness prevents starvation. It counts in
            // whole steps, so that the order of ranking makes no difference.
            let in_time = f64::from(source.max_interval).clamp(1e-9, FIRST_COPY_DEADLINE);
            let late = ((now - source.last) / in_time).clamp(0.0, 1e9).floor();
            FORCED_RANK * (1.0 + f64::from(source.importance)) * (1.0 + late)
                / f64::from(source.cost)
        } else if source.is_retry() {
            // A retry also tells whether the host has recovered.
            self.fetch_value(now, source).max(self.price)
        } else {
            self.fetch_value(now, source)
        }
    }
}

/// A source with its belief, goal and signals: everything that its value depends on.
#[derive(Clone, Debug)]
pub(crate) struct SourceView<'a> {
    pub(crate) source: &'a Source,
    pub(crate) belief: Belief,
    pub(crate) goal: Goal,
    pub(crate) signal_influence: SignalInfluence,
}

/// Influence of signals on the value of a source.
#[derive(Clone, Debug)]
pub(crate) enum SignalInfluence {
    None,
    /// A signal source reports its changes.
    Signals(ActiveSignals),
    /// The source is the document of a signal source and is read for its signals.
    ReadFor(Box<ReadValueModel>),
}

/// Maximum steps in search of the day on which a value reaches a price.
const MAX_STEPS: u32 = 60;
/// Last day that the search considers, in days after the last fetch.
const MAX_DAYS: f64 = 1e5;

/// Returns the first day on which a non-decreasing value reaches a price; infinite if there is
/// none.
fn first_day(price: f64, value: impl Fn(f64) -> f64) -> f64 {
    if value(MAX_DAYS) < price || price.is_nan() {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, MAX_DAYS);
    for _ in 0..MAX_STEPS {
        // Geometric bisection resolves short times as precisely as long ones.
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

impl SourceView<'_> {
    /// Converts a price per unit of cost to a price per unit of importance.
    fn price_for(&self, price: f64) -> f64 {
        let source = self.source;
        price * f64::from(source.cost) / f64::from(source.importance)
    }

    /// Returns the view without the signals since the last fetch.
    fn without_signals(self) -> Self {
        match self.signal_influence {
            SignalInfluence::Signals(signals) => Self {
                signal_influence: SignalInfluence::Signals(signals.without_signals()),
                ..self
            },
            _ => self,
        }
    }

    /// Days between the fetches of a source at a price.
    pub(crate) fn interval(&self, price: f64) -> f64 {
        let Self { source, belief, goal, .. } = *self;
        let (min_interval, max_interval) =
            (f64::from(source.min_interval), f64::from(source.max_interval));
        if source.importance <= 0.0 {
            return max_interval;
        }
        let price = self.price_for(price);
        let free = if source.is_observed() {
            // Every k-th change, with k the number of changes value the price.
            let between = 1.0 / belief.mean();
            between * (price / between).max(1.0)
        } else if let SignalInfluence::Signals(signals) = &self.signal_influence {
            self.interval_with_signals(signals, price)
        } else if let SignalInfluence::ReadFor(_) = &self.signal_influence {
            first_day(price, |days| self.unit_value_after(days))
        } else {
            match goal {
                Goal::KeepFresh(penalty) if source.is_unknown() => {
                    let cap = max_unknown_interval(penalty, price);
                    if is_min_value_larger(penalty, belief, cap) {
                        cap
                    } else {
                        penalty.interval_at_price(belief, price).min(cap)
                    }
                }
                Goal::KeepFresh(penalty) => penalty.interval_at_price(belief, price),
                Goal::Capture(capture) => {
                    capture.interval_at_price(optimistic_belief(source, belief), price)
                }
            }
        };
        free.max(min_interval).min(max_interval)
    }

    /// Day on which the value of a source reaches a price.
    pub(crate) fn due_day(&self, now: f64, price: f64) -> f64 {
        let source = self.source;
        if source.is_new() {
            return now;
        }
        if let SignalInfluence::Signals(signals) = &self.signal_influence {
            return self.due_with_signals(signals, now, price);
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
            // Only the age penalty grows without further changes: T²/2 + T·E[1/c].
            Goal::KeepFresh(Penalty::Age) => {
                let pending = PendingChanges { count: source.pending, age_days: 1.0 };
                let belief = self.belief.observe_no_change(now - source.evidence_until());
                let rate = Penalty::Age.pending_value(belief, pending) - 0.5;
                let wait = 2.0 * price / (rate + (rate * rate + 2.0 * price).sqrt());
                if wait > 0.0 { source.first_pending_day() + wait } else { f64::INFINITY }
            }
            _ => f64::INFINITY,
        };
        day.max(earliest).min(latest)
    }

    /// Value of a fetch now, per unit of importance.
    fn unit_value(&self, now: f64) -> f64 {
        if self.source.is_observed() {
            self.pending_value(now)
        } else {
            self.unit_value_after(now - self.source.last)
        }
    }

    /// Value per unit of importance `days` days after the last fetch, for a source without
    /// observed changes.
    fn unit_value_after(&self, days: f64) -> f64 {
        match &self.signal_influence {
            SignalInfluence::Signals(signals) => self.value_with_signals(signals, days),
            SignalInfluence::ReadFor(reader) => {
                let penalty = match self.goal {
                    Goal::KeepFresh(penalty) => penalty,
                    Goal::Capture(_) => Penalty::Freshness,
                };
                let importance = f64::from(self.source.importance);
                let value = reader.read_value(penalty, days, importance) / importance;
                if reader.on_trial { value.max(self.value_without_signals(days)) } else { value }
            }
            SignalInfluence::None => self.value_without_signals(days),
        }
    }

    /// Value per unit of importance for a source without an active signal source.
    fn value_without_signals(&self, days: f64) -> f64 {
        let Self { source, belief, .. } = *self;
        match self.goal {
            Goal::KeepFresh(penalty) if source.is_unknown() => {
                let min_value = min_unknown_value(penalty, days);
                if is_min_value_larger(penalty, belief, days) {
                    min_value
                } else {
                    penalty.fetch_value(belief, days).max(min_value)
                }
            }
            Goal::KeepFresh(penalty) => penalty.fetch_value(belief, days),
            Goal::Capture(capture) => capture.fetch_value(optimistic_belief(source, belief), days),
        }
    }

    /// Value per unit of importance for a source with an active signal source.
    fn value_with_signals(&self, signals: &ActiveSignals, days: f64) -> f64 {
        let since_fetch = signals.since_fetch(days);
        let missed = signals.estimate.unsignalled_belief();
        let unsignalled_value = match self.goal {
            Goal::KeepFresh(penalty) => match ChangeCountPenalty::from_penalty(penalty) {
                Some(count_penalty) => {
                    return signals.estimate.fetch_value(count_penalty, since_fetch);
                }
                None => penalty.fetch_value(missed, days),
            },
            Goal::Capture(capture) => {
                capture.fetch_value(optimistic_belief(self.source, missed), days)
            }
        };
        if since_fetch.count <= 0.0 {
            return unsignalled_value;
        }
        // A mixture: at least one signal is true, or none is and the source is as if without
        // signals.
        let none = (1.0 - signals.estimate.precision()).powf(since_fetch.count);
        let age = days - f64::from(signals.first_signal_after);
        let signalled = match self.goal {
            Goal::KeepFresh(penalty) => {
                let changes =
                    (signals.estimate.precision() * since_fetch.count).round().max(1.0) as u32;
                let belief = signals.estimate.change_belief();
                // At least one change is practically certain.
                let certain_belief = Belief::new(belief.shape().max(1.0) + 1.0, belief.days());
                penalty.pending_value(
                    certain_belief.unwrap_or(belief),
                    PendingChanges { count: changes, age_days: age },
                )
            }
            Goal::Capture(capture) => {
                let latest = (days - f64::from(signals.last_signal_after)).max(0.0);
                0.5 * (capture.update_value(age, 0) + capture.update_value(latest, 0))
            }
        };
        (none * unsignalled_value + (1.0 - none) * signalled).max(unsignalled_value)
    }

    /// Due day of a source with an active signal source.
    fn due_with_signals(&self, signals: &ActiveSignals, now: f64, price: f64) -> f64 {
        let source = self.source;
        let earliest = source.last + f64::from(source.min_interval);
        let latest = source.last + f64::from(source.max_interval);
        if source.importance <= 0.0 {
            return latest;
        }
        let price = self.price_for(price);
        let so_far = now - source.last;
        if self.value_with_signals(signals, so_far) >= price {
            return now.max(earliest).min(latest);
        }
        let days = match self.goal {
            Goal::KeepFresh(penalty)
                if let Some(count_penalty) = ChangeCountPenalty::from_penalty(penalty) =>
            {
                signals.estimate.interval_at_price(count_penalty, f64::from(signals.signals), price)
            }
            _ => first_day(price, |days| self.value_with_signals(signals, days.max(so_far))),
        };
        (source.last + days).max(now).max(earliest).min(latest)
    }

    /// Approximate days between the fetches of a source with an active signal source. If one signal
    /// is value the price, the source is fetched at the next signal, or when its unsignalled
    /// changes are value it.
    fn interval_with_signals(&self, signals: &ActiveSignals, price: f64) -> f64 {
        let alone = |belief: Belief| match self.goal {
            Goal::KeepFresh(penalty) => penalty.interval_at_price(belief, price),
            Goal::Capture(capture) => {
                capture.interval_at_price(optimistic_belief(self.source, belief), price)
            }
        };
        if f64::from(signals.value_after_signal) < price {
            return alone(self.belief);
        }
        let (rate, longest) =
            (signals.estimate.signal_rate(), alone(signals.estimate.unsignalled_belief()));
        let spoken_of = -(-rate * longest).exp_m1() / rate;
        if spoken_of.is_finite() { spoken_of } else { longest }
    }

    /// Value per unit of importance of the observed pending changes.
    fn pending_value(&self, now: f64) -> f64 {
        let source = self.source;
        if source.pending == 0 {
            return 0.0;
        }
        let days = (now - source.first_pending_day()).max(0.0);
        match self.goal {
            Goal::KeepFresh(penalty) => {
                let belief = self.belief.observe_no_change(now - source.evidence_until());
                penalty
                    .pending_value(belief, PendingChanges { count: source.pending, age_days: days })
            }
            Goal::Capture(capture) => {
                // As if they had occurred evenly from the first to the last; if only some remain,
                // the last ones.
                let latest = (now - source.evidence_until()).clamp(0.0, days);
                let age = |share: f64| capture.update_value(latest + share * (days - latest), 0);
                match capture.life {
                    UpdateLifetime::Changes(max_interval) if source.pending > max_interval => {
                        f64::from(max_interval) * age(0.0)
                    }
                    _ => {
                        let each =
                            (0..8).map(|at| age((f64::from(at) + 0.5) / 8.0)).sum::<f64>() / 8.0;
                        (f64::from(source.pending) * each).max(age(0.0))
                    }
                }
            }
        }
    }

    /// Value of a fetch now per unit of cost, regardless of interval limits.
    pub(crate) fn fetch_value(&self, now: f64) -> f64 {
        let source = self.source;
        if source.importance <= 0.0 {
            return 0.0;
        }
        f64::from(source.importance) * self.unit_value(now) / f64::from(source.cost)
    }
}

/// Minimum value of a source without observations. A source that changed all the time would be
/// value the days since the last fetch, or, for age, half their square.
fn min_unknown_value(penalty: Penalty, days: f64) -> f64 {
    match penalty {
        Penalty::Harmonic | Penalty::Freshness => days / UNKNOWN_INTERVAL_FACTOR,
        Penalty::Age => 0.5 * days * days / UNKNOWN_INTERVAL_FACTOR,
    }
}

/// True if the minimum is certainly above the value under the belief: that is at most `E[c] τ²/2`,
/// or, for age, `E[c] τ³/3`, which for most of very many unobserved sources is far below the
/// minimum.
fn is_min_value_larger(penalty: Penalty, belief: Belief, days: f64) -> bool {
    let max_interval = match penalty {
        Penalty::Harmonic | Penalty::Freshness => 2.0 / UNKNOWN_INTERVAL_FACTOR,
        Penalty::Age => 1.5 / UNKNOWN_INTERVAL_FACTOR,
    };
    belief.mean() * days <= max_interval
}

/// Days after which the minimum value reaches a price.
fn max_unknown_interval(penalty: Penalty, price: f64) -> f64 {
    match penalty {
        Penalty::Harmonic | Penalty::Freshness => UNKNOWN_INTERVAL_FACTOR * price,
        Penalty::Age => (2.0 * UNKNOWN_INTERVAL_FACTOR * price).sqrt(),
    }
}

/// Raises the change rate to a plausible upper value for the capture objective. The value of a
/// capture may have an upper limit, so a source believed to change rarely would never be value a
/// fetch, and the belief could never be corrected. The more is known, the smaller the correction.
fn optimistic_belief(source: &Source, belief: Belief) -> Belief {
    if source.has_owner_belief() {
        return belief;
    }
    let shape = belief.shape();
    Belief::new(OPTIMISM_STD_DEVS.mul_add(shape.sqrt(), shape), belief.days()).unwrap_or(belief)
}
