//! Charts of a switching curve, in characters and as SVG.

use std::fmt::Write;

use freshet_chart::{Axis, Figure, Legend, Mark, Panel, Series};
use freshet_crew::{Dynamic, Event, Policy};

use crate::commands::crew::CrewSolution;
use crate::number::{format_significant, pluralize};

/// Maximum width of the chart in characters, and its maximum height in lines.
const MAX_COLUMNS: u32 = 61;
const MAX_LINES: u32 = 21;
/// Maximum number of fetchers for which the SVG shows single points.
const MAX_POINTS: u32 = 60;

/// Draws the curve in characters: active fetchers across, pages in the queue upwards, both counted just
/// before an event.
pub(crate) fn text(policy: &Policy) -> String {
    let (queues, fetchers) =
        (spread_evenly(policy.buffer(), MAX_LINES), spread_evenly(policy.available(), MAX_COLUMNS));
    let label = policy.buffer().to_string().len().max("queue".len());
    let mut text = format!("{:>label$}\n", "queue");
    // Writing to a string cannot fail.
    for &queue in queues.iter().rev() {
        let line: String =
            fetchers.iter().map(|&active| event_symbol(policy, queue, active)).collect();
        let _ = writeln!(text, "{queue:>label$} {}", line.trim_end());
    }
    let _ = write!(text, "{:label$} ", "");
    let mut free = 0;
    for (at, active) in fetchers.iter().enumerate() {
        let name = active.to_string();
        let last = at + 1 == fetchers.len();
        if at >= free && (at % 10 == 0 || last) {
            let _ = write!(text, "{:gap$}{name}", "", gap = at - free);
            free = at + name.len() + 1;
            text.push(' ');
        }
    }
    let _ = write!(text, " active");
    text
}

/// Returns the symbol for the decisions in a state.
fn event_symbol(policy: &Policy, queue: u32, active: u32) -> char {
    let arrival = (active > 0).then(|| policy.starts_on(Event::Arrival, queue, active));
    let departure = (queue > 0).then(|| policy.starts_on(Event::Departure, queue, active));
    match (arrival, departure) {
        (None, None) => ' ',
        (Some(true) | None, Some(true)) | (Some(true), None) => '#',
        (Some(true), Some(false)) => 'a',
        (Some(false), Some(true)) => 'd',
        (Some(false) | None, Some(false)) | (Some(false), None) => '.',
    }
}

/// Returns the numbers from 0 to `last`, or `max_count` of them, evenly spaced and with both ends.
pub(crate) fn spread_evenly(last: u32, max_count: u32) -> Vec<u32> {
    let steps = last.min(max_count - 1);
    let at = |step: u32| (u64::from(step) * u64::from(last) / u64::from(steps.max(1))) as u32;
    (0..=steps).map(at).collect()
}

pub(crate) fn svg(crew: &CrewSolution<'_>, dynamic: &Dynamic) -> String {
    let Dynamic { policy, measures, .. } = dynamic;
    let setting = &crew.setting;
    let subtitle = format!(
        "per unit of time a fetcher delivers {} and the processor handles {}; the queue holds {}; \
         starvation weight {}. Cost {} with the curve, {} with a constant {}",
        format_significant(setting.fetch_rate()),
        format_significant(setting.process_rate()),
        pluralize(policy.buffer() as usize, "page", "pages"),
        format_significant(setting.starvation_weight()),
        format_significant(measures.cost),
        format_significant(crew.fixed.cost),
        pluralize(crew.fixed.fetchers as usize, "fetcher", "fetchers"),
    );
    let mut panel = Panel::new()
        .x(Axis::linear("active fetchers, before the event", "")
            .range(-0.5, f64::from(policy.available()) + 0.5))
        .y(Axis::linear("queue, before the event", "pages")
            .range(-0.5, f64::from(policy.buffer()) + 0.5));
    for (event, name) in [
        (Event::Departure, "page processed: start one more up to here"),
        (Event::Arrival, "page arrives: its fetcher continues up to here"),
    ] {
        let curve = policy.curve(event);
        let points =
            (0..).zip(curve).filter(|(active, _)| event == Event::Departure || *active > 0);
        let (x, y): (Vec<f64>, Vec<f64>) = points
            .filter_map(|(active, longest)| Some((f64::from(active), f64::from(longest?))))
            .unzip();
        panel = panel.series(Series::steps(name, &x, &y));
        if policy.available() <= MAX_POINTS {
            panel = panel.series(Series::points(name, &x, &y));
        }
    }
    let (min, max) = (f64::from(measures.min_active), f64::from(measures.max_active));
    panel = panel.mark(Mark::span(min, max, &format!("in use: {min} to {max}")));
    Figure::new("When to start one more fetcher")
        .subtitle(&subtitle)
        .caption("made with freshet crew")
        .legend(Legend::Top)
        .plot_height(320)
        .panel(panel)
        .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_included() {
        assert_eq!(spread_evenly(5, 21), [0, 1, 2, 3, 4, 5]);
        assert_eq!(spread_evenly(20, 21).len(), 21);
        assert_eq!(spread_evenly(1000, 3), [0, 500, 1000]);
        assert_eq!(spread_evenly(u32::MAX, 2), [0, u32::MAX]);
        assert_eq!(spread_evenly(1, 21), [0, 1]);
    }
}
