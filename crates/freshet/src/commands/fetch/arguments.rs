//! The command line of `freshet fetch` as it is typed.

use std::path::PathBuf;

use clap::Args;

/// Fetch a URL and show all that came of it
///
/// Asks robots.txt, passes the guard against private addresses, follows redirects and keeps all limits,
/// as freshet itself does. What came of it goes to standard output, as one object with --json; the page
/// itself only with --body.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit code 0: there is content, or it has not changed; with --robots: it may be fetched. 1: it is
gone, disallowed by robots.txt, refused by the guard, or it failed. 2: it could not be tried, and the
message says why.

By default nothing is fetched from private, loopback, link-local and other addresses that are not
public. --allow opens some. SETTINGS is a TOML file with limits, rules for headers, passwords and
proxies, and more; see docs/fetch.md.

Examples:
  freshet fetch https://example.com/
  freshet fetch https://example.com/page --robots
  freshet fetch https://example.com/ --etag '\"abc\"' --json
  freshet fetch http://localhost:8080/ --allow localhost --body page.html")]
pub(crate) struct FetchArguments {
    /// What to fetch
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Only say whether robots.txt allows it, and by which line
    #[arg(long, conflicts_with_all = ["body", "head", "etag", "modified"])]
    pub(crate) robots: bool,

    /// Fetch it whatever robots.txt says: for pages of your own
    #[arg(long, conflicts_with = "robots")]
    pub(crate) no_robots: bool,

    /// Let the guard pass a network, an address or a name: 10.0.0.0/8, 127.0.0.1:8080, `[::1]:8080`,
    /// localhost
    #[arg(long, value_name = "NET|HOST")]
    pub(crate) allow: Vec<String>,

    /// Send a header, to this host only
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,

    /// Whom the host can turn to: a URL or a mail address, sent with the user agent
    #[arg(long, value_name = "CONTACT")]
    pub(crate) contact: Option<String>,

    /// The whole user agent. robots.txt is asked by the word that it begins with
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,

    /// Only fetch if the version is another than this ETag, given with its own quotes
    #[arg(long, value_name = "ETAG")]
    pub(crate) etag: Option<String>,

    /// Only fetch if it was modified after this date (as in Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT)
    #[arg(long, value_name = "DATE")]
    pub(crate) modified: Option<String>,

    /// Ask for the head only
    #[arg(long)]
    pub(crate) head: bool,

    /// Write the body to this file (`-` is standard output, with all else on standard error)
    #[arg(long, value_name = "FILE", conflicts_with = "head")]
    pub(crate) body: Option<PathBuf>,

    /// Read settings from this file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
