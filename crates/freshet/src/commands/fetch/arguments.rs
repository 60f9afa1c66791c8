//! Command-line arguments of `freshet fetch`.

use std::path::PathBuf;

use clap::Args;

/// Fetch a URL and show the details of the result
///
/// The fetch obeys robots.txt, the guard against private addresses and all limits, and follows redirects,
/// like the fetches of the daemon. The body is written only with --body.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit code 0: the response has content, or is not modified; with --robots: the URL may be fetched.
1: gone, disallowed by robots.txt, refused by the guard, or failed. 2: the fetch could not be
attempted, and the message says why.

By default nothing is fetched from private, loopback, link-local and other non-public addresses;
--allow makes exceptions. The file of --settings is TOML with limits and rules for headers,
passwords, proxies and more; see docs/reference/fetching.md.

Examples:
  freshet fetch https://example.com/
  freshet fetch https://example.com/page --robots
  freshet fetch https://example.com/ --etag '\"abc\"' --json
  freshet fetch http://localhost:8080/ --allow localhost --body page.html")]
pub(crate) struct FetchArguments {
    /// URL to fetch
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Only show whether robots.txt allows the URL, and which line decides
    #[arg(long, conflicts_with_all = ["body", "head", "etag", "modified"])]
    pub(crate) robots: bool,

    /// Ignore robots.txt, for your own pages
    #[arg(long, conflicts_with = "robots")]
    pub(crate) no_robots: bool,

    /// Allow a network, address or name, such as 10.0.0.0/8 or localhost; may be repeated
    ///
    /// Examples: 10.0.0.0/8, 127.0.0.1:8080, `[::1]:8080`, localhost.
    #[arg(long, value_name = "NET|HOST")]
    pub(crate) allow: Vec<String>,

    /// Send a header to the host of the URL only; may be repeated
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,

    /// Contact of the operator, a URL or mail address, sent with the user agent
    #[arg(long, value_name = "CONTACT")]
    pub(crate) contact: Option<String>,

    /// Full user agent; its first word is the name that robots.txt is matched against
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,

    /// Fetch only if the ETag differs from this one, given with its quotes
    #[arg(long, value_name = "ETAG")]
    pub(crate) etag: Option<String>,

    /// Fetch only if modified after this date: Sun, 06 Nov 1994 08:49:37 GMT
    #[arg(long, value_name = "DATE")]
    pub(crate) modified: Option<String>,

    /// Send a HEAD request
    #[arg(long)]
    pub(crate) head: bool,

    /// Write the body to this file; `-` for stdout, with the details on stderr
    #[arg(long, value_name = "FILE", conflicts_with = "head")]
    pub(crate) body: Option<PathBuf>,

    /// Read fetch settings from this TOML file
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
