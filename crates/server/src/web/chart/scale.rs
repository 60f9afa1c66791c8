//! Axis scales: positions of values, and ticks.

use crate::web::format;

const SECOND: f64 = 1000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Steps between ticks of a time axis, in milliseconds.
const TIME_STEPS: [f64; 22] = [
    SECOND,
    2.0 * SECOND,
    5.0 * SECOND,
    10.0 * SECOND,
    30.0 * SECOND,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    14.0 * DAY,
    30.0 * DAY,
    90.0 * DAY,
    365.0 * DAY,
];

/// Maps values to positions along an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    from: f64,
    to: f64,
    kind: ScaleKind,
    write: fn(f64) -> String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScaleKind {
    Linear,
    Log,
    Time,
}

impl Scale {
    /// Returns a linear scale.
    pub(crate) fn linear(from: f64, to: f64, write: fn(f64) -> String) -> Self {
        Self { from, to: if to > from { to } else { from + 1.0 }, kind: ScaleKind::Linear, write }
    }

    /// Returns a linear scale from 0 to a round number that is at least the largest value.
    pub(crate) fn up_to(values: impl IntoIterator<Item = f64>, write: fn(f64) -> String) -> Self {
        let max = values.into_iter().filter(|it| it.is_finite()).fold(0.0, f64::max);
        let step = round_step(if max > 0.0 { max / 4.0 } else { 1.0 });
        Self::linear(0.0, step * (max / step).ceil().max(1.0), write)
    }

    /// Returns a logarithmic scale between two positive values.
    pub(crate) fn log(from: f64, to: f64, write: fn(f64) -> String) -> Self {
        let from = if from > 0.0 && from.is_finite() { from } else { 1e-3 };
        Self { from, to: if to > from { to } else { 10.0 * from }, kind: ScaleKind::Log, write }
    }

    /// Returns a time scale, in milliseconds.
    pub(crate) fn time(from: i64, to: i64) -> Self {
        let (from, to) = (from as f64, to.max(from + 1) as f64);
        Self { from, to, kind: ScaleKind::Time, write: |at| format::short_date(at as i64) }
    }

    /// Formats a value as an axis label.
    pub(super) fn write(&self, value: f64) -> String {
        (self.write)(value)
    }

    /// Returns the position of a value, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.kind {
            ScaleKind::Log => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            ScaleKind::Linear | ScaleKind::Time => (value - self.from) / (self.to - self.from),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Returns about `count` tick values with their labels.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let span = self.to - self.from;
        match self.kind {
            ScaleKind::Linear => {
                let step = round_step(span / count as f64);
                self.steps(step).into_iter().map(|it| (it, self.write(it))).collect()
            }
            ScaleKind::Time => {
                let step = TIME_STEPS.into_iter().find(|step| span / step <= count as f64);
                let step = step.unwrap_or(span / count as f64);
                let label = |at: f64| {
                    let stamp = format::short_date(at as i64);
                    let (date, time) = stamp.rsplit_once(' ').unwrap_or((&stamp, ""));
                    if step < MINUTE {
                        return format!("{time}:{:02.0}", (at / SECOND).rem_euclid(60.0));
                    }
                    if step >= DAY || time == "00:00" { date.to_owned() } else { time.to_owned() }
                };
                self.steps(step).into_iter().map(|it| (it, label(it))).collect()
            }
            ScaleKind::Log => {
                let (low, high) = (self.from.log10().ceil() as i32, self.to.log10().floor() as i32);
                let every = (high - low + 1).max(1).unsigned_abs().div_ceil(count as u32).max(1);
                let decades = (low..=high).step_by(every as usize);
                decades.map(|it| (10f64.powi(it), self.write(10f64.powi(it)))).collect()
            }
        }
    }

    fn steps(&self, step: f64) -> Vec<f64> {
        let first = (self.from / step - 1e-9).ceil();
        let last = (self.to / step + 1e-9).floor();
        let count = (last - first).clamp(0.0, 100.0) as usize;
        (0..=count)
            .map(|n| (first + n as f64) * step)
            .filter(|it| *it <= self.to * 1.000_001)
            .collect()
    }
}

/// Rounds a step up to 1, 2, 2.5 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    if !(step > 0.0 && step.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|it| it * power >= step * 0.999_999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_values() {
        let scale = Scale::linear(0.0, 1.0, format::percent);
        assert_eq!(labels(scale, 4), ["0.0%", "25.0%", "50.0%", "75.0%", "100%"]);
        let scale = Scale::log(5.0, 50_000.0, format::number);
        assert_eq!(labels(scale, 6), ["10", "100", "1,000", "10,000"]);
        let day = Scale::time(0, 86_400_000);
        assert_eq!(labels(day, 6), ["1 Jan", "06:00", "12:00", "18:00", "2 Jan"]);
        let moment = Scale::time(59_000, 69_000);
        assert_eq!(labels(moment, 6), ["00:01:00", "00:01:02", "00:01:04", "00:01:06", "00:01:08"]);
    }

    #[test]
    fn a_scale_covers_its_values() {
        for most in [0.0, 1e-9, 0.3, 7.0, 1234.0, 1e12] {
            let scale = Scale::up_to([most, f64::NAN], format::number);
            assert!(scale.share(most) <= 1.0 && scale.ticks(4).len() >= 2, "{most}");
        }
        assert!(Scale::linear(3.0, 3.0, format::number).share(3.0).is_finite());
        assert!(Scale::log(0.0, 0.0, format::number).share(5.0).is_finite());
    }
}
