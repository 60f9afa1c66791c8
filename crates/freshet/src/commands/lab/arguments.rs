//! Command-line arguments of `freshet lab`.

use std::path::PathBuf;

use clap::Args;

/// Reproduce the tables and figures of the papers
///
/// Without a name, the experiments are listed. Exit code 0: every number is reproduced, or the reason for
/// the difference is known; 1: a number differs, and the output names it; 2: an experiment could not be
/// computed or written.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each printed number or claim gets a verdict, computed from it and from our number:

  reproduced        our number rounds to the printed one
  shape             the data are not available; the stated property holds for our numbers
  not determinable  several numbers fit the paper's description; the output says what is missing
  misprint          a proof or a second computation excludes the printed number; ours is given
  differs           the numbers differ, for no known reason

JSON (--json) is a list of experiments with `name`, `paper`, `item`, `section`, `about`, `verdict`
(the worst of its rows), `verdicts` (the count of each), `note`, and `rows` with `table`, `label`,
`paper` and `ours` (numbers, or null), `printed` (or `claim`, if it is not from the paper) and
`found` (as text), `verdict` and `note`, `unit` (the place of the last significant printed digit)
and `range`: the interval for our number (shape), the proven interval (misprint), or the possible
interval (not determinable). For a formula, `printed_deviation` is the deviation of the printed
formula from another computation, `ours` that of the corrected one, and `range` the tolerance.

Files (--out DIR): index.html with everything on one page, and for each experiment NAME.csv with
its comparisons, NAME.svg with its chart and NAME-picture.csv with the data of the chart.

Examples:
  freshet lab
  freshet lab cho-table-4 liu-table-1-3
  freshet lab kolobov
  freshet lab all --out lab")]
pub(crate) struct LabArguments {
    /// Experiments, `all`, or a paper: cho, azar, kolobov, liu, wic or ours
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Write an HTML page, charts and tables to this directory
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
