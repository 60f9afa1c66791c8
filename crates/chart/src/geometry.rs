//! Points, rectangles, and clipping of lines and areas.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    fn towards(self, other: Point, share: f64) -> Point {
        Point::new(self.x + (other.x - self.x) * share, self.y + (other.y - self.y) * share)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn contains(&self, point: Point) -> bool {
        (self.left..=self.right).contains(&point.x) && (self.top..=self.bottom).contains(&point.y)
    }

    pub(crate) fn holds(&self, other: &Rect) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    pub(crate) fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Clips a segment (Liang and Barsky 1984).
    pub(crate) fn clip_segment(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (step, room) in [
            (-dx, from.x - self.left),
            (dx, self.right - from.x),
            (-dy, from.y - self.top),
            (dy, self.bottom - from.y),
        ] {
            if step == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if step < 0.0 {
                enter = enter.max(room / step);
            } else {
                leave = leave.min(room / step);
            }
        }
        (enter <= leave).then(|| {
            let start = if enter > 0.0 { from.towards(to, enter) } else { from };
            let end = if leave < 1.0 { from.towards(to, leave) } else { to };
            (start, end)
        })
    }

    /// Clips a line and returns its pieces. A line of one point stays one point.
    pub(crate) fn clip_line(&self, line: &[Point]) -> Vec<Vec<Point>> {
        if let [only] = line {
            return if self.contains(*only) { vec![vec![*only]] } else { Vec::new() };
        }
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        for pair in line.windows(2) {
            let Some((start, end)) = self.clip_segment(pair[0], pair[1]) else { continue };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&start) => piece.push(end),
                _ => pieces.push(vec![start, end]),
            }
        }
        pieces
    }

    /// Clips an area (Sutherland and Hodgman 1974).
    pub(crate) fn clip_area(&self, outline: &[Point]) -> Vec<Point> {
        type Beyond = fn(&Rect, Point) -> f64;
        let sides: [Beyond; 4] = [
            |rect, point| rect.left - point.x,
            |rect, point| point.x - rect.right,
            |rect, point| rect.top - point.y,
            |rect, point| point.y - rect.bottom,
        ];
        sides.iter().fold(outline.to_vec(), |outline, beyond| {
            let mut kept = Vec::with_capacity(outline.len());
            for (index, &point) in outline.iter().enumerate() {
                let previous = outline[(index + outline.len() - 1) % outline.len()];
                let (before, now) = (beyond(self, previous), beyond(self, point));
                if (before > 0.0) != (now > 0.0) {
                    kept.push(previous.towards(point, before / (before - now)));
                }
                if now <= 0.0 {
                    kept.push(point);
                }
            }
            kept
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    fn check(line: &[(f64, f64)], expect: &[&[(f64, f64)]]) {
        let line: Vec<Point> = line.iter().map(|&(x, y)| Point::new(x, y)).collect();
        let pieces: Vec<Vec<(f64, f64)>> = BOX
            .clip_line(&line)
            .iter()
            .map(|piece| piece.iter().map(|point| (point.x, point.y)).collect())
            .collect();
        assert_eq!(pieces, expect);
    }

    #[test]
    fn lines_are_cut_at_the_sides() {
        check(&[(1.0, 1.0), (9.0, 9.0)], &[&[(1.0, 1.0), (9.0, 9.0)]]);
        check(&[(-5.0, 5.0), (15.0, 5.0)], &[&[(0.0, 5.0), (10.0, 5.0)]]);
        check(
            &[(2.0, 5.0), (4.0, 15.0), (6.0, 5.0)],
            &[&[(2.0, 5.0), (3.0, 10.0)], &[(5.0, 10.0), (6.0, 5.0)]],
        );
        check(&[(-5.0, -5.0), (-1.0, 20.0)], &[]);
        check(&[(3.0, 3.0)], &[&[(3.0, 3.0)]]);
        check(&[(3.0, 13.0)], &[]);
        check(&[], &[]);
    }

    #[test]
    fn areas_are_cut_at_the_sides() {
        let area = [(-5.0, 5.0), (15.0, 5.0), (15.0, 20.0), (-5.0, 20.0)];
        let cut = BOX.clip_area(&area.map(|(x, y)| Point::new(x, y)));
        let corners = [(0.0, 5.0), (10.0, 5.0), (10.0, 10.0), (0.0, 10.0)];
        assert_eq!(cut.len(), 4);
        assert!(corners.iter().all(|&(x, y)| cut.contains(&Point::new(x, y))));
        assert!(BOX.clip_area(&[]).is_empty());
    }
}
