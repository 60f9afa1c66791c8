//! Writes a gallery of figures into a directory: `cargo run -p freshet-chart --example gallery -- DIR`.

#![allow(clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use freshet_chart::{Axis, Figure, Legend, Mark, Panel, Series, number};

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("error: no directory given\n\nhint: gallery DIR");
        return ExitCode::from(2);
    };
    for (name, figure) in [
        ("curve", curve()),
        ("curve_stacked", stacked()),
        ("policies", policies(Legend::Auto)),
        ("policies_ends", policies(Legend::Ends)),
        ("band", band()),
        ("rows", rows()),
        ("lab", lab()),
        ("extreme", extreme()),
        ("degenerate", degenerate()),
        ("hostile", hostile()),
    ] {
        let path = Path::new(&directory).join(name).with_extension("svg");
        if let Err(error) = std::fs::write(&path, figure.to_svg()) {
            eprintln!("error: cannot write {}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// 49 budgets from 10 to 10 million fetches a day.
fn budgets() -> Vec<f64> {
    (0..49).map(|index| 10f64.powf(1.0 + f64::from(index) / 8.0)).collect()
}

type Measure = fn(f64) -> f64;

/// Four measures that look like those of a plan over 100,000 sources.
fn measures() -> [(Axis, Measure); 4] {
    [
        (Axis::linear("freshness", "").range(0.0, 1.0), |budget| {
            let ratio = budget / 2e4;
            ratio / (1.0 + ratio)
        }),
        (Axis::log("age", "days"), |budget| 3e5 / budget),
        (Axis::linear("harmonic cost", "").from_zero(), |budget| 5e4 * (1.0 + 1e6 / budget).ln()),
        (Axis::linear("binary cost", "").from_zero(), |budget| 1e5 / (1.0 + budget / 2e4)),
    ]
}

/// Shared x: the line is named in the top row only.
fn curve_panels(figure: Figure, columns: usize) -> Figure {
    let xs = budgets();
    let here = 5_000.0;
    measures().into_iter().enumerate().fold(figure, |figure, (index, (axis, measure))| {
        let budget = if index < columns { "your budget 5,000/day" } else { "" };
        let ys: Vec<f64> = xs.iter().map(|&budget| measure(budget)).collect();
        figure.panel(
            Panel::new()
                .x(Axis::log("budget", "fetches/day"))
                .y(axis)
                .series(Series::line("optimal", &xs, &ys))
                .mark(Mark::vertical(here, budget))
                .mark(Mark::dot(here, measure(here), &number(measure(here)))),
        )
    })
}

/// Policies as rows, each with its interval, and a bound.
fn rows() -> Figure {
    let names: Vec<String> = (1..=12).map(|index| format!("policy {index}")).collect();
    let means: Vec<f64> = (1..=12).map(|index| 0.3 + 0.4 * f64::from(index).ln()).collect();
    let halves: Vec<f64> = (1..=12).map(|index| 0.01 * f64::from(index % 5 + 1)).collect();
    let notes: Vec<String> =
        means.iter().zip(&halves).map(|(mean, half)| format!("{mean:.2} ± {half:.2}")).collect();
    let axis = Axis::categories("", &names).notes(&notes);
    let mut panel = Panel::new().x(Axis::linear("cost", "")).y(axis);
    for (at, name) in names.iter().enumerate() {
        let (mean, half, row) = (means[at], halves[at], [at as f64]);
        panel = panel
            .series(Series::intervals(name, &[mean - half], &[mean + half], &row).look(at))
            .series(Series::points(name, &[mean], &row).look(at));
    }
    let panel = panel.mark(Mark::vertical(means[0], "bound"));
    Figure::new("Policy against policy").panel(panel).legend(Legend::Off).plot_height(288)
}

fn curve() -> Figure {
    curve_panels(Figure::new("What a budget buys"), 2)
        .subtitle("100,000 sources, objective harmonic, periodic timing")
        .caption(
            "Freshness and age are importance-weighted means; the costs are sums over sources.",
        )
        .columns(2)
        .share_x()
        .plot_height(190)
}

fn stacked() -> Figure {
    curve_panels(Figure::new("What a budget buys"), 1).share_x().plot_height(130)
}

fn policies(legend: Legend) -> Figure {
    let xs = budgets();
    let names = ["optimal", "uniform", "change rate", "importance", "floor 0.4"];
    let panel = Panel::new()
        .x(Axis::log("budget", "fetches/day"))
        .y(Axis::linear("freshness", "").range(0.0, 1.0));
    let panel = names.iter().zip([2e4, 6e4, 1.5e5, 3e4, 4e5]).fold(panel, |panel, (name, half)| {
        let ys: Vec<f64> = xs.iter().map(|budget| budget / (budget + half)).collect();
        panel.series(Series::line(name, &xs, &ys))
    });
    Figure::new("Policies at an equal number of requests")
        .panel(panel.mark(Mark::horizontal(0.8, "target 0.8")))
        .legend(legend)
}

/// The same noise each time.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as f64 / f64::from(1u32 << 31) - 0.5
}

fn band() -> Figure {
    let days: Vec<f64> = (0..120).map(f64::from).collect();
    let mut seed = 7;
    let mut panel = Panel::new()
        .x(Axis::linear("time", "days"))
        .y(Axis::linear("freshness", ""))
        .mark(Mark::vertical(30.0, "measured from here"))
        .mark(Mark::vertical(34.0, "first feed lost"));
    for (name, level, width) in
        [("engine", 0.78, 0.03), ("uniform", 0.52, 0.05), ("nutch", 0.6, 0.06)]
    {
        let mean: Vec<f64> = days
            .iter()
            .map(|day| level * (1.0 - (-day / 12.0).exp()) + 0.01 * noise(&mut seed))
            .collect();
        let low: Vec<f64> = mean.iter().map(|mean| mean - width).collect();
        let high: Vec<f64> = mean.iter().map(|mean| mean + width).collect();
        panel = panel
            .series(Series::band(name, &days, &low, &high))
            .series(Series::line(name, &days, &mean));
    }
    Figure::new("Freshness over time")
        .subtitle("means of 20 seeds, with 95 % confidence intervals")
        .panel(panel)
}

fn lab() -> Figure {
    let xs: Vec<f64> = (1..=12).map(f64::from).collect();
    let theory: Vec<f64> = xs.iter().map(|x| 1.0 - (-x / 4.0).exp()).collect();
    let mut seed = 3;
    let ours: Vec<f64> = theory.iter().map(|y| y + 0.04 * noise(&mut seed)).collect();
    let gapped: Vec<f64> =
        ours.iter().enumerate().map(|(i, y)| if i == 5 { f64::NAN } else { y * 0.7 }).collect();
    let steps: Vec<f64> = xs.iter().map(|x| (x / 2.0).floor() * 150.0 - 300.0).collect();
    let long: Vec<f64> = (0..20_000).map(|index| f64::from(index) / 2e4 * 12.0).collect();
    let waves: Vec<f64> =
        long.iter().map(|x| 300.0 * (x * 3.0).sin() + 200.0 * noise(&mut seed)).collect();
    Figure::new("Figures from papers")
        .panel(
            Panel::new()
                .title("(a) estimator against theory")
                .x(Axis::linear("observations", ""))
                .y(Axis::linear("power", ""))
                .series(Series::line("theory", &xs, &theory).dashed())
                .series(Series::points("measured", &xs, &ours))
                .series(Series::line_points("with losses", &xs, &gapped)),
        )
        .panel(
            Panel::new()
                .title("(b) fetchers over time")
                .x(Axis::linear("time", "hours"))
                .y(Axis::linear("queue", "requests"))
                .series(Series::line("load", &long, &waves).solid().look(5))
                .series(Series::steps("active", &xs, &steps).solid().look(1)),
        )
        .columns(2)
}

fn extreme() -> Figure {
    let huge = [1e-30, 1e-10, 1.0, 1e10, 1e30];
    let near: Vec<f64> = (0..40).map(|i| 1_000_000.0 + f64::from(i) * 0.01).collect();
    let small: Vec<f64> = (0..40).map(|i| -2e-6 + f64::from(i) * 1e-7).collect();
    let millions: Vec<f64> = (0..40).map(|i| f64::from(i) * 4e4).collect();
    let narrow: Vec<f64> = (0..40).map(|i| 2.0 + f64::from(i) * 0.05).collect();
    Figure::new("Extreme values")
        .columns(2)
        .plot_height(150)
        .panel(
            Panel::new()
                .x(Axis::log("from 10⁻³⁰ to 10³⁰", ""))
                .y(Axis::log("the same", ""))
                .series(Series::line_points("", &huge, &huge)),
        )
        .panel(
            Panel::new()
                .x(Axis::linear("close to a million", ""))
                .y(Axis::linear("millionths", ""))
                .series(Series::line("", &near, &small)),
        )
        .panel(
            Panel::new()
                .x(Axis::linear("up to a million and a half", "bytes"))
                .y(Axis::linear("huge", ""))
                .series(Series::line_points("", &millions, &[0.0, 1e30, f64::NAN, 5e29, 2e29])),
        )
        .panel(
            Panel::new()
                .x(Axis::log("narrow logarithm", ""))
                .y(Axis::log("less than two decades", ""))
                .series(Series::line(
                    "",
                    &narrow,
                    &narrow.iter().map(|x| x.powi(3)).collect::<Vec<_>>(),
                ))
                .mark(Mark::dot(3.95, 61.0, "a label at the very corner")),
        )
}

fn degenerate() -> Figure {
    let panel = |name: &str| Panel::new().x(Axis::log("budget", "")).y(Axis::linear(name, ""));
    Figure::new("Little to see")
        .columns(3)
        .plot_height(110)
        .panel(panel("no points").series(Series::line("", &[], &[])))
        .panel(panel("one point").series(Series::line("", &[300.0], &[0.8])))
        .panel(panel("all equal").series(Series::line(
            "",
            &[1.0, 10.0, 100.0],
            &[42.0, 42.0, 42.0],
        )))
        .panel(panel("all zero").series(Series::line("", &[1.0, 10.0, 100.0], &[0.0, 0.0, 0.0])))
        .panel(panel("not positive").series(Series::line("", &[-1.0, 0.0, -5.0], &[1.0, 2.0, 3.0])))
        .panel(panel("not finite").series(Series::line(
            "",
            &[1.0, 2.0, 3.0],
            &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
        )))
}

fn hostile() -> Figure {
    let long = "an endless name that goes on and on and does not stop for anything or anyone, ever";
    let xs = [0.0, 1.0, 2.0];
    let figure = Figure::new(
        "</title><script>alert(1)</script> & a title so long that it has to be broken into lines",
    )
    .subtitle(&long.repeat(6))
    .caption(
        "a caption with \"quotes\", 'apostrophes', tabs\tand\nline breaks, 日本語 and ελληνικά",
    )
    .panel(
        Panel::new()
            .title(&long.repeat(2))
            .x(Axis::linear(&long.repeat(2), "<unit>"))
            .y(Axis::linear("\" onload=\"alert(1)", &long.repeat(2)))
            .series(Series::line("<b>bold</b>", &xs, &[1.0, 2.0, 1.5]))
            .series(Series::line(long, &xs, &[1.1, 1.9, 1.55]))
            .series(Series::line(&long.repeat(3), &xs, &[1.3, 1.2, 1.52]))
            .mark(Mark::vertical(0.0, "at the left end"))
            .mark(Mark::vertical(2.0, &long.repeat(2)))
            .mark(Mark::dot(2.0, 1.5, "1.5 & more"))
            .mark(Mark::dot(1.0, 2.0, &long.repeat(2))),
    );
    figure.legend(Legend::Top)
}
