//! Labels at the right of a plot, close to the ends of their lines.

use crate::geometry::{Point, Rect};
use crate::palette::Look;
use crate::svg::{Anchor, Path, Svg};
use crate::text::{self, LABEL, fit};

const LEAD: f64 = 16.0;
const LINE: f64 = 15.0;

pub(crate) struct EndLabel {
    pub(crate) text: String,
    /// End of the line.
    pub(crate) at: Point,
    /// `None` for a mark.
    pub(crate) look: Option<Look>,
}

/// Returns the width of the labels.
pub(crate) fn room<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts
        .filter(|text| !text.is_empty())
        .map(|text| LEAD + 4.0 + text::width(text, LABEL))
        .fold(0.0, f64::max)
}

pub(crate) fn draw(svg: &mut Svg, labels: &[EndLabel], plot: &Rect, room: f64) {
    let mut labels: Vec<&EndLabel> = labels.iter().filter(|label| !label.text.is_empty()).collect();
    labels.sort_by(|one, other| one.at.y.total_cmp(&other.at.y));
    let targets: Vec<f64> = labels.iter().map(|label| label.at.y).collect();
    for (label, y) in labels.iter().zip(spread(&targets, plot.top, plot.bottom)) {
        let mut path = Path::default();
        let bend = Point::new(plot.right + 3.0, label.at.y);
        path.line(&[label.at, bend, Point::new(plot.right + LEAD - 4.0, y)]);
        let class = label.look.map_or("mark".to_owned(), |look| look.class("lead"));
        svg.path(&class, "", &path);
        let text = fit(&label.text, LABEL, room - LEAD);
        svg.text("", Point::new(plot.right + LEAD, y + 4.0), Anchor::Start, &text);
    }
}

/// Returns heights near the ascending targets, at least one line apart, between `top` and `bottom`. Labels that would overlap form a block around their
/// mean.
fn spread(targets: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    struct Block {
        first: f64,
        size: usize,
    }
    let gaps = targets.len().saturating_sub(1).max(1);
    let gap = LINE.min((bottom - top) / gaps as f64);
    let last = |block: &Block| block.first + gap * (block.size - 1) as f64;
    let inside = |first: f64, size: usize| first.min(bottom - gap * (size - 1) as f64).max(top);
    let mut blocks: Vec<Block> = Vec::new();
    for &target in targets {
        let mut block = Block { first: inside(target, 1), size: 1 };
        while let Some(above) = blocks.pop_if(|above| last(above) + gap > block.first) {
            let size = above.size + block.size;
            let shifted = block.first - gap * above.size as f64;
            let sum = above.first * above.size as f64 + shifted * block.size as f64;
            block = Block { first: inside(sum / size as f64, size), size };
        }
        blocks.push(block);
    }
    blocks
        .iter()
        .flat_map(|block| (0..block.size).map(move |index| block.first + gap * index as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(targets: &[f64], expect: &[f64]) {
        assert_eq!(spread(targets, 0.0, 100.0), expect);
    }

    #[test]
    fn labels_move_no_more_than_they_must() {
        check(&[], &[]);
        check(&[20.0, 50.0, 80.0], &[20.0, 50.0, 80.0]);
        check(&[50.0, 50.0], &[42.5, 57.5]);
        check(&[0.0, 0.0], &[0.0, 15.0]);
        check(&[100.0, 100.0, 100.0], &[70.0, 85.0, 100.0]);
        check(&[-500.0, 900.0], &[0.0, 100.0]);
    }

    #[test]
    fn too_many_labels_share_the_height() {
        let heights = spread(&[50.0; 21], 0.0, 100.0);
        assert_eq!((heights[0], heights[1], heights[20]), (0.0, 5.0, 100.0));
    }
}
