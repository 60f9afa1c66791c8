//! What a figure points at: a line across a panel, a part of it, or one dot, with a label.

/// A labelled line, part or dot. An axis without a fixed range is widened to show it.
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
    Span { from: f64, to: f64 },
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

    /// A shaded part from one x to another, its label above the panel.
    pub fn span(from: f64, to: f64, label: &str) -> Mark {
        Mark::new(Place::Span { from, to }, label)
    }

    fn new(place: Place, label: &str) -> Mark {
        Mark { place, label: label.trim().to_owned() }
    }

    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> {
        let (one, other) = match self.place {
            Place::Vertical { x } | Place::Dot { x, .. } => (Some(x), None),
            Place::Span { from, to } => (Some(from), Some(to)),
            Place::Horizontal { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }

    pub(crate) fn y(&self) -> Option<f64> {
        match self.place {
            Place::Horizontal { y } | Place::Dot { y, .. } => Some(y),
            Place::Vertical { .. } | Place::Span { .. } => None,
        }
    }
}
