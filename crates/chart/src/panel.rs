//! Panel: two axes, series and marks.

use crate::axis::Axis;
use crate::mark::Mark;
use crate::scale::Domain;
use crate::series::Series;

/// Plot of a figure. Measures with different units belong in different panels.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
}

impl Panel {
    /// Creates an empty panel with two linear axes.
    pub fn new() -> Panel {
        Panel::default()
    }

    /// Sets a heading above the panel; the names of the axes are often enough.
    #[must_use]
    pub fn title(mut self, title: &str) -> Panel {
        self.title = title.trim().to_owned();
        self
    }

    /// Sets the horizontal axis.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Panel {
        self.x = axis;
        self
    }

    /// Sets the vertical axis.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Panel {
        self.y = axis;
        self
    }

    /// Adds a series, drawn over earlier ones; bands are below all lines.
    #[must_use]
    pub fn series(mut self, series: Series) -> Panel {
        self.series.push(series);
        self
    }

    /// Adds a mark, drawn over all series; a shaded range is below them.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Panel {
        self.marks.push(mark);
        self
    }

    /// Returns the x values of everything that can be drawn.
    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> {
        let (x, y) = (self.x.spacing(), self.y.spacing());
        let rows = self.series.iter().flat_map(|series| series.rows());
        rows.filter(move |row| row.shown(x, y))
            .flat_map(|row| [row.x, row.to])
            .chain(self.marks.iter().flat_map(Mark::xs))
    }

    /// Returns the y values of everything that can be drawn in a range of x; values outside it must not extend the axis.
    pub(crate) fn ys(&self, xs: Domain) -> impl Iterator<Item = f64> {
        let (x, y) = (self.x.spacing(), self.y.spacing());
        let rows = self.series.iter().flat_map(|series| series.rows());
        rows.filter(move |row| row.shown(x, y) && xs.contains(row.x))
            .flat_map(|row| [row.low, row.high])
            .chain(self.marks.iter().filter_map(Mark::y))
    }
}
