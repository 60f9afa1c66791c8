//! Styles of series: colours that are distinct for every kind of colour vision, and dashes and markers that are distinct without colour.

use std::fmt::Write as _;

use crate::geometry::Point;
use crate::svg::Path;

/// Light and dark colours, after Okabe and Ito 2008, with lightness adjusted so that any two are distinct under deuteranopia, protanopia and
/// tritanopia, and each has a contrast of at least 3 : 1 to its background.
const COLOURS: [(&str, &str); 8] = [
    ("#00549e", "#6a97ee"),
    ("#b93a08", "#f0703a"),
    ("#00a36e", "#55e69a"),
    ("#a57fb0", "#c2a6ba"),
    ("#d08207", "#ffc02e"),
    ("#2276ff", "#b4ccff"),
    ("#65090b", "#c9705e"),
    ("#1d1427", "#fffff0"),
];

const DASHES: [&str; 8] =
    ["", "9 4", "2.5 3", "11 3 2.5 3", "5 3", "16 4", "9 3 2.5 3 2.5 3", "1.5 5"];

/// Corners of a marker with radius 1; a disc has none.
const MARKERS: [&[(f64, f64)]; 8] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    &[(-1.2, 0.0), (0.8, -1.1), (0.8, 1.1)],
    &[(1.2, 0.0), (-0.8, -1.1), (-0.8, 1.1)],
];

pub(crate) const MARKER: f64 = 3.6;

const STYLE: &str = "\
.freshet text{font-family:system-ui,-apple-system,\"Segoe UI\",Helvetica,Arial,sans-serif;font-size:12px;fill:#1b1f24}
.freshet .title{font-size:17px;font-weight:600}
.freshet .subtitle{font-size:13px;fill:#57606a}
.freshet .panel{font-size:13px;font-weight:600}
.freshet .muted{fill:#57606a}
.freshet .caption{font-size:11px;fill:#57606a}
.freshet .bg{fill:#fff}
.freshet .grid{stroke:#e6e9ed;fill:none}
.freshet .axis{stroke:#8c959f;fill:none}
.freshet .line{stroke:currentColor;stroke-width:2;stroke-linejoin:round;fill:none}
.freshet .band{fill:currentColor;fill-opacity:.2}
.freshet .shade{fill:#57606a;fill-opacity:.09}
.freshet .whisker{stroke:currentColor;stroke-width:1.6;fill:none}
.freshet .dot{fill:currentColor;stroke:#fff;stroke-width:.8}
.freshet .lead{stroke:currentColor;fill:none}
.freshet .mark{stroke:#57606a;stroke-width:1.2;fill:none}
.freshet .pin{fill:#1b1f24;stroke:#fff;stroke-width:2}
.freshet .halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.freshet .strong{font-weight:600}
";

const DARK: &str = "\
.freshet text{fill:#e6e9ed}
.freshet .subtitle,.freshet .muted,.freshet .caption{fill:#a4acb6}
.freshet .bg{fill:#14171b}
.freshet .grid{stroke:#2c323a}
.freshet .axis{stroke:#737d89}
.freshet .band{fill-opacity:.28}
.freshet .shade{fill:#a4acb6;fill-opacity:.14}
.freshet .dot{stroke:#14171b}
.freshet .mark{stroke:#a4acb6}
.freshet .pin{fill:#e6e9ed;stroke:#14171b}
.freshet .halo{stroke:#14171b}
";

/// Style of a series; after eight, colours repeat with other dashes and markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look(pub(crate) usize);

impl Look {
    pub(crate) fn class(self, class: &str) -> String {
        format!("{class} c{}", self.0 % COLOURS.len())
    }

    fn variant(self) -> usize {
        self.0 % COLOURS.len() + self.0 / COLOURS.len()
    }

    pub(crate) fn dash(self) -> &'static str {
        DASHES[self.variant() % DASHES.len()]
    }

    pub(crate) fn marker(self, at: Point, path: &mut Path) {
        let corners = MARKERS[self.variant() % MARKERS.len()];
        if corners.is_empty() {
            path.disc(at, MARKER);
        } else {
            let corner = |&(x, y): &(f64, f64)| Point::new(at.x + MARKER * x, at.y + MARKER * y);
            path.area(&corners.iter().map(corner).collect::<Vec<_>>());
        }
    }
}

/// Returns the style sheet, without CSS variables, which print converters do not support.
pub(crate) fn style() -> String {
    let mut rules = STYLE.to_owned();
    let mut dark = String::from(DARK);
    for (index, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        let _ = writeln!(rules, ".freshet .c{index}{{color:{on_light}}}");
        let _ = writeln!(dark, ".freshet .c{index}{{color:{on_dark}}}");
    }
    let _ = write!(rules, "@media (prefers-color-scheme:dark){{\n{dark}}}\n");
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn check(colour: &str, background: &str) {
        let (one, other) = (luminance(colour), luminance(background));
        let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
        assert!(contrast >= 3.0, "{colour} on {background}: {contrast}");
    }

    // WCAG 2.2 §1.4.11: graphical objects need 3 : 1.
    #[test]
    fn colours_stand_out_from_their_background() {
        for (on_light, on_dark) in COLOURS {
            check(on_light, "#ffffff");
            check(on_dark, "#14171b");
        }
    }

    #[test]
    fn the_first_sixty_four_looks_differ() {
        let looks: std::collections::BTreeSet<(String, &str)> =
            (0..64).map(|index| (Look(index).class(""), Look(index).dash())).collect();
        assert_eq!(looks.len(), 64);
    }
}
