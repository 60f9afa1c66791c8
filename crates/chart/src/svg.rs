//! SVG writer: rounds coordinates, escapes labels, balances tags.

use std::fmt::Write as _;

use crate::geometry::{Point, Rect};
use crate::text::escape_label;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

pub(crate) struct Svg {
    body: String,
    open: Vec<&'static str>,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64, label: &str) -> Svg {
        let (width, height, label) = (px(width), px(height), escape_label(label));
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"freshet\" role=\"img\" \
             aria-label=\"{label}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n"
        );
        Svg { body, open: vec!["svg"] }
    }

    /// Writes an element with text that is not drawn: `title`, `desc`.
    pub(crate) fn note(&mut self, tag: &str, text: &str) {
        self.push(format_args!("<{tag}>{}</{tag}>\n", escape_label(text)));
    }

    pub(crate) fn style(&mut self, rules: &str) {
        self.push(format_args!("<style>\n{rules}</style>\n"));
    }

    pub(crate) fn open(&mut self, class: &str) {
        self.push(format_args!("<g class=\"{class}\">\n"));
        self.open.push("g");
    }

    pub(crate) fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.push(format_args!("</{tag}>\n"));
        }
    }

    pub(crate) fn rect(&mut self, class: &str, rect: Rect) {
        let (x, y) = (px(rect.left), px(rect.top));
        let (width, height) = (px(rect.width()), px(rect.height()));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, at: Point, radius: f64) {
        let (x, y, radius) = (px(at.x), px(at.y), px(radius));
        self.push(format_args!(
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"
        ));
    }

    /// Writes a path unless it is empty; `dash` is a `stroke-dasharray`, empty for a solid line.
    pub(crate) fn path(&mut self, class: &str, dash: &str, path: &Path) {
        if path.0.is_empty() {
            return;
        }
        let dash =
            if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.push(format_args!("<path class=\"{class}\"{dash} d=\"{}\"/>\n", path.0));
    }

    pub(crate) fn text(&mut self, class: &str, at: Point, anchor: Anchor, text: &str) {
        if text.is_empty() {
            return;
        }
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, text) = (px(at.x), px(at.y), escape_label(text));
        self.push(format_args!("<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>\n"));
    }

    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.body
    }

    fn push(&mut self, piece: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(piece);
    }
}

/// Attribute `d` of a path.
#[derive(Default)]
pub(crate) struct Path(String);

impl Path {
    pub(crate) fn line(&mut self, points: &[Point]) {
        for (index, point) in points.iter().enumerate() {
            self.0.push(if index == 0 { 'M' } else { 'L' });
            self.pair(*point);
        }
    }

    pub(crate) fn segment(&mut self, from: Point, to: Point) {
        self.line(&[from, to]);
    }

    pub(crate) fn area(&mut self, points: &[Point]) {
        if points.len() > 2 {
            self.line(points);
            self.0.push('Z');
        }
    }

    pub(crate) fn disc(&mut self, centre: Point, radius: f64) {
        self.0.push('M');
        self.pair(Point::new(centre.x - radius, centre.y));
        let (r, d) = (px(radius), px(2.0 * radius));
        let _ = write!(self.0, "a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z");
    }

    fn pair(&mut self, point: Point) {
        self.0.push_str(&px(point.x));
        self.0.push(' ');
        self.0.push_str(&px(point.y));
    }
}

/// Formats a coordinate with up to two decimals.
fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, expect: &str) {
        assert_eq!(px(value), expect);
    }

    #[test]
    fn coordinates_have_at_most_two_decimals() {
        check(0.1 + 0.2, "0.3");
        check(100.0, "100");
        check(-0.001, "0");
        check(12.345_6, "12.35");
        check(-3.5, "-3.5");
    }
}
