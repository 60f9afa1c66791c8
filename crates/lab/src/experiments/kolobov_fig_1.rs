//! Kolobov's policies with known change rates.

use freshet_chart::{Axis, Figure, Panel, Series};
use freshet_sim::Synthetic;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::kolobov_web::{Costs, Crawl, KINDS, Kind, Pages};
use crate::number::significant;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "kolobov-fig-1",
    paper: Paper::Kolobov,
    item: "Figure 1",
    section: "§7 (1), §9.4",
    about: "harmonic and binary cost of six policies that know all change rates, on a web like the \
            paper's",
    run,
};

const CRAWLS: [Crawl; 6] =
    [Crawl::Lc, Crawl::Lca, Crawl::BlcFloor, Crawl::Blc, Crawl::Uc, Crawl::Cc];

fn run() -> Result<Outcome, LabError> {
    let pages = Pages::new(Synthetic { sources: 100_000, ..Synthetic::KOLOBOV }, 2019)?;
    let mut all = Vec::new();
    for crawl in CRAWLS {
        all.push(pages.planned(crawl)?);
    }
    let [lc, lca, floor, blc, uc, cc] = [all[0], all[1], all[2], all[3], all[4], all[5]];
    let harmonic = Table::list("Harmonic cost, per source")
        .with(
            "LC and all others",
            less("LC is least", lc.harmonic, &[lca, floor, uc, cc], |it| it.harmonic),
        )
        .with(
            "BLC",
            Comparison::property(
                "infinite: it starves sources",
                &significant(blc.harmonic),
                blc.harmonic.is_infinite(),
            ),
        )
        .with(
            "LCA over BLCε",
            Comparison::shape("on a par, or better", lca.harmonic / floor.harmonic, 0.0..=1.1),
        )
        .with("BLCε and UC", less("BLCε is less", floor.harmonic, &[uc], |it| it.harmonic))
        .with("UC and CC", less("UC is less; CC is weakest", uc.harmonic, &[cc], |it| it.harmonic));
    // The paper does not say which 4 % announce their changes. If they are the most important ones:
    let important = pages.with_complete_by_importance(0.04);
    let ratio = |web: &Pages| -> Result<f64, LabError> {
        Ok(web.planned(Crawl::Lc)?.binary / web.planned(Crawl::Blc)?.binary)
    };
    let ratios = [ratio(&pages)?, ratio(&important)?];
    let binary = Table::list("Binary cost, per source")
        .with(
            "LC over BLC, which is best where nothing is announced",
            Comparison::open_shape(
                "less than 1",
                &ratios,
                &(0.0..=1.0),
                "which sources announce their changes: 4 % at random, or the most important 4 %",
            ),
        )
        .with(
            "LCA over BLC",
            Comparison::shape(
                "weakly affected by the approximation",
                lca.binary / blc.binary,
                0.0..=1.1,
            ),
        )
        .with("LC, LCA, BLC, BLCε and UC", {
            let worst = [lc, lca, blc, floor].iter().map(|it| it.binary).fold(0.0, f64::max);
            less("all by a large margin", 1.1 * worst, &[uc], |it| it.binary).found_as(&format!(
                "{} at most, {}",
                significant(worst),
                significant(uc.binary)
            ))
        })
        .with("UC and CC", less("UC is less", uc.binary, &[cc], |it| it.binary));
    Ok(Outcome::new([harmonic, binary]).picture(bars("Known change rates: cost of six policies", &CRAWLS, &all)).note(
        "The data set of the paper, 18.5 million URLs, is not at hand. The web here is made up to look \
         like it: 100,000 sources with log-normal importance (median 30, σ = 1.6), log-normal change \
         rates (median 0.2 a day, σ = 1.5), 4 % of sources with complete observations, and a budget of \
         20 % of the sources a day. BLCε has one price for all sources above its floor.",
    ))
}

/// Returns true if a cost is less than that of each other.
pub(super) fn less(claim: &str, own: f64, others: &[Costs], of: fn(&Costs) -> f64) -> Comparison {
    let least = others.iter().map(of).fold(f64::INFINITY, f64::min);
    let found = format!("{} and {}", significant(own), significant(least));
    Comparison::property(claim, &found, own < least)
}

/// Costs as lengths, policy by policy.
pub(super) fn bars(title: &str, crawls: &[Crawl], all: &[Costs]) -> Picture {
    let names: Vec<&str> = crawls.iter().map(|crawl| crawl.name()).collect();
    let places: Vec<f64> = (0..all.len()).map(|place| place as f64).collect();
    let mut figure = Figure::new(title)
        .subtitle("on a web like that of the paper; less is better")
        .columns(2)
        .plot_height(200)
        .width(980);
    let mut curves = Vec::new();
    for Kind { name, of } in KINDS {
        let values: Vec<f64> = all.iter().map(of).collect();
        let notes: Vec<String> = values.iter().map(|&value| significant(value)).collect();
        let zeros = vec![0.0; values.len()];
        figure = figure.panel(
            Panel::new()
                .title(name)
                .x(Axis::linear("cost per source", "").from_zero())
                .y(Axis::categories("", &names).notes(&notes))
                .series(Series::intervals(name, &zeros, &values, &places).look(0))
                .series(Series::points(name, &values, &places).look(0)),
        );
        curves.push(Curve::new(name, name, values, places.clone()));
    }
    Picture::new(&figure, curves)
}
