//! Tells of entries, and keeps what is known of all of them.

use std::ops::ControlFlow;

use url::Url;

use crate::address::resolve;
use crate::defect::{Defect, Defects};
use crate::draft::Draft;
use crate::entry::{Entry, Kind};
use crate::limits::Limits;
use crate::links::Links;
use crate::published_date::{DatePrecision, Form, PublishedDate, parse};
use crate::report::Format;

/// Entries that a sitemap may have.
const ALLOWED: u64 = 50_000;
/// 1990-01-01: there was no web before.
const EARLY: i64 = 631_152_000;
/// Seconds that clocks may differ.
const SKEW: i64 = 300;
/// Dates of the last so many seconds are of now.
const NOW: i64 = 600;
/// Dates that must be alike before that says something.
const SEVERAL: u64 = 3;

/// Whoever is told of entries.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Entry) -> ControlFlow<()>;

/// Tells of entries, and keeps what is known of all of them.
pub(crate) struct EntrySink<'a> {
    pub(crate) base: &'a Url,
    limits: Limits,
    take: Take<'a>,
    pub(crate) format: Format,
    pub(crate) defects: Defects,
    pub(crate) links: Links,
    pub(crate) entries: u64,
    pub(crate) parts: u64,
    /// Whether it is to be read no further.
    pub(crate) stopped: bool,
    dates: Dates,
}

/// What is known of all dates.
#[derive(Default)]
struct Dates {
    count: u64,
    first: Option<PublishedDate>,
    differ: bool,
    old: bool,
}

impl<'a> EntrySink<'a> {
    pub(crate) fn new(base: &'a Url, limits: Limits, take: Take<'a>) -> Self {
        Self {
            base,
            limits,
            take,
            format: Format::Unknown,
            defects: Defects::default(),
            links: Links::default(),
            entries: 0,
            parts: 0,
            stopped: false,
            dates: Dates::default(),
        }
    }

    pub(crate) fn found(&mut self, format: Format) {
        self.format = format;
        if format == Format::Index && self.limits.in_index {
            self.defects.add(Defect::NestedIndex);
        }
    }

    /// Reads a date and names what is wrong with it.
    pub(crate) fn date(&mut self, text: &str, expected: Form) -> Option<PublishedDate> {
        let Some(parsed) = parse(text) else {
            self.defects.add(Defect::BadDate);
            return None;
        };
        if parsed.said.grain == DatePrecision::NoZone {
            self.defects.add(Defect::NoZone);
        }
        if parsed.form != expected {
            self.defects.add(Defect::OddDate);
        }
        let span = parsed.said.span();
        if *span.start() > self.limits.now.saturating_add(SKEW) {
            self.defects.add(Defect::FutureDate);
        } else if *span.end() < EARLY {
            self.defects.add(Defect::EarlyDate);
        }
        Some(parsed.said)
    }

    /// Tells of an entry, if it has an address.
    pub(crate) fn tell(&mut self, draft: &Draft) -> ControlFlow<()> {
        let base = draft.base.as_ref().unwrap_or(self.base);
        let address = match resolve(draft.address.text(), base) {
            Ok(address) => address,
            Err(defect) => {
                self.defects.add(defect);
                return ControlFlow::Continue(());
            }
        };
        if self.entries + self.parts >= self.limits.entries {
            self.defects.add(Defect::TooMany);
            return self.stop();
        }
        if address.relative {
            self.defects.add(Defect::RelativeUrl);
        }
        if address.url.host() != self.base.host() {
            self.defects.add(Defect::OtherHost);
        }
        let changed = match (draft.updated, draft.published) {
            // News say both; the later one is of the change.
            (Some(updated), Some(published)) if self.format.is_sitemap() => {
                Some(if published.at > updated.at { published } else { updated })
            }
            (updated, published) => updated.or(published),
        };
        match changed {
            Some(said) => self.dates.add(said, self.limits.now),
            None if !draft.dated && self.format != Format::Lines => {
                self.defects.add(Defect::NoDate);
            }
            None => {}
        }
        match draft.kind {
            Kind::Page => self.entries += 1,
            Kind::Part => self.parts += 1,
        }
        let is_index = self.format == Format::Index;
        if self.format.is_sitemap() && (draft.kind == Kind::Part) != is_index {
            self.defects.add(Defect::Mixed);
        }
        let fingerprint = draft.fingerprint();
        let entry = Entry { url: address.url.into(), kind: draft.kind, changed, fingerprint };
        match (self.take)(entry) {
            ControlFlow::Break(()) => self.stop(),
            going => going,
        }
    }

    pub(crate) fn stop(&mut self) -> ControlFlow<()> {
        self.stopped = true;
        ControlFlow::Break(())
    }

    /// Names what can be known at the end only.
    pub(crate) fn end(&mut self) {
        if self.format.is_sitemap() && self.entries + self.parts > ALLOWED {
            self.defects.add(Defect::Over50000);
        }
        if self.dates.count >= SEVERAL {
            if !self.dates.differ {
                self.defects.add(Defect::SameDates);
            }
            if !self.dates.old {
                self.defects.add(Defect::DatesOfNow);
            }
        }
    }
}

impl Dates {
    fn add(&mut self, said: PublishedDate, now: i64) {
        self.count += 1;
        self.differ |= *self.first.get_or_insert(said) != said;
        let since = now.saturating_sub(said.at);
        self.old |= said.grain != DatePrecision::Exact || !(-SKEW..=NOW).contains(&since);
    }
}
