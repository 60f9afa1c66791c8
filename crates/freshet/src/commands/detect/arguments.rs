//! Command-line arguments of `freshet detect`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

/// Compare two documents, or show the content that is compared
///
/// With one document, the compared content is printed on standard output and a description on standard
/// error. With two, the differences are printed on standard output and the verdict on standard error.
/// Exit code 0: read, or no relevant change; 1: changed; 2: failed, and the message says why.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Compared content: of a web page the main text, without scripts, menus, advertising, teasers and
similar parts, and without counters and relative times; if there is no main text, all visible text.
Of JSON the values and their paths, of a feed its entries, of other XML its texts and attributes,
of plain text its lines.

SELECTOR is a CSS selector (`#price`, `table.results tr`), a JSON pointer (`/items/0/price`) or a
JSON path (`$.items[*].price`).

The file of --settings is TOML; options on the command line take precedence:

  select = [\"#main\"]                # compare only this
  drop = [\".counter\"]               # ignore this
  ignore = [\"case\", \"numbers\"]      # also: space, dates, order
  ignore_text = ['ref: \\w+']         # ignore text that matches
  keep_text = ['EUR']                # compare only lines that match
  below = '5%'                       # or 0.05: changes to less than 5 % of the words are slight
  text = \"visible\"                   # compare all visible text, not only the main text
  noise = true                       # compare counters and relative times
  links = true                       # compare the targets of links
  images = true                      # compare the texts of images
  kind = \"html\"                      # html, json, xml, text, pdf, bytes

Examples:
  freshet detect page.html --why
  freshet detect page.html --select main --drop .ad
  freshet detect monday.html tuesday.html
  freshet detect old.json new.json --select '$.items[*].price' --below 1%
  freshet detect monday.html https://example.org/")]
pub(crate) struct DetectArguments {
    /// File, URL, or `-` for standard input
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,

    /// Newer version to compare with
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<String>,

    /// Compare only content that matches this selector; may be repeated
    #[arg(long, visible_aliases = ["pointer", "path"], value_name = "SELECTOR", help_heading = "Change detection")]
    pub(crate) select: Vec<String>,

    /// Ignore content that matches this selector; may be repeated
    #[arg(long, value_name = "SELECTOR", help_heading = "Change detection")]
    pub(crate) drop: Vec<String>,

    /// Compare only lines that match this expression; may be repeated
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "Change detection"
    )]
    pub(crate) keep_text: Vec<String>,

    /// Ignore text that matches this expression; may be repeated
    #[arg(
        long,
        value_name = "REGEX",
        allow_hyphen_values = true,
        help_heading = "Change detection"
    )]
    pub(crate) ignore_text: Vec<String>,

    /// Ignore differences of these kinds: case, space, numbers, dates, order
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', help_heading = "Change detection")]
    pub(crate) ignore: Vec<String>,

    /// Compare all visible text, not only the main text
    #[arg(long, help_heading = "Change detection")]
    pub(crate) visible: bool,

    /// Compare counters, relative times and similar noise
    #[arg(long, help_heading = "Change detection")]
    pub(crate) noise: bool,

    /// Compare the targets of links
    #[arg(long, help_heading = "Change detection")]
    pub(crate) links: bool,

    /// Compare the alternative texts of images
    #[arg(long, help_heading = "Change detection")]
    pub(crate) images: bool,

    /// Treat changes to less than this share of the words as slight, such as 5% or 0.05
    #[arg(long, value_name = "SHARE", help_heading = "Change detection")]
    pub(crate) below: Option<Share>,

    /// Read change detection settings from this TOML file
    #[arg(long, value_name = "FILE", help_heading = "Change detection")]
    pub(crate) settings: Option<PathBuf>,

    /// Kind of the document: html, json, xml, text, pdf or bytes [default: detected]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// Character encoding of the document [default: detected]
    #[arg(long, value_name = "NAME")]
    pub(crate) charset: Option<String>,

    /// Allow fetching from a network, address or name, such as 10.0.0.0/8; may be repeated
    #[arg(long, value_name = "NET|HOST")]
    pub(crate) allow: Vec<String>,

    /// List the ignored parts and the reasons
    #[arg(long)]
    pub(crate) why: bool,

    /// Format of the differences
    #[arg(long, value_name = "HOW", value_enum, default_value = "unified")]
    pub(crate) diff: DiffStyle,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Format of a printed difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffStyle {
    /// Changed lines with `-` and `+`, and three lines of context
    Unified,
    /// Changed lines, with changed words as `[-old-]{+new+}`
    Words,
    /// Two columns
    Side,
    /// No differences
    None,
}

/// Share from 0 to 1, given as `5%` or `0.05`.
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
