//! Strip above a plot: title, name of the y axis, and non-overlapping labels of vertical lines and shaded ranges.

use crate::geometry::Point;
use crate::svg::{Anchor, Path, Svg};
use crate::text::{self, BOLD, LABEL, PANEL_TITLE, fit};

const ROW: f64 = 17.0;
const TITLE_ROW: f64 = 20.0;
const FOOT: f64 = 9.0;
const GAP: f64 = 8.0;

pub(crate) struct Header {
    left: f64,
    title: String,
    labels: Vec<Label>,
}

/// Label of something below it.
pub(crate) struct Caption<'a> {
    /// Horizontal position of its target in pixels.
    pub(crate) x: f64,
    pub(crate) text: &'a str,
    /// True if a line leads up to it.
    pub(crate) line: bool,
}

/// Text, `row` rows above the plot.
struct Label {
    text: String,
    start: f64,
    end: f64,
    row: usize,
    of: Of,
}

enum Of {
    Axis,
    /// The line leads up to its label unless another label is in the way.
    Line {
        stem: Option<f64>,
    },
}

impl Label {
    fn blocks(&self, row: usize, start: f64, end: f64) -> bool {
        let apart = |left: f64, right: f64, gap: f64| end + gap <= left || right + gap <= start;
        match self.of {
            _ if self.row == row => !apart(self.start, self.end, GAP),
            Of::Line { stem: Some(stem) } if row < self.row => !apart(stem, stem, 3.0),
            _ => false,
        }
    }

    fn covers(&self, x: f64) -> bool {
        (self.start - 3.0..=self.end + 3.0).contains(&x)
    }
}

impl Header {
    pub(crate) fn new(
        left: f64,
        right: f64,
        title: &str,
        y_title: &str,
        captions: &[Caption<'_>],
    ) -> Header {
        let room = right - left;
        let mut lines: Vec<(f64, String, bool)> = captions
            .iter()
            .filter(|caption| !caption.text.is_empty())
            .map(|caption| (caption.x, fit(caption.text, BOLD * LABEL, room), caption.line))
            .collect();
        lines.sort_by(|one, other| one.0.total_cmp(&other.0));

        let mut labels: Vec<Label> = Vec::new();
        for (index, (x, text, line)) in lines.iter().enumerate() {
            let width = text::width(text, BOLD * LABEL);
            let (centre, after, before) = (x - width / 2.0, x - 4.0, x + 4.0 - width);
            // Of two close lines, the left one has its label on the left.
            let starts = match lines.get(index + 1) {
                Some((next, ..)) if next - x < width + GAP => [before, centre, after],
                _ => [centre, after, before],
            };
            let starts = starts.map(|start| start.min(right - width).max(left));
            let free = |&(row, start): &(usize, f64)| {
                labels.iter().all(|label| !label.blocks(row, start, start + width))
            };
            let (row, start) = (0..=labels.len())
                .flat_map(|row| starts.map(|start| (row, start)))
                .find(free)
                .unwrap_or((labels.len(), starts[0]));
            let clear = *line && labels.iter().all(|label| label.row >= row || !label.covers(*x));
            let of = Of::Line { stem: clear.then_some(*x) };
            labels.push(Label { text: text.clone(), start, end: start + width, row, of });
        }
        if !y_title.is_empty() {
            let text = fit(y_title, LABEL, room);
            let end = left + text::width(&text, LABEL);
            let free = |row: &usize| labels.iter().all(|label| !label.blocks(*row, left, end));
            let row = (0..=labels.len()).find(free).unwrap_or(labels.len());
            labels.push(Label { text, start: left, end, row, of: Of::Axis });
        }
        Header { left, title: fit(title, BOLD * PANEL_TITLE, room), labels }
    }

    pub(crate) fn height(&self) -> f64 {
        let rows = self.labels.iter().map(|label| label.row + 1).max().unwrap_or(0);
        let title = if self.title.is_empty() { 0.0 } else { TITLE_ROW };
        title + ROW * rows as f64 + FOOT
    }

    pub(crate) fn draw(&self, svg: &mut Svg, bottom: f64) {
        let top = bottom - self.height();
        svg.text("panel", Point::new(self.left, top + 14.0), Anchor::Start, &self.title);
        for label in &self.labels {
            let foot = bottom - FOOT - ROW * label.row as f64;
            let baseline = foot - 3.0;
            match label.of {
                Of::Axis => {
                    let at = Point::new(label.start, baseline);
                    svg.text("muted", at, Anchor::Start, &label.text);
                }
                Of::Line { stem } => {
                    // Centred, so that an error of the estimated width does not shift it.
                    let at = Point::new((label.start + label.end) / 2.0, baseline);
                    svg.text("strong", at, Anchor::Middle, &label.text);
                    if let Some(x) = stem {
                        let mut path = Path::default();
                        path.segment(Point::new(x, bottom), Point::new(x, foot));
                        svg.path("mark", "", &path);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(y_title: &str, lines: &[(f64, &str)]) -> Header {
        let captions: Vec<Caption<'_>> =
            lines.iter().map(|&(x, text)| Caption { x, text, line: true }).collect();
        let header = Header::new(0.0, 700.0, "", y_title, &captions);
        for (index, one) in header.labels.iter().enumerate() {
            assert!(one.start >= 0.0 && one.end <= 700.0, "{}", one.text);
            for other in &header.labels[index + 1..] {
                assert!(
                    !one.blocks(other.row, other.start, other.end),
                    "{} / {}",
                    one.text,
                    other.text
                );
            }
        }
        header
    }

    #[test]
    fn labels_stay_inside_and_apart() {
        assert_eq!(check("freshness", &[(500.0, "your budget")]).height(), ROW + FOOT);
        assert_eq!(check("freshness", &[(30.0, "your budget")]).height(), 2.0 * ROW + FOOT);
        check("freshness", &[(0.0, "at the left end"), (700.0, "at the right end")]);
        check("y", &[(300.0, "one label"), (310.0, "another label"), (320.0, "a third label")]);
        check("", &[]);
    }

    #[test]
    fn an_endless_label_is_shortened() {
        let label = "x".repeat(1_000);
        check(&label, &[(350.0, &label), (351.0, &label)]);
    }
}
