//! What a figure points at: a line across a panel, or one dot, with a label.

/// A labelled line or dot. An axis without a fixed range is widened to show it.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) place: Place,
    pub(crate) label: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Vertical { x: f64 },
    Horizontal { y: f64 },
    Dot { x: f64, y: f64 },
}

impl Mark {
    /// A vertical line, its label above the panel.
    pub fn vertical(x: f64, label: &str) -> Mark {
        Mark::new(Place::Vertical { x }, label)
    }

    /// A horizontal line, its label to the right of the panel.
    pub fn horizontal(y: f64, label: &str) -> Mark {
        Mark::new(Place::Horizontal { y }, label)
    }

    /// A dot, its label beside it where it covers least.
    pub fn dot(x: f64, y: f64, label: &str) -> Mark {
        Mark::new(Place::Dot { x, y }, label)
    }

    fn new(place: Place, label: &str) -> Mark {
        Mark { place, label: label.trim().to_owned() }
    }

    pub(crate) fn x(&self) -> Option<f64> {
        match self.place {
            Place::Vertical { x } | Place::Dot { x, .. } => Some(x),
            Place::Horizontal { .. } => None,
        }
    }

    pub(crate) fn y(&self) -> Option<f64> {
        match self.place {
            Place::Horizontal { y } | Place::Dot { y, .. } => Some(y),
            Place::Vertical { .. } => None,
        }
    }
}
