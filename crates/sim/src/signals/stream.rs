//! What is said in a run, signal by signal.

use freshet_schedule::Agenda;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg32;

use super::{Signalled, Signals};
use crate::population::SECONDS_PER_DAY;
use crate::process::Stream;
use crate::seed::{Purpose, of_source};
use crate::web::Web;

/// The signals of a run, in order of time. They are drawn from dice of their own, and follow the changes
/// by the same dice that make them, so that the changes are the same with and without signals.
pub(crate) struct Speech<'a> {
    web: &'a Web,
    heralded: &'a Signalled,
    days: f64,
    voices: Vec<Option<SignalStream>>,
    /// The next change of each source that will have a signal, or its next recorded one.
    truths: Agenda,
    /// The next false signal about each source.
    lies: Agenda,
    /// Signals on their way. No other comes before the first of them.
    coming: Agenda,
}

/// What will be said of one source.
struct SignalStream {
    changes: Stream,
    /// For which changes have a signal.
    dice: Pcg32,
    /// For how late it is.
    delay_dice: Pcg32,
    /// For false ones.
    false_dice: Pcg32,
    false_rate: f64,
    /// When the source came up.
    from: f64,
}

impl<'a> Speech<'a> {
    /// `None` if nobody says anything.
    pub(crate) fn new(web: &'a Web, days: f64) -> Option<Self> {
        let heralded = web.heralded.as_ref()?;
        Some(Self {
            web,
            heralded,
            days,
            voices: (0..web.population.len()).map(|_| None).collect(),
            truths: Agenda::default(),
            lies: Agenda::default(),
            coming: Agenda::default(),
        })
    }

    /// When the next signal comes; infinite if none does.
    pub(crate) fn first(&self) -> f64 {
        self.coming.first()
    }

    /// A source comes up.
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
            dice: of_source(seed, Purpose::Signals, u64::from(source)),
            delay_dice: of_source(seed, Purpose::Delays, u64::from(source)),
            false_dice: of_source(seed, Purpose::FalseSignals, u64::from(source)),
            false_rate,
            from: now,
        });
        self.next_truth(source);
        self.next_lie(source, now);
        self.look_ahead();
    }

    /// A source is no longer there, and nobody speaks of it any more.
    pub(crate) fn depart(&mut self, source: u32) {
        self.voices[source as usize] = None;
    }

    /// The source of the next signal that is due.
    pub(crate) fn pop_due(&mut self, now: f64) -> Option<u32> {
        let (_, source) = self.coming.pop_due(now)?;
        self.look_ahead();
        Some(source)
    }

    /// Whether a signal that comes now is about a source that is there.
    pub(crate) fn concerns(&self, source: u32) -> bool {
        self.voices[source as usize].is_some()
    }

    /// Sends all signals on their way that could come before the first.
    fn look_ahead(&mut self) {
        loop {
            let (truth, lie) = (self.truths.first(), self.lies.first());
            let next = truth.min(lie);
            if next >= self.coming.first() || next >= self.days {
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

    /// The next change that will have a signal.
    fn next_truth(&mut self, source: u32) {
        let i = source as usize;
        let Some(voice) = &mut self.voices[i] else { return };
        let next = match &self.heralded.signals {
            Signals::Drawn(quality) => loop {
                let at = self.web.next_change(i, &mut voice.changes);
                // Each change has its own throw, whether or not anybody was there to see it.
                let said = voice.dice.random::<f64>() < quality.recall;
                if at >= self.days || (said && at > voice.from) {
                    break at;
                }
            },
            Signals::Recorded(said) => {
                let place = self.heralded.places[i];
                let start = self.web.start();
                let times = said.changes(place as usize);
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

    /// The next false signal after a day.
    fn next_lie(&mut self, source: u32, after: f64) {
        let Some(voice) = &mut self.voices[source as usize] else { return };
        let next = match self.heralded.signals {
            Signals::Drawn(_) if voice.false_rate > 0.0 => {
                let wait: f64 = Exp1.sample(&mut voice.false_dice);
                after + wait / voice.false_rate
            }
            Signals::Liar { every } => {
                let next = ((after / every).floor() + 1.0) * every;
                // Rounding must not stop time.
                if next > after { next } else { after + every }
            }
            _ => f64::INFINITY,
        };
        if next < self.days {
            self.lies.push(next, source);
        }
    }
}
