//! Placement of the label of a dot: next to it, inside the plot, covering as little as possible.

use crate::geometry::{Point, Rect};
use crate::text::{self, BOLD, LABEL};

const HEIGHT: f64 = 16.0;

/// Objects that a label should not cover.
#[derive(Default)]
pub(crate) struct Obstacles {
    pub(crate) segments: Vec<(Point, Point)>,
    pub(crate) boxes: Vec<Rect>,
}

impl Obstacles {
    pub(crate) fn line(&mut self, points: &[Point]) {
        match points {
            [only] => self.segments.push((*only, *only)),
            _ => self.segments.extend(points.windows(2).map(|pair| (pair[0], pair[1]))),
        }
    }

    /// Adds a label or dot, which weighs more than any line.
    fn cost(&self, label: &Rect) -> usize {
        let crossed = self
            .segments
            .iter()
            .filter(|(from, to)| label.clip_segment(*from, *to).is_some())
            .count();
        let covered = self.boxes.iter().filter(|other| label.overlaps(other)).count();
        crossed + 100_000 * covered
    }
}

/// Returns the best rectangle for the label, within the plot if it fits.
pub(crate) fn beside(at: Point, text: &str, plot: &Rect, obstacles: &Obstacles) -> Rect {
    let width = text::width(text, BOLD * LABEL);
    let around = |dx: f64, dy: f64| {
        let centre = Point::new(at.x + dx * width / 2.0, at.y + dy);
        // Sideways distance keeps the text off the dot.
        let centre = Point::new(centre.x + dx * 9.0, centre.y);
        Rect {
            left: centre.x - width / 2.0,
            right: centre.x + width / 2.0,
            top: centre.y - HEIGHT / 2.0,
            bottom: centre.y + HEIGHT / 2.0,
        }
    };
    let candidates = [0.0, 10.0, 24.0, 40.0].into_iter().flat_map(|far| {
        let near = 12.0 + far;
        [
            around(1.0, -near),
            around(-1.0, -near),
            around(1.0, near),
            around(-1.0, near),
            around(0.0, -near - 4.0),
            around(0.0, near + 4.0),
            around(1.0, 0.0),
            around(-1.0, 0.0),
        ]
    });
    candidates
        .filter(|label| plot.holds(label))
        .min_by_key(|label| obstacles.cost(label))
        .unwrap_or_else(|| inside(around(0.0, -16.0), plot))
}

fn inside(label: Rect, plot: &Rect) -> Rect {
    let left = label.left.min(plot.right - label.width()).max(plot.left);
    let top = if label.top < plot.top { label.top + 32.0 } else { label.top };
    let top = top.min(plot.bottom - label.height()).max(plot.top);
    Rect { left, top, right: left + label.width(), bottom: top + label.height() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Rect = Rect { left: 0.0, top: 0.0, right: 300.0, bottom: 200.0 };

    fn check(x: f64, y: f64, obstacles: &Obstacles) -> Rect {
        let label = beside(Point::new(x, y), "0.81 of pages", &PLOT, obstacles);
        assert!(PLOT.holds(&label), "{label:?}");
        assert_eq!(obstacles.cost(&label), 0, "{label:?}");
        label
    }

    #[test]
    fn a_label_stays_inside_at_every_corner() {
        for x in [0.0, 150.0, 300.0] {
            for y in [0.0, 100.0, 200.0] {
                check(x, y, &Obstacles::default());
            }
        }
    }

    #[test]
    fn a_label_avoids_lines_and_other_labels() {
        let mut obstacles = Obstacles::default();
        obstacles.line(&[Point::new(0.0, 200.0), Point::new(300.0, 0.0)]);
        let first = check(150.0, 100.0, &obstacles);
        obstacles.boxes.push(first);
        check(150.0, 100.0, &obstacles);
    }

    #[test]
    fn a_label_wider_than_the_plot_starts_at_its_left() {
        let label = beside(Point::new(200.0, 0.0), &"x".repeat(99), &PLOT, &Obstacles::default());
        assert_eq!(label.left, 0.0);
        assert!(label.top >= 0.0 && label.bottom <= 200.0);
    }
}
