//! Lists of URLs: plain text, OPML, sitemaps. They are read as a stream; memory
//! is bounded by the longest line.

mod opml;
mod sitemap;
mod urls;
mod xml;

use std::fmt;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// Format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// One URL per line; lines that begin with `#` are comments.
    Urls,
    /// OPML, as feed readers export it.
    Opml,
    /// A sitemap.
    Sitemap,
}

impl ListFormat {
    /// Guesses the format of a list from its first bytes.
    #[must_use]
    pub fn of_beginning(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        match text.starts_with('<') {
            true if text.contains("<opml") => Self::Opml,
            true => Self::Sitemap,
            false => Self::Urls,
        }
    }
}

impl fmt::Display for ListFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Urls => "URLs",
            Self::Opml => "OPML",
            Self::Sitemap => "a sitemap",
        })
    }
}

/// Entry of a list, not validated as a source yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// URL as written, without surrounding space.
    pub url: String,
    /// Line number, starting at 1.
    pub line: u64,
    /// For OPML: enclosing folders, outermost first.
    pub folders: Vec<String>,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Line number, starting at 1.
    pub line: u64,
    /// Error of the line.
    pub fault: LineFault,
}

/// Error of a line in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// The line is longer than any URL.
    #[error("a line of more than {0} bytes")]
    TooLong(u64),
    /// The file is not valid text.
    #[error("not text in UTF-8")]
    NotUtf8,
}

/// Error of reading a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It is not XML.
    #[error("line {line}: not XML: {why}")]
    Xml {
        /// Line number, starting at 1.
        line: u64,
        /// Message of the parser.
        why: String,
    },
    /// It is XML, and not OPML.
    #[error("not OPML: there is no <opml>")]
    NotOpml,
    /// It is XML, and not a sitemap.
    #[error("not a sitemap: there is no <urlset>")]
    NotASitemap,
    /// It is an index of other sitemaps.
    #[error("an index of sitemaps, not a sitemap")]
    Index {
        /// Some of these sitemaps.
        parts: Vec<String>,
        /// True if there are more of them.
        more: bool,
    },
}

/// Callback that receives the entries of a list and returns whether to continue.
pub type TakeListed<'a> = &'a mut dyn FnMut(Result<Listed, BadLine>) -> ControlFlow<()>;

/// Passes all entries of a list to `take`, in order, until the end or until `take` stops it.
///
/// # Errors
/// Returns an error if the list is not in the given format. Entries before that have been passed on.
pub fn read_list(
    list: &mut dyn BufRead,
    format: ListFormat,
    take: TakeListed<'_>,
) -> Result<(), ListError> {
    match format {
        ListFormat::Urls => urls::read(list, take),
        ListFormat::Opml => opml::read(list, take),
        ListFormat::Sitemap => sitemap::read(list, take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], expect: &str) {
        let format = ListFormat::of_beginning(&String::from_utf8_lossy(text));
        let mut told = Vec::new();
        let read = read_list(&mut &text[..], format, &mut |it| {
            told.push(match it {
                Ok(it) => format!("{}:{}{}", it.line, it.url, it.folders.concat()),
                Err(it) => format!("{}! {}", it.line, it.fault),
            });
            ControlFlow::Continue(())
        });
        told.extend(read.err().map(|error| error.to_string()));
        assert_eq!(told.join("|"), expect);
    }

    #[test]
    fn urls_are_lines() {
        check(b"\xef\xbb\xbfa\n# b\n\n  c \r\n", "1:a|4:c");
        check(b"a\n\xff\nb", "1:a|2! not text in UTF-8|3:b");
        let long = [vec![b'x'; 1 << 17], b"\na".to_vec()].concat();
        check(&long, "1! a line of more than 65536 bytes|2:a");
    }

    #[test]
    fn opml_has_folders() {
        let text = b"<opml><body><outline text='f'>\n<outline xmlUrl='u&amp;v'/></outline>\n\
            <outline xmlUrl=' w '/></body></opml>";
        check(text, "2:u&vf|3:w");
        check(b"<opml><body>", "line 1: not XML: it ends too soon");
    }

    #[test]
    fn sitemaps_have_addresses() {
        let text = b"<urlset><url><loc>\nu&amp;v</loc><image><loc>x</loc></image></url></urlset>";
        check(text, "1:u&v");
        check(b"<html></html>", "not a sitemap: there is no <urlset>");
        let index = b"<sitemapindex><sitemap><loc>u</loc></sitemap></sitemapindex>";
        check(index, "an index of sitemaps, not a sitemap");
    }

    #[test]
    fn what_is_wanted_no_further_is_not_read() {
        let (mut told, mut list) = (0, &b"a\nb\nc"[..]);
        let read = read_list(&mut list, ListFormat::Urls, &mut |_| {
            told += 1;
            ControlFlow::Break(())
        });
        assert!(read.is_ok());
        assert_eq!((told, list), (1, &b"b\nc"[..]));
        // The rest is not XML.
        let mut list = &b"<urlset><url><loc>u</loc></url><url></oops>"[..];
        let take: TakeListed<'_> = &mut |_| ControlFlow::Break(());
        assert!(read_list(&mut list, ListFormat::Sitemap, take).is_ok());
    }
}
