//! The curve as a picture.

use freshet_chart::{Axis, Figure, Mark, Panel, Series};
use freshet_plan::{MeasureForm, Policy};

use crate::commands::curve::{Curve, Point};
use crate::number::{count, days, share, significant};

pub(crate) fn svg(curve: &Curve<'_>) -> String {
    let options = &curve.arguments.options;
    let subtitle = format!(
        "{} sources, objective {}, {} timing",
        count(curve.sources),
        options.objective,
        options.rhythm.timing
    );
    let mut figure = Figure::new("What a budget buys")
        .subtitle(&subtitle)
        .caption(&format!("table: {}; made with freshet curve", curve.loaded.name))
        .columns(2)
        .plot_height(200);
    let measures = curve.points.first().map_or(0, |point| point.values.len());
    for at in 0..measures {
        figure = figure.panel(panel(curve, at));
    }
    figure.to_svg()
}

fn panel(curve: &Curve<'_>, at: usize) -> Panel {
    let (measure, _) = curve.points[0].values[at];
    let y = match measure.form {
        MeasureForm::OneLessMean => Axis::linear(measure.label, "").range(0.0, 1.0),
        MeasureForm::Mean => Axis::log(measure.label, measure.unit),
        MeasureForm::Sum => Axis::linear(measure.label, measure.unit).from_zero(),
    };
    let unit = if curve.loaded.table.cost.is_some() { "units/day" } else { "fetches/day" };
    let mut panel = Panel::new().x(Axis::log("budget", unit)).y(y);
    for &policy in &curve.arguments.policies {
        let own: Vec<&Point> = curve.points.iter().filter(|point| point.policy == policy).collect();
        let x: Vec<f64> = own.iter().map(|point| point.budget).collect();
        let y: Vec<f64> = own.iter().map(|point| point.values[at].1).collect();
        panel = panel.series(Series::line(&label(policy), &x, &y));
    }
    if let Some(marked) = curve.marked.first() {
        // The first row says what the line is.
        let words = format!("your budget {}/day", significant(marked.budget));
        panel = panel.mark(Mark::vertical(marked.budget, if at < 2 { &words } else { "" }));
        let value = marked.values[at].1;
        if value.is_finite() {
            let text = match measure.form {
                MeasureForm::OneLessMean => share(value),
                MeasureForm::Mean => days(value),
                MeasureForm::Sum => significant(value),
            };
            panel = panel.mark(Mark::dot(marked.budget, value, &text));
        }
    }
    panel
}

fn label(policy: Policy) -> String {
    match policy {
        Policy::Optimal => "optimal".to_owned(),
        Policy::Uniform => "equal polling".to_owned(),
        Policy::ChangeRate => "∝ change rate".to_owned(),
        Policy::Importance => "∝ importance".to_owned(),
        Policy::Floor(share) => format!("floor {share}"),
    }
}
