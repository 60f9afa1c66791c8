//! The arguments of `freshet lab`.

use std::path::PathBuf;

use clap::Args;

/// Show the papers' tables and figures beside our numbers
///
/// Without a name it lists the experiments. Results go to standard output. Exit code 0: every
/// number is reproduced, or it is known why not; 1: one differs, and the output says which; 2:
/// something could not be calculated or written.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each printed number or claim gets a verdict, calculated from it and from ours:

  reproduced        our number rounds to the printed one
  shape             the data are not at hand; the property that the paper states holds for ours
  not determinable  what the paper states fits more than one number; the output says what is missing
  misprint          a proof or a second calculation rules the printed number out; ours is given
  differs           another number, and nothing says why

JSON (--json) is a list of experiments with `name`, `paper`, `item`, `section`, `about`, `verdict`
(the worst of its rows), `verdicts` (how many of each), `note`, and `rows` with `table`, `label`,
`paper` and `ours` (numbers, or null), `printed` (or `claim`, if it is not the paper's) and `found`
(as text), `verdict` and `note`, `unit`
(the place of the last printed digit that counts) and `range`: where ours must lie (shape), where a
proof puts it (misprint), or what fits (not determinable). For a formula, `printed_deviation` is how
far it is from another calculation as printed, and `ours` how far the right one is; `range` says how
far is the same.

Files (--out DIR): index.html with everything on one page, and for each experiment NAME.csv with its
comparisons, NAME.svg with its picture and NAME-picture.csv with what is drawn.

Examples:
  freshet lab
  freshet lab cho-table-4 liu-table-1-3
  freshet lab kolobov
  freshet lab all --out lab")]
pub(crate) struct LabArguments {
    /// Experiments; `all`, or one of cho, azar, kolobov, liu, wic and ours for all of a paper
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Write a page, pictures and tables to this directory
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
