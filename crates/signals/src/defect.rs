//! What is wrong with documents, by name.

use std::fmt;

macro_rules! defects {
    ($($variant:ident $name:literal $about:literal,)*) => {
        /// Something that is wrong with a document.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Defect {
            $(#[doc = $about] $variant,)*
        }

        impl Defect {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name, which never changes.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means, in a sentence.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }
        }
    };
}

defects! {
    Empty "empty" "The document has nothing in it.",
    Html "html" "It is a page for people, not a sitemap or feed.",
    NoFeed "json-no-feed" "It is JSON, and not a feed.",
    Unknown "unknown-format" "It is neither a sitemap nor a feed.",
    Unreadable "unreadable" "The bytes stopped coming; entries before that count.",
    CutOff "cut-off" "It ends in the middle; entries before that count.",
    BadGzip "bad-gzip" "Compressed data are damaged; entries before that count.",
    GzipBomb "gzip-bomb" "It decompresses to more than the limit and was read no further.",
    TooLarge "too-large" "It is larger than the limit and was read no further.",
    TooMany "too-many" "It has more entries than the limit and was read no further.",
    Over50Mb "over-50-mb" "It is larger than the 50 MB that a sitemap may have.",
    Over50000 "over-50000" "It has more than the 50,000 entries that a sitemap may have.",
    NestedIndex "nested-index" "It is an index of sitemaps within an index.",
    Mixed "mixed" "A sitemap names other sitemaps, or an index names pages.",
    Bom "bom" "It begins with a byte order mark.",
    OtherEncoding "other-encoding" "A sitemap is not in UTF-8.",
    BadEncoding "bad-encoding" "Bytes are no text in the encoding that it should be in.",
    JunkBefore "junk-before" "Something stands before the XML: space, or what a program printed.",
    WrongNamespace "wrong-namespace" "The namespace or version is missing or is another.",
    Doctype "doctype" "It has a DOCTYPE; entities of its own are never expanded.",
    UnknownEntity "unknown-entity" "An entity is not one of XML's own, and stays as it is written.",
    BareAmpersand "bare-ampersand" "An ampersand is not escaped.",
    BadXml "bad-xml" "It is not well-formed XML; reading went on after that place.",
    BadJson "bad-json" "It is not well-formed JSON; entries before that place count.",
    TooDeep "too-deep" "Elements are nested too deep to be looked at.",
    LongPiece "long-piece" "A text or tag is longer than what is held in memory, and was left out.",
    NoUrl "no-url" "An entry names no URL.",
    NotAUrl "not-a-url" "What an entry names is no URL.",
    OtherScheme "other-scheme" "A URL is neither http nor https.",
    LongUrl "long-url" "A URL has more than 2,048 bytes.",
    RelativeUrl "relative-url" "A URL is not absolute; it is taken from the document's own.",
    OtherHost "other-host" "A URL is of another host than the document.",
    NoDate "no-date" "An entry does not say when it changed.",
    BadDate "bad-date" "A date is none.",
    OddDate "odd-date" "A date is not written as the format asks, and was understood.",
    NoZone "no-zone" "A time of day has no time zone: it may be half a day off.",
    FutureDate "future-date" "A date is in the future.",
    EarlyDate "early-date" "A date is before 1990.",
    SameDates "same-dates" "All entries have the same date.",
    DatesOfNow "dates-of-now" "All dates are of the last minutes: they say when it was built.",
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often each defect was met in a document.
#[derive(Clone, PartialEq, Eq)]
pub struct Defects([u64; Defect::ALL.len()]);

impl Defects {
    /// How often one was met.
    #[must_use]
    pub fn count(&self, defect: Defect) -> u64 {
        self.0[defect as usize]
    }

    /// Whether one was met.
    #[must_use]
    pub fn has(&self, defect: Defect) -> bool {
        self.count(defect) > 0
    }

    /// Those that were met, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Defect, u64)> + '_ {
        let all = Defect::ALL.iter().map(|defect| (*defect, self.count(*defect)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Whether none was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(crate) fn add(&mut self, defect: Defect) {
        self.0[defect as usize] += 1;
    }
}

impl Default for Defects {
    fn default() -> Self {
        Self([0; Defect::ALL.len()])
    }
}

impl fmt::Debug for Defects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(defect, count)| (defect.name(), count))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_different() {
        for (place, defect) in Defect::ALL.iter().enumerate() {
            assert_eq!(*defect as usize, place);
            assert!(defect.name().bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-'));
            assert!(defect.about().ends_with('.'), "{defect}");
            assert!(!Defect::ALL[..place].iter().any(|it| it.name() == defect.name()));
        }
    }
}
