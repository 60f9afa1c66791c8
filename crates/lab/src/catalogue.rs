//! Experiments and their properties.

use std::fmt;

use crate::error::LabError;
use crate::outcome::Outcome;

pub use crate::experiments::CATALOGUE;

/// A table, figure or statement of a paper, with the function that computes it.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Paper.
    pub paper: Paper,
    /// Table or figure.
    pub item: &'static str,
    /// Section.
    pub section: &'static str,
    /// Short description of the comparison.
    pub about: &'static str,
    /// Computes the experiment.
    pub run: fn() -> Result<Outcome, LabError>,
}

/// The papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paper {
    /// Cho & Garcia-Molina 2003.
    Cho,
    /// Azar et al. 2018.
    Azar,
    /// Kolobov et al. 2019.
    Kolobov,
    /// Liu & Nain 2006.
    LiuNain,
    /// Pandey, Dhamdhere & Olston 2004.
    Wic,
    /// Differences of freshet.
    Ours,
}

impl Paper {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Cho, Self::Azar, Self::Kolobov, Self::LiuNain, Self::Wic, Self::Ours];

    /// Returns the name on the command line that selects all experiments of the paper.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Cho => "cho",
            Self::Azar => "azar",
            Self::Kolobov => "kolobov",
            Self::LiuNain => "liu",
            Self::Wic => "wic",
            Self::Ours => "ours",
        }
    }

    /// Returns authors and year.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cho => "Cho & Garcia-Molina 2003",
            Self::Azar => "Azar et al. 2018",
            Self::Kolobov => "Kolobov et al. 2019",
            Self::LiuNain => "Liu & Nain 2006",
            Self::Wic => "Pandey et al. 2004 (WIC)",
            Self::Ours => "freshet",
        }
    }

    /// Returns authors, title and venue.
    #[must_use]
    pub fn full(self) -> &'static str {
        match self {
            Self::Cho => {
                "J. Cho, H. Garcia-Molina: Effective page refresh policies for web crawlers. \
                 ACM Transactions on Database Systems 28 (4), 2003"
            }
            Self::Azar => {
                "Y. Azar, E. Horvitz, E. Lubetzky, Y. Peres, D. Shahaf: Tractable near-optimal \
                 policies for crawling. PNAS 2018"
            }
            Self::Kolobov => {
                "A. Kolobov, Y. Peres, C. Lu, E. Horvitz: Staying up to date with online content \
                 changes using reinforcement learning for scheduling. NeurIPS 2019"
            }
            Self::LiuNain => {
                "Z. Liu, P. Nain: Optimization issues in web search engines. Handbook of \
                 Optimization in Telecommunications, 2006"
            }
            Self::Wic => {
                "S. Pandey, K. Dhamdhere, C. Olston: WIC: a general-purpose algorithm for \
                 monitoring web information sources. VLDB 2004"
            }
            Self::Ours => "What freshet does otherwise than the papers, at an equal budget",
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns the experiment of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    CATALOGUE.iter().find(|experiment| experiment.name == name)
}
