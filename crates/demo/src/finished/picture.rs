//! Chart of a demo.

use freshet_chart::{Axis, Figure, Panel, Series};

use super::Finished;
use crate::truth::{Client, Standing};

/// Largest number of points in a line.
const POINTS: usize = 120;

impl Finished {
    /// Freshness over the days of the demo, as SVG.
    #[must_use]
    pub fn picture(&self) -> String {
        let hours = self.days() <= 3.0;
        let (unit, scale) = if hours { ("hours", 24.0) } else { ("days", 1.0) };
        let mut panel = Panel::new().x(Axis::linear("time of the demo", unit)).y(Axis::linear(
            "fresh copies, by importance",
            "%",
        )
        .range(0.0, 100.0));
        let points = self.spaced();
        for client in Client::ALL {
            let at = client as usize;
            let name = format!("{} ({:.1} %)", client.name(), 100.0 * self.freshness(client));
            let xs: Vec<f64> = points.iter().map(|it| scale * it.day).collect();
            let ys: Vec<f64> = points.iter().map(|it| 100.0 * it.fresh[at]).collect();
            panel = panel.series(Series::line(&name, &xs, &ys).look(at).solid());
        }
        Figure::new("What the same number of requests keeps fresh")
            .subtitle(&format!(
                "freshet demo: {} pages on {} hosts of this machine, {:.0} requests a day for each of \
                 the three, starting from nothing known",
                self.pages, self.hosts, self.budget
            ))
            .caption("In brackets the mean over the whole time. Measured by the web itself.")
            .panel(panel)
            .to_svg()
    }

    /// Selects evenly spaced samples.
    fn spaced(&self) -> Vec<&Standing> {
        let step = self.standings.len().div_ceil(POINTS).max(1);
        let mut points: Vec<&Standing> = self.standings.iter().step_by(step).collect();
        let last = self.last();
        if points.last().is_none_or(|it| it.day < last.day) {
            points.push(last);
        }
        points
    }
}
