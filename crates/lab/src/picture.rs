//! A figure and the numbers behind it.

use freshet_chart::{Figure, Series};

/// A figure, and its series for those who want to draw it themselves.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The figure as an SVG document.
    pub svg: String,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Where it is drawn, if the figure has several panels.
    pub panel: String,
    /// Its name.
    pub name: String,
    /// Across.
    pub x: Vec<f64>,
    /// Upwards.
    pub y: Vec<f64>,
}

impl Curve {
    /// Of points.
    #[must_use]
    pub fn new(panel: &str, name: &str, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { panel: panel.to_owned(), name: name.to_owned(), x, y }
    }

    /// Of a function at these places.
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
    /// Of a figure and what is drawn in it.
    #[must_use]
    pub fn new(figure: &Figure, curves: Vec<Curve>) -> Self {
        Self { svg: figure.to_svg(), curves }
    }
}
