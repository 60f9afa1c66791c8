//! Text description of a figure for screen readers.

use crate::panel::Panel;
use crate::series::Kind;

/// Describes each panel with the first and last value of each series.
pub(crate) fn describe(panels: &[Panel]) -> String {
    let mut text = match panels.len() {
        0 => return "An empty figure.".to_owned(),
        1 => "A chart.".to_owned(),
        count => format!("{count} charts."),
    };
    for panel in panels {
        let or = |name: String, other: &str| if name.is_empty() { other.to_owned() } else { name };
        let (x, y) = (or(panel.x.title(), "x"), or(panel.y.title(), "y"));
        text.push_str(&format!(" {y} against {x}"));
        if !panel.title.is_empty() {
            text.push_str(&format!(", {}", panel.title));
        }
        for series in panel.series.iter().filter(|series| series.kind() != Kind::Intervals) {
            let mut rows =
                series.rows().iter().filter(|row| row.shown(panel.x.spacing(), panel.y.spacing()));
            let name = or(series.name().to_owned(), "a series");
            match (rows.next(), rows.next_back()) {
                (None, _) => text.push_str(&format!("; {name}: no data")),
                (Some(only), None) => {
                    text.push_str(&format!(
                        "; {name}: {} at {}",
                        panel.y.say(only.high),
                        panel.x.say(only.x)
                    ));
                }
                (Some(first), Some(last)) => text.push_str(&format!(
                    "; {name}: from {} at {} to {} at {}",
                    panel.y.say(first.high),
                    panel.x.say(first.x),
                    panel.y.say(last.high),
                    panel.x.say(last.x)
                )),
            }
        }
        for mark in panel.marks.iter().filter(|mark| !mark.label.is_empty()) {
            text.push_str(&format!("; marked: {}", mark.label));
        }
        text.push('.');
    }
    text
}
