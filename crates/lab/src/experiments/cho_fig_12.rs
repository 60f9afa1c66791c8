//! One curve for all prices.

use freshet_chart::{Axis, Figure, Mark, Panel};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::experiments::cho_fig_11::{optimum, point, top};
use crate::grid::linear;
use crate::index::{Index, bisect};
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-fig-12",
    paper: Paper::Cho,
    item: "Figure 12",
    section: "§5.4, Theorem 5.5",
    about: "the curve of best rates at the prices μ = 1 and μ = 2: where it is highest and where it \
            ends, and that one is the other in half the size",
    run,
};

fn run() -> Result<Outcome, LabError> {
    let mut table =
        Table::new("Where the curve is", "price", &["highest at λ", "highest f", "ends at λ"]);
    let (low, high) = top();
    let highest = |price: f64| point(Index::Freshness, 1.0, price, low);
    // Beyond w/μ a page is never fetched: the value of a fetch stays below its price.
    let ends =
        |price: f64| bisect(0.1, 2.0, |change| Index::Freshness.rate(1.0, change, price) > 0.0).1;
    let (change, rate) = highest(1.0);
    let (at, height) = (Printed::new("0.53"), Printed::new("0.3"));
    let (least, _) = point(Index::Freshness, 1.0, 1.0, low * (1.0 - 1e-12));
    let (most, _) = point(Index::Freshness, 1.0, 1.0, high * (1.0 + 1e-12));
    let evidence = Evidence::between(
        least,
        most,
        &format!("the slope is none only where e^x = 1 + x + x², at λ = {change:.6} for μ = 1"),
    );
    let why = if at.is_cut(change) { "cut, not rounded" } else { "" };
    table.push(
        "μ = 1",
        [
            Some(Comparison::number(&at, change).or_misprint(&at, &evidence, why)),
            Some(Comparison::number(&height, rate)),
            Some(Comparison::number(&Printed::exact("1", 1.0), ends(1.0))),
        ],
    );
    // Printed in terms of the first point, (0.53/2, 0.3/2): it adds the factor one half.
    let (half_change, half_rate) = highest(2.0);
    let half = |printed: &str, half: f64, whole: f64| {
        Comparison::formula(printed, (2.0 * half / whole - 1.0).abs())
            .found_as(&format!("{half:.4}, half of {whole:.4}"))
    };
    table.push(
        "μ = 2",
        [
            Some(half("0.53/2", half_change, change)),
            Some(half("0.3/2", half_rate, rate)),
            Some(Comparison::number(&Printed::exact("1/2", 0.5), ends(2.0))),
        ],
    );
    let off = linear(0.01, 0.99, 99).into_iter().map(|change| {
        let whole = Index::Freshness.rate(1.0, change, 1.0);
        let half = Index::Freshness.rate(1.0, 0.5 * change, 2.0);
        (2.0 * half / whole - 1.0).abs()
    });
    let scaling = Table::list("").with(
        "Theorem 5.5: at twice the price, half the size",
        Comparison::formula("(λ, f) at μ is (μλ, μf) at 1", off.fold(0.0, f64::max)),
    );
    let mut panel = Panel::new()
        .x(Axis::linear("change rate λ", "a day").range(0.0, 1.05))
        .y(Axis::linear("best rate f", "fetches a day").range(0.0, 0.35));
    let mut curves = Vec::new();
    for price in [1.0, 2.0] {
        let (x, y) = optimum(Index::Freshness, 1.0, price);
        let curve = Curve::new("", &format!("μ = {price}"), x, y);
        panel = panel.series(curve.line());
        curves.push(curve);
        let (x, y) = point(Index::Freshness, 1.0, price, low);
        panel = panel.mark(Mark::dot(x, y, &format!("{x:.3}, {y:.3}")));
    }
    let figure = Figure::new("The curve of best rates at two prices")
        .subtitle("for freshness, weight 1")
        .plot_height(300)
        .panel(panel);
    Ok(Outcome::new([table, scaling]).picture(Picture::new(&figure, curves)))
}
