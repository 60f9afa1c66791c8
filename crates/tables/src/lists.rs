//! Lists of URLs as people and sites keep them: plain, OPML, sitemaps. They are read as they come, so
//! that one of any length takes no more memory than its longest line.

mod opml;
mod sitemap;
mod urls;
mod xml;

use std::fmt;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// One URL on each line; lines that begin with `#` say nothing.
    Urls,
    /// OPML: feeds, as readers export them.
    Opml,
    /// A sitemap.
    Sitemap,
}

impl ListFormat {
    /// What a list seems to be, by its beginning.
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

/// What a list names. Whether it can be a source is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The URL as it is written, without the space around it.
    pub url: String,
    /// The line that it is in, from 1.
    pub line: u64,
    /// Of OPML: the folders that it is in, from the outside in.
    pub folders: Vec<String>,
}

/// A line that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Which, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: LineFault,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// No URL is as long.
    #[error("a line of more than {0} bytes")]
    TooLong(u64),
    /// A byte is not part of a text.
    #[error("not text in UTF-8")]
    NotUtf8,
}

/// Why a list could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The system says no.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It is not XML.
    #[error("line {line}: not XML: {why}")]
    Xml {
        /// The line that the reading is at, from 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
    /// It is XML, and not OPML.
    #[error("not OPML: there is no <opml>")]
    NotOpml,
    /// It is XML, and not a sitemap.
    #[error("not a sitemap: there is no <urlset>")]
    NotASitemap,
    /// It names other sitemaps.
    #[error("an index of sitemaps, not a sitemap")]
    Index {
        /// Some of them.
        parts: Vec<String>,
        /// Whether there are more.
        more: bool,
    },
}

/// Whoever is told of what a list has, one after another, and says whether to go on.
pub type TakeListed<'a> = &'a mut dyn FnMut(Result<Listed, BadLine>) -> ControlFlow<()>;

/// Tells of all that a list has, in its order, until it ends or is to be read no further.
///
/// # Errors
/// If it is not what it is said to be. What came before that has been told.
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
        // It is not XML after that.
        let mut list = &b"<urlset><url><loc>u</loc></url><url></oops>"[..];
        let take: TakeListed<'_> = &mut |_| ControlFlow::Break(());
        assert!(read_list(&mut list, ListFormat::Sitemap, take).is_ok());
    }
}
