//! Series: a name, a style, and rows of x and y.

use crate::scale::Spacing;

/// A line, points, intervals or a band. Series with the same name share one style throughout a figure, so that the band around a line or the
/// same policy in another panel is recognised.
#[derive(Clone, Debug)]
pub struct Series {
    name: String,
    kind: Kind,
    rows: Vec<Row>,
    stroke: Stroke,
    look: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    Points,
    LinePoints,
    Steps,
    Intervals,
    Band,
}

impl Kind {
    /// Returns true if the series has an end that can be labelled.
    pub(crate) fn has_end(self) -> bool {
        !matches!(self, Kind::Band | Kind::Intervals)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Dashed as needed to distinguish it.
    Auto,
    Solid,
    Dashed,
}

/// `low` and `high` differ only in bands and intervals, `x` and `to` only in intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) x: f64,
    pub(crate) to: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Row {
    pub(crate) fn shown(&self, x: Spacing, y: Spacing) -> bool {
        x.shows(self.x) && x.shows(self.to) && y.shows(self.low) && y.shows(self.high)
    }
}

impl Series {
    /// Creates a line through the points in the given order. Here and below, the longer of two columns is truncated.
    pub fn line(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Line, xs, ys, ys)
    }

    /// Creates points without a line.
    pub fn points(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Points, xs, ys, ys)
    }

    /// Creates a line with points.
    pub fn line_points(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::LinePoints, xs, ys, ys)
    }

    /// Creates a step line: each value holds until the next x.
    pub fn steps(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Steps, xs, ys, ys)
    }

    /// Creates a band between two values at each x, for example a confidence interval.
    pub fn band(name: &str, xs: &[f64], lows: &[f64], highs: &[f64]) -> Series {
        Series::new(name, Kind::Band, xs, lows, highs)
    }

    /// Creates horizontal intervals from a lowest to a highest x at each y.
    pub fn intervals(name: &str, lows: &[f64], highs: &[f64], ys: &[f64]) -> Series {
        let rows = lows.iter().zip(highs).zip(ys);
        let rows = rows.map(|((&x, &to), &y)| Row { x, to, low: y, high: y }).collect();
        Series { rows, ..Series::new(name, Kind::Intervals, &[], &[], &[]) }
    }

    fn new(name: &str, kind: Kind, xs: &[f64], lows: &[f64], highs: &[f64]) -> Series {
        let rows = xs.iter().zip(lows).zip(highs);
        let rows = rows.map(|((&x, &low), &high)| Row { x, to: x, low, high }).collect();
        Series { name: name.trim().to_owned(), kind, rows, stroke: Stroke::Auto, look: None }
    }

    /// Makes the line dashed, as for a bound or a theory.
    #[must_use]
    pub fn dashed(mut self) -> Series {
        self.stroke = Stroke::Dashed;
        self
    }

    /// Makes the line solid.
    #[must_use]
    pub fn solid(mut self) -> Series {
        self.stroke = Stroke::Solid;
        self
    }

    /// Sets the style (colour, dashes, marker), counted from 0, so that a name looks the same in several figures.
    #[must_use]
    pub fn look(mut self, look: usize) -> Series {
        self.look = Some(look);
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn stroke(&self) -> Stroke {
        self.stroke
    }

    pub(crate) fn fixed_look(&self) -> Option<usize> {
        self.look
    }
}
