//! Named defects of documents.

use std::fmt;

macro_rules! defects {
    ($($variant:ident $name:literal $description:literal,)*) => {
        /// Defect of a document.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Defect {
            $(#[doc = $description] $variant,)*
        }

        impl Defect {
            /// All defects.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the stable name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the meaning in a sentence.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)* }
            }
        }
    };
}

defects! {
    Empty "empty" "The document is empty.",
    Html "html" "The document is an HTML page, not a sitemap or feed.",
    NoFeed "json-no-feed" "The document is JSON, but not a feed.",
    Unknown "unknown-format" "The document is neither a sitemap nor a feed.",
    Unreadable "unreadable" "The transfer broke off; earlier entries count.",
    CutOff "cut-off" "The document ends early; earlier entries count.",
    BadGzip "bad-gzip" "The compressed data is corrupt; earlier entries count.",
    GzipBomb "gzip-bomb" "The document decompresses to more than the limit; the rest was not read.",
    TooLarge "too-large" "The document is larger than the limit; the rest was not read.",
    TooMany "too-many" "The document has more entries than the limit; the rest was not read.",
    Over50Mb "over-50-mb" "The document exceeds the 50 MB that the sitemap protocol allows.",
    Over50000 "over-50000" "The document exceeds the 50,000 entries that the sitemap protocol allows.",
    NestedIndex "nested-index" "A sitemap index is part of another index.",
    Mixed "mixed" "A sitemap lists other sitemaps, or an index lists pages.",
    Bom "bom" "The document begins with a byte-order mark.",
    OtherEncoding "other-encoding" "A sitemap is not in UTF-8.",
    BadEncoding "bad-encoding" "The document has bytes that are invalid in its encoding.",
    JunkBefore "junk-before" "Something precedes the XML: white space or program output.",
    WrongNamespace "wrong-namespace" "The namespace or version is missing or wrong.",
    Doctype "doctype" "The document has a DOCTYPE; its own entities are never expanded.",
    UnknownEntity "unknown-entity" "An entity is not one of XML's own; it is kept as written.",
    BareAmpersand "bare-ampersand" "An ampersand is not escaped.",
    BadXml "bad-xml" "The XML is not well-formed; reading continued after the error.",
    BadJson "bad-json" "The JSON is not well-formed; earlier entries count.",
    TooDeep "too-deep" "Elements are nested too deep; the inner ones were ignored.",
    LongPiece "long-piece" "A text or tag is too long to be held in memory; it was skipped.",
    NoUrl "no-url" "An entry has no URL.",
    NotAUrl "not-a-url" "The address of an entry is not a URL.",
    OtherScheme "other-scheme" "A URL is neither http nor https.",
    LongUrl "long-url" "A URL is longer than 2,048 bytes.",
    RelativeUrl "relative-url" "A URL is relative; it was resolved against that of the document.",
    OtherHost "other-host" "A URL is on another host than the document.",
    NoDate "no-date" "An entry has no date.",
    BadDate "bad-date" "A date is invalid.",
    OddDate "odd-date" "A date is not in the format that the protocol requires, but was understood.",
    NoZone "no-zone" "A time of day has no time zone: it may be off by half a day.",
    FutureDate "future-date" "A date is in the future.",
    EarlyDate "early-date" "A date is before 1990.",
    SameDates "same-dates" "All entries have the same date.",
    DatesOfNow "dates-of-now" "All dates are from the last minutes: they state when the document was generated.",
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of occurrences of each defect in a document.
#[derive(Clone, PartialEq, Eq)]
pub struct DefectCounts([u64; Defect::ALL.len()]);

impl DefectCounts {
    /// Returns the number of occurrences of a defect.
    #[must_use]
    pub fn count(&self, defect: Defect) -> u64 {
        self.0[defect as usize]
    }

    /// True if a defect occurred.
    #[must_use]
    pub fn contains(&self, defect: Defect) -> bool {
        self.count(defect) > 0
    }

    /// Iterates over the defects that occurred, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Defect, u64)> + '_ {
        let all = Defect::ALL.iter().map(|defect| (*defect, self.count(*defect)));
        all.filter(|(_, count)| *count > 0)
    }

    /// True if no defect occurred.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub(crate) fn add(&mut self, defect: Defect) {
        self.0[defect as usize] += 1;
    }
}

impl Default for DefectCounts {
    fn default() -> Self {
        Self([0; Defect::ALL.len()])
    }
}

impl fmt::Debug for DefectCounts {
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
            assert!(defect.description().ends_with('.'), "{defect}");
            assert!(!Defect::ALL[..place].iter().any(|it| it.name() == defect.name()));
        }
    }
}
