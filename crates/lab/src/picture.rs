//! A figure with its data.

use freshet_chart::{Figure, Series};

/// A figure and its series.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The figure as an SVG document.
    pub svg: String,
    /// Its plotted series.
    pub curves: Vec<Curve>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Panel, if the figure has several.
    pub panel: String,
    /// Its name.
    pub name: String,
    /// Horizontal values.
    pub x: Vec<f64>,
    /// Vertical values.
    pub y: Vec<f64>,
}

impl Curve {
    /// Creates a series of points.
    #[must_use]
    pub fn new(panel: &str, name: &str, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { panel: panel.to_owned(), name: name.to_owned(), x, y }
    }

    /// Creates a series of a function at given points.
    #[must_use]
    pub fn of(panel: &str, name: &str, x: &[f64], y: impl Fn(f64) -> f64) -> Self {
        Self::new(panel, name, x.to_vec(), x.iter().map(|&x| y(x)).collect())
    }

    /// As a line.
    #[must_use]
    pub fn line(&self) -> Series {
        Series::line(&self.name, &self.x, &self.y)
    }

    /// As points.
    #[must_use]
    pub fn points(&self) -> Series {
        Series::points(&self.name, &self.x, &self.y)
    }

    /// As a line with its points.
    #[must_use]
    pub fn line_points(&self) -> Series {
        Series::line_points(&self.name, &self.x, &self.y)
    }

    /// As steps.
    #[must_use]
    pub fn steps(&self) -> Series {
        Series::steps(&self.name, &self.x, &self.y)
    }
}

impl Picture {
    /// Creates a picture from a figure and its series.
    #[must_use]
    pub fn new(figure: &Figure, curves: Vec<Curve>) -> Self {
        Self { svg: figure.to_svg(), curves }
    }
}
