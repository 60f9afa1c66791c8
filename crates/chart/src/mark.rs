//! Marks: labelled lines, shaded ranges and dots.

/// A labelled line, range or dot. An axis without a fixed range is extended to show it.
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
    /// Creates a vertical line with its label above the panel.
    pub fn vertical(x: f64, label: &str) -> Mark {
        Mark::new(Place::Vertical { x }, label)
    }

    /// Creates a horizontal line with its label to the right of the panel.
    pub fn horizontal(y: f64, label: &str) -> Mark {
        Mark::new(Place::Horizontal { y }, label)
    }

    /// Creates a dot with its label where it covers least.
    pub fn dot(x: f64, y: f64, label: &str) -> Mark {
        Mark::new(Place::Dot { x, y }, label)
    }

    /// Creates a shaded range of x with its label above the panel.
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
