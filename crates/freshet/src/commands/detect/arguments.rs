//! The command line of `freshet detect` as it is typed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

/// Show what of a document counts, or whether it changed from one version to another
///
/// With one SOURCE, what would be compared goes to standard output, and how it was found to
/// standard error. With two, the verdict goes to standard error and what changed to standard
/// output. Exit code 0: read, or nothing that counts changed; 1: changed; 2: could not, and the
/// message says why.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Of a web page the main text counts: not its scripts, menus, advertising, teasers and other parts
around it, nor counters, relative times and the like within it. If there is no main text, all that
can be seen counts. Of JSON the values and their places count, of a feed its entries, of other XML
its texts and attributes, of a text its lines.

SELECTOR is a CSS selector (`#price`, `table.results tr`), a JSON pointer (`/items/0/price`) or a
JSON path (`$.items[*].price`).

A file for --settings is TOML; options on the command line come before it:

  select = [\"#main\"]                # only this
  drop = [\".counter\"]               # not this
  ignore = [\"case\", \"numbers\"]      # also: space, dates, order
  ignore_text = ['ref: \\w+']         # not what matches
  keep_text = ['EUR']                # only lines that match
  below = '5%'                       # or 0.05: changes of less than 5 % of the words are slight
  text = \"visible\"                   # all that can be seen, not the main text only
  noise = true                       # counters and relative times count
  links = true                       # where links lead counts
  images = true                      # what stands for images counts
  kind = \"html\"                      # html, json, xml, text, pdf, bytes

Examples:
  freshet detect page.html --why
  freshet detect page.html --select main --drop .ad
  freshet detect monday.html tuesday.html
  freshet detect old.json new.json --select '$.items[*].price' --below 1%
  freshet detect monday.html https://example.org/")]
pub(crate) struct DetectArguments {
    /// A file, a URL, or `-` for standard input
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,

    /// A later version of it, to be compared
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<String>,

    /// Only what this selects counts; may be given more than once
    #[arg(long, visible_aliases = ["pointer", "path"], value_name = "SELECTOR", help_heading = "What counts")]
    pub(crate) select: Vec<String>,

    /// What this selects does not count; may be given more than once
    #[arg(long, value_name = "SELECTOR", help_heading = "What counts")]
    pub(crate) drop: Vec<String>,

    /// Only lines that match this count; may be given more than once
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "What counts")]
    pub(crate) keep_text: Vec<String>,

    /// What matches this does not count; may be given more than once
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "What counts")]
    pub(crate) ignore_text: Vec<String>,

    /// What makes no difference: case, space, numbers, dates, order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', help_heading = "What counts")]
    pub(crate) ignore: Vec<String>,

    /// All that can be seen counts, not the main text only
    #[arg(long, help_heading = "What counts")]
    pub(crate) visible: bool,

    /// Counters, relative times and the like count
    #[arg(long, help_heading = "What counts")]
    pub(crate) noise: bool,

    /// Where links lead counts
    #[arg(long, help_heading = "What counts")]
    pub(crate) links: bool,

    /// What stands for images counts
    #[arg(long, help_heading = "What counts")]
    pub(crate) images: bool,

    /// Changes of a smaller share of the words than this are slight: 5%, 0.05
    #[arg(long, value_name = "SHARE", help_heading = "What counts")]
    pub(crate) below: Option<Share>,

    /// A file with all of these
    #[arg(long, value_name = "FILE", help_heading = "What counts")]
    pub(crate) settings: Option<PathBuf>,

    /// Read it as html, json, xml, text, pdf or bytes [default: as it seems]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// The encoding of the text [default: as it seems]
    #[arg(long, value_name = "NAME")]
    pub(crate) charset: Option<String>,

    /// For a URL, let the guard pass a network, an address or a name: 10.0.0.0/8, localhost
    #[arg(long, value_name = "NET|HOST")]
    pub(crate) allow: Vec<String>,

    /// Also list what does not count, and why
    #[arg(long)]
    pub(crate) why: bool,

    /// How to show what changed
    #[arg(long, value_name = "HOW", value_enum, default_value = "unified")]
    pub(crate) diff: DiffStyle,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a difference is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffStyle {
    /// Lines, with `-` and `+`, and three lines around them
    Unified,
    /// Lines that changed, with their words as `[-old-]{+new+}`
    Words,
    /// Two columns
    Side,
    /// Not at all
    None,
}

/// A share, as `5%` or `0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, scale) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None => (text, 1.0),
        };
        match number.parse::<f64>() {
            Ok(share) if (0.0..=scale).contains(&share) => Ok(Self(share / scale)),
            _ => Err("give a share from 0 to 1, or from 0% to 100%".to_owned()),
        }
    }
}
