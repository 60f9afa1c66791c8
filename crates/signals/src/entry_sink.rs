//! Emits entries and collects document statistics.

use std::ops::ControlFlow;

use url::Url;

use crate::defect::{Defect, DefectCounts};
use crate::entry::{DocumentEntry, EntryTarget};
use crate::entry_draft::EntryDraft;
use crate::entry_url::resolve;
use crate::hub_links::HubLinks;
use crate::limits::DocumentLimits;
use crate::published_date::{DateFormat, DatePrecision, PublishedDate, parse};
use crate::report::DocumentFormat;

/// Maximum number of entries that the sitemap protocol allows.
const MAX_SITEMAP_ENTRIES: u64 = 50_000;
/// 1990-01-01: dates before the web are wrong.
const EARLIEST_DATE: i64 = 631_152_000;
/// Tolerated clock difference in seconds.
const MAX_CLOCK_SKEW: i64 = 300;
/// Dates within this many seconds of now count as current.
const RECENT_WINDOW: i64 = 600;
/// Minimum number of dates for which their distribution is meaningful.
const MIN_DATES: u64 = 3;

/// Callback that receives the entries.
pub(crate) type EntryCallback<'a> = &'a mut dyn FnMut(DocumentEntry) -> ControlFlow<()>;

/// Emits entries and collects document statistics.
pub(crate) struct EntrySink<'a> {
    pub(crate) base: &'a Url,
    limits: DocumentLimits,
    callback: EntryCallback<'a>,
    pub(crate) format: DocumentFormat,
    pub(crate) defects: DefectCounts,
    pub(crate) links: HubLinks,
    pub(crate) pages: u64,
    pub(crate) sitemaps: u64,
    /// True if reading must stop.
    pub(crate) stopped: bool,
    dates: DateSummary,
}

/// Summary of all dates.
#[derive(Default)]
struct DateSummary {
    count: u64,
    first: Option<PublishedDate>,
    has_distinct: bool,
    has_older: bool,
}

impl<'a> EntrySink<'a> {
    pub(crate) fn new(base: &'a Url, limits: DocumentLimits, callback: EntryCallback<'a>) -> Self {
        Self {
            base,
            limits,
            callback,
            format: DocumentFormat::Unknown,
            defects: DefectCounts::default(),
            links: HubLinks::default(),
            pages: 0,
            sitemaps: 0,
            stopped: false,
            dates: DateSummary::default(),
        }
    }

    pub(crate) fn set_format(&mut self, format: DocumentFormat) {
        self.format = format;
        if format == DocumentFormat::SitemapIndex && self.limits.in_index {
            self.defects.add(Defect::NestedIndex);
        }
    }

    /// Parses a date and records its defects.
    pub(crate) fn parse_date(&mut self, text: &str, expected: DateFormat) -> Option<PublishedDate> {
        let Some(parsed) = parse(text) else {
            self.defects.add(Defect::BadDate);
            return None;
        };
        if parsed.date.precision == DatePrecision::NoZone {
            self.defects.add(Defect::NoZone);
        }
        if parsed.format != expected {
            self.defects.add(Defect::OddDate);
        }
        let range = parsed.date.possible_range();
        if *range.start() > self.limits.now.saturating_add(MAX_CLOCK_SKEW) {
            self.defects.add(Defect::FutureDate);
        } else if *range.end() < EARLIEST_DATE {
            self.defects.add(Defect::EarlyDate);
        }
        Some(parsed.date)
    }

    /// Emits an entry, if it has an address.
    pub(crate) fn emit(&mut self, draft: &EntryDraft) -> ControlFlow<()> {
        let base = draft.base.as_ref().unwrap_or(self.base);
        let address = match resolve(draft.address.as_str(), base) {
            Ok(address) => address,
            Err(defect) => {
                self.defects.add(defect);
                return ControlFlow::Continue(());
            }
        };
        if self.pages + self.sitemaps >= self.limits.max_entries {
            self.defects.add(Defect::TooMany);
            return self.stop();
        }
        if address.is_relative {
            self.defects.add(Defect::RelativeUrl);
        }
        if address.url.host() != self.base.host() {
            self.defects.add(Defect::OtherHost);
        }
        let date = match (draft.updated, draft.published) {
            // News sitemaps state both dates; the later one is that of the change.
            (Some(updated), Some(published)) if self.format.is_sitemap() => {
                Some(if published.unix_seconds > updated.unix_seconds {
                    published
                } else {
                    updated
                })
            }
            (updated, published) => updated.or(published),
        };
        match date {
            Some(date) => self.dates.add(date, self.limits.now),
            None if !draft.has_date && self.format != DocumentFormat::UrlList => {
                self.defects.add(Defect::NoDate);
            }
            None => {}
        }
        match draft.target {
            EntryTarget::Page => self.pages += 1,
            EntryTarget::Sitemap => self.sitemaps += 1,
        }
        let is_index = self.format == DocumentFormat::SitemapIndex;
        if self.format.is_sitemap() && (draft.target == EntryTarget::Sitemap) != is_index {
            self.defects.add(Defect::Mixed);
        }
        let fingerprint = draft.fingerprint();
        let entry =
            DocumentEntry { url: address.url.into(), target: draft.target, date, fingerprint };
        match (self.callback)(entry) {
            ControlFlow::Break(()) => self.stop(),
            flow => flow,
        }
    }

    pub(crate) fn stop(&mut self) -> ControlFlow<()> {
        self.stopped = true;
        ControlFlow::Break(())
    }

    /// Records defects that are known only at the end.
    pub(crate) fn finish(&mut self) {
        if self.format.is_sitemap() && self.pages + self.sitemaps > MAX_SITEMAP_ENTRIES {
            self.defects.add(Defect::Over50000);
        }
        if self.dates.count >= MIN_DATES {
            if !self.dates.has_distinct {
                self.defects.add(Defect::SameDates);
            }
            if !self.dates.has_older {
                self.defects.add(Defect::DatesOfNow);
            }
        }
    }
}

impl DateSummary {
    fn add(&mut self, date: PublishedDate, now: i64) {
        self.count += 1;
        self.has_distinct |= *self.first.get_or_insert(date) != date;
        let since = now.saturating_sub(date.unix_seconds);
        self.has_older |= date.precision != DatePrecision::Exact
            || !(-MAX_CLOCK_SKEW..=RECENT_WINDOW).contains(&since);
    }
}
