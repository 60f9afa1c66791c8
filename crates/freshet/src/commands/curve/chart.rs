//! SVG chart of the curve.

use freshet_chart::{Axis, Figure, Mark, Panel, Series};
use freshet_plan::{MeasureForm, Policy};

use crate::commands::curve::{Curve, CurvePoint};
use crate::number::{format_count, format_days, format_share, format_significant};

pub(crate) fn svg(curve: &Curve<'_>) -> String {
    let options = &curve.arguments.options;
    let subtitle = format!(
        "{} sources, objective {}, {} timing",
        format_count(curve.sources),
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
        MeasureForm::OneMinusMean => Axis::linear(measure.label, "").range(0.0, 1.0),
        MeasureForm::Mean => Axis::log(measure.label, measure.unit),
        MeasureForm::Sum => Axis::linear(measure.label, measure.unit).from_zero(),
    };
    let unit = if curve.loaded.table.cost.is_some() { "units/day" } else { "fetches/day" };
    let mut panel = Panel::new().x(Axis::log("budget", unit)).y(y);
    for &policy in &curve.arguments.policies {
        let own: Vec<&CurvePoint> =
            curve.points.iter().filter(|point| point.policy == policy).collect();
        let x: Vec<f64> = own.iter().map(|point| point.budget).collect();
        let y: Vec<f64> = own.iter().map(|point| point.values[at].1).collect();
        panel = panel.series(Series::line(&label(policy), &x, &y));
    }
    if let Some(marked) = curve.marked.first() {
        // Only the panels of the first row label the line.
        let words = format!("your budget {}/day", format_significant(marked.budget));
        panel = panel.mark(Mark::vertical(marked.budget, if at < 2 { &words } else { "" }));
        let value = marked.values[at].1;
        if value.is_finite() {
            let text = match measure.form {
                MeasureForm::OneMinusMean => format_share(value),
                MeasureForm::Mean => format_days(value),
                MeasureForm::Sum => format_significant(value),
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
