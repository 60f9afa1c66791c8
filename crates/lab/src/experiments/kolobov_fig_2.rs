//! Benefit of announcements of changes.

use freshet_sim::Synthetic;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::kolobov_fig_1::{bars, less};
use crate::experiments::kolobov_web::{Crawl, Pages};
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "kolobov-fig-2",
    paper: Paper::Kolobov,
    item: "Figure 2",
    section: "§7 (2), §9.5",
    about: "sources whose changes are all announced: fetching on announcements against ignoring them",
    run,
};

const CRAWLS: [Crawl; 4] = [Crawl::Lc, Crawl::LcIo, Crawl::Blc, Crawl::BlcFloor];

fn pages(median: f64, seed: u64) -> Result<Pages, LabError> {
    let rates = freshet_sim::Distribution::LogNormal { median, sigma: 1.5 };
    Pages::new(Synthetic { sources: 50_000, observed: 1.0, rates, ..Synthetic::KOLOBOV }, seed)
}

/// Returns the factor by which the cost rises if announcements are ignored.
fn gain(pages: &Pages) -> Result<f64, LabError> {
    Ok(pages.planned(Crawl::LcIo)?.harmonic / pages.planned(Crawl::Lc)?.harmonic)
}

fn run() -> Result<Outcome, LabError> {
    let own = pages(0.2, 2019)?;
    let mut all = Vec::new();
    for crawl in CRAWLS {
        all.push(own.planned(crawl)?);
    }
    let [lc, io, blc, floor] = [all[0], all[1], all[2], all[3]];
    // "Once in a few days": a median from one change in ten days to one in two.
    let ends = [gain(&pages(0.5, 2019)?)?, gain(&pages(0.1, 2019)?)?];
    let range = ends[0].min(ends[1])..=ends[0].max(ends[1]);
    let missing = "the change rates of the data set; §7 says 2 times, §9.5 nearly 5 times";
    let times = |printed: &str| {
        Comparison::open(&Printed::new(printed), &range, missing)
            .note(&format!("{:.2} for a median of 0.2 a day", io.harmonic / lc.harmonic))
    };
    let table = Table::list("Cost per source")
        .with(
            "harmonic: LC, here LC-CO, and the others",
            less("LC-CO is least", lc.harmonic, &[io, floor], |it| it.harmonic),
        )
        .with("harmonic: LC-IO over LC-CO, times (§7)", times("2"))
        .with("harmonic: LC-IO over LC-CO, times (§9.5)", times("5"))
        .with(
            "harmonic: LC-IO and BLCε",
            less("LC-IO is markedly less", io.harmonic, &[floor], |it| it.harmonic),
        )
        .with(
            "binary: LC-CO and the others",
            less("LC-CO is least", lc.binary, &[io, blc, floor], |it| it.binary),
        )
        .with(
            "binary: LC-IO over BLC",
            Comparison::shape("on a par", io.binary / blc.binary, 0.95..=1.1),
        );
    Ok(Outcome::new([table])
        .picture(bars("Announced changes: cost with and without listening", &CRAWLS, &all))
        .note(
            "As in Fig. 1, but 50,000 sources that all announce their changes. LC is then LC-CO; the \
             others ignore the announcements. The range of gains is for median change rates of 0.5 to \
             0.1 a day.",
        ))
}
