//! Data to draw: one name, one look, rows of x and y.

use crate::scale::Spacing;

/// One line, set of points or of intervals, or band. Series of one name share one look throughout a figure, so that the band around a line or the
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
    /// Whether it comes to an end, where it can be named.
    pub(crate) fn has_end(self) -> bool {
        !matches!(self, Kind::Band | Kind::Intervals)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Dashed as needed to tell it from the others.
    Auto,
    Solid,
    Dashed,
}

/// `low` and `high` are the same but in a band or an interval, `x` and `to` but in an interval.
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
    /// A line through the points in the order given. Of columns of different lengths, here and below, the longer one is cut.
    pub fn line(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Line, xs, ys, ys)
    }

    /// Points with no line.
    pub fn points(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Points, xs, ys, ys)
    }

    /// A line with its points.
    pub fn line_points(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::LinePoints, xs, ys, ys)
    }

    /// Each value holds until the next x.
    pub fn steps(name: &str, xs: &[f64], ys: &[f64]) -> Series {
        Series::new(name, Kind::Steps, xs, ys, ys)
    }

    /// The area between two values at each x, as for a confidence interval.
    pub fn band(name: &str, xs: &[f64], lows: &[f64], highs: &[f64]) -> Series {
        Series::new(name, Kind::Band, xs, lows, highs)
    }

    /// From a lowest to a highest x at each y, as for the uncertainty of a point there.
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

    /// Dashed whatever its place, as for a bound or a theory.
    #[must_use]
    pub fn dashed(mut self) -> Series {
        self.stroke = Stroke::Dashed;
        self
    }

    /// Solid whatever its place.
    #[must_use]
    pub fn solid(mut self) -> Series {
        self.stroke = Stroke::Solid;
        self
    }

    /// Fixes the look (colour, dashes, marker), counted from 0, so that a name looks the same in all of several figures.
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
