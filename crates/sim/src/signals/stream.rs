//! Signals of a run, one by one.

use freshet_schedule::DueQueue;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg32;

use super::{Signalled, Signals};
use crate::population::SECONDS_PER_DAY;
use crate::process::Stream;
use crate::seed::{RandomPurpose, of_source};
use crate::web::Web;

/// Signals of a run in order of time. They have random numbers of their own and reproduce the changes
/// from the same random numbers, so that the changes are the same with and without signals.
pub(crate) struct SignalFeed<'a> {
    web: &'a Web,
    heralded: &'a Signalled,
    days: f64,
    voices: Vec<Option<SignalStream>>,
    /// Next change of each source that has a signal, or its next recorded signal.
    truths: DueQueue,
    /// Next false signal about each source.
    lies: DueQueue,
    /// Pending signals. No other signal comes before the first of them.
    coming: DueQueue,
}

/// Signals of one source.
struct SignalStream {
    changes: Stream,
    /// Random numbers for which changes have a signal.
    dice: Pcg32,
    /// Random numbers for delays.
    delay_dice: Pcg32,
    /// Random numbers for false signals.
    false_dice: Pcg32,
    false_rate: f64,
    /// Day on which the source was added.
    from: f64,
}

impl<'a> SignalFeed<'a> {
    /// Returns `None` if there are no signals.
    pub(crate) fn new(web: &'a Web, days: f64) -> Option<Self> {
        let heralded = web.heralded.as_ref()?;
        Some(Self {
            web,
            heralded,
            days,
            voices: (0..web.population.len()).map(|_| None).collect(),
            truths: DueQueue::default(),
            lies: DueQueue::default(),
            coming: DueQueue::default(),
        })
    }

    /// Returns the day of the next signal, or infinity.
    pub(crate) fn first(&self) -> f64 {
        self.coming.next_day()
    }

    /// Adds a source.
    pub(crate) fn arrive(&mut self, source: u32, now: f64) {
        let i = source as usize;
        if !self.web.is_signalled(i) {
            return;
        }
        let seed = self.web.seed();
        let false_rate = match &self.heralded.signals {
            Signals::Drawn(quality) => quality.false_rate(self.web.mean_rate(i, 0.0, self.days)),
            _ => 0.0,
        };
        self.voices[i] = Some(SignalStream {
            changes: self.web.stream(i),
            dice: of_source(seed, RandomPurpose::Signals, u64::from(source)),
            delay_dice: of_source(seed, RandomPurpose::Delays, u64::from(source)),
            false_dice: of_source(seed, RandomPurpose::FalseSignals, u64::from(source)),
            false_rate,
            from: now,
        });
        self.next_truth(source);
        self.next_lie(source, now);
        self.look_ahead();
    }

    /// Removes a source and its signals.
    pub(crate) fn depart(&mut self, source: u32) {
        self.voices[source as usize] = None;
    }

    /// Returns the source of the next signal that is due.
    pub(crate) fn pop_due(&mut self, now: f64) -> Option<u32> {
        let (_, source) = self.coming.pop_due(now)?;
        self.look_ahead();
        Some(source)
    }

    /// Returns true if the source of a signal exists now.
    pub(crate) fn concerns(&self, source: u32) -> bool {
        self.voices[source as usize].is_some()
    }

    /// Draws all signals that could come before the first pending one.
    fn look_ahead(&mut self) {
        loop {
            let (truth, lie) = (self.truths.next_day(), self.lies.next_day());
            let next = truth.min(lie);
            if next >= self.coming.next_day() || next >= self.days {
                return;
            }
            let agenda = if truth <= lie { &mut self.truths } else { &mut self.lies };
            let Some((at, source)) = agenda.pop() else { return };
            let Some(voice) = &mut self.voices[source as usize] else { continue };
            if truth <= lie {
                let late = match &self.heralded.signals {
                    Signals::Drawn(quality) if quality.delay > 0.0 => {
                        let part: f64 = Exp1.sample(&mut voice.delay_dice);
                        quality.delay * part
                    }
                    _ => 0.0,
                };
                self.coming.push(at + late, source);
                self.next_truth(source);
            } else {
                self.coming.push(at, source);
                self.next_lie(source, at);
            }
        }
    }

    /// Draws the next change that has a signal.
    fn next_truth(&mut self, source: u32) {
        let i = source as usize;
        let Some(voice) = &mut self.voices[i] else { return };
        let next = match &self.heralded.signals {
            Signals::Drawn(quality) => loop {
                let at = self.web.next_change(i, &mut voice.changes);
                // Each change has its own draw, whether or not the source exists then.
                let said = voice.dice.random::<f64>() < quality.recall;
                if at >= self.days || (said && at > voice.from) {
                    break at;
                }
            },
            Signals::Recorded(said) => {
                let place = self.heralded.places[i];
                let start = self.web.start();
                let times = said.change_times(place as usize);
                loop {
                    let Some(&time) = times.get(voice.changes.drawn as usize) else {
                        break f64::INFINITY;
                    };
                    voice.changes.drawn += 1;
                    let at = (time - start) / SECONDS_PER_DAY;
                    if at >= voice.from {
                        break at;
                    }
                }
            }
            Signals::Liar { .. } => f64::INFINITY,
        };
        if next < self.days {
            self.truths.push(next, source);
        }
    }

    /// Draws the next false signal after a day.
    fn next_lie(&mut self, source: u32, after: f64) {
        let Some(voice) = &mut self.voices[source as usize] else { return };
        let next = match self.heralded.signals {
            Signals::Drawn(_) if voice.false_rate > 0.0 => {
                let wait: f64 = Exp1.sample(&mut voice.false_dice);
                after + wait / voice.false_rate
            }
            Signals::Liar { every } => {
                let next = ((after / every).floor() + 1.0) * every;
                // Guards against rounding that would stop time.
                if next > after { next } else { after + every }
            }
            _ => f64::INFINITY,
        };
        if next < self.days {
            self.lies.push(next, source);
        }
    }
}
