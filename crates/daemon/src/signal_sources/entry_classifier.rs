//! Decides which entries of a document are signals.

use freshet_signals::{DocumentEntry, PublishedDate};
use freshet_store::SourceMatch;

/// Tolerance for dates in the future, in seconds: clocks differ, and so do time zones.
const MAX_DATE_AHEAD_SECONDS: i64 = 86_400;

/// Facts about the document that its entries are classified by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentContext {
    /// Current time, in seconds since 1970.
    pub(crate) now: i64,
    /// True if it was read before.
    pub(crate) was_read_before: bool,
    /// True if it is a feed. A new entry of a feed is a signal, and so is a changed text.
    pub(crate) is_feed: bool,
}

/// Keeps one entry per page: the one with the latest date, or else the first. The same document
/// then always yields the same entries.
pub(crate) fn dedup_entries(entries: &mut Vec<DocumentEntry>, document: DocumentContext) {
    let at = |index: usize| entry_date(&entries[index], document).map(|date| date.unix_seconds);
    let url = |index: usize| entries[index].url.as_str();
    let mut keep: Vec<usize> = (0..entries.len()).collect();
    // The sort is stable, so the first of equal entries remains.
    keep.sort_by(|a, b| url(*a).cmp(url(*b)).then_with(|| at(*b).cmp(&at(*a))));
    keep.dedup_by(|a, b| url(*a) == url(*b));
    keep.sort_unstable();
    let (mut keep, mut indices) = (keep.into_iter().peekable(), 0..);
    entries.retain(|_| indices.next().is_some_and(|index| keep.next_if_eq(&index).is_some()));
}

/// Returns the date of an entry, unless it lies in the future.
pub(crate) fn entry_date(
    entry: &DocumentEntry,
    document: DocumentContext,
) -> Option<PublishedDate> {
    entry
        .date
        .filter(|date| *date.possible_range().start() <= document.now + MAX_DATE_AHEAD_SECONDS)
}

/// Classifies an entry: `None` if there is nothing to remember, true if it is a signal.
pub(crate) fn classify_entry(
    known: &SourceMatch,
    entry: &DocumentEntry,
    document: DocumentContext,
) -> Option<bool> {
    let date = entry_date(entry, document);
    // Possibly later than the copy; the engine weighs that.
    let is_later = |date: PublishedDate| {
        let copy = known.fetched_at;
        copy.is_some_and(|copy| date.possible_range().end().saturating_mul(1000) > copy)
    };
    match (known.last_entry, date) {
        (None, Some(date)) => Some(is_later(date)),
        // An entry that appears in a feed is new, even if its previous state is unknown.
        (None, None) => {
            Some(document.is_feed && document.was_read_before && known.fetched_at.is_some())
        }
        (Some((None, fingerprint)), None) => (fingerprint != entry.fingerprint).then_some(true),
        (Some((None, _)), Some(date)) => Some(is_later(date)),
        (Some((Some(_), _)), None) => Some(false),
        (Some((Some(before), fingerprint)), Some(date)) => {
            let at = date.unix_seconds.saturating_mul(1000);
            let is_edited = document.is_feed && at == before && fingerprint != entry.fingerprint;
            (at > before || is_edited).then_some(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_signals::{DatePrecision, EntryTarget};

    use super::*;

    const NOW: i64 = 1_000_000;
    const SITEMAP: DocumentContext =
        DocumentContext { now: NOW, was_read_before: true, is_feed: false };
    const FEED: DocumentContext = DocumentContext { is_feed: true, ..SITEMAP };

    fn entry(at: Option<i64>, fingerprint: u64) -> DocumentEntry {
        let changed =
            at.map(|at| PublishedDate { unix_seconds: at, precision: DatePrecision::Exact });
        DocumentEntry { url: String::new(), target: EntryTarget::Page, date: changed, fingerprint }
    }

    /// Checks a copy of second 500,000 against an earlier entry.
    #[track_caller]
    fn check(
        document: DocumentContext,
        before: Option<(Option<i64>, u64)>,
        now: DocumentEntry,
        expect: Option<bool>,
    ) {
        let date = before.map(|(at, fingerprint)| (at.map(|at| at * 1000), fingerprint));
        let known = SourceMatch { id: 1, fetched_at: Some(500_000_000), last_entry: date };
        assert_eq!(classify_entry(&known, &now, document), expect, "{before:?}, {now:?}");
    }

    #[test]
    fn a_first_entry_is_a_signal_if_it_is_later_than_the_copy() {
        check(SITEMAP, None, entry(Some(500_001), 1), Some(true));
        check(SITEMAP, None, entry(Some(499_999), 1), Some(false));
        check(SITEMAP, None, entry(None, 1), Some(false));
        let none = SourceMatch { id: 1, fetched_at: None, last_entry: None };
        assert_eq!(classify_entry(&none, &entry(Some(900_000), 1), SITEMAP), Some(false));
    }

    #[test]
    fn an_entry_is_a_signal_if_its_date_advanced() {
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(400_001), 2), Some(true));
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(400_000), 2), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(300_000), 2), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(None, 2), Some(false));
    }

    #[test]
    fn a_changed_entry_without_date_is_a_signal() {
        check(SITEMAP, Some((None, 1)), entry(None, 2), Some(true));
        check(SITEMAP, Some((None, 1)), entry(None, 1), None);
    }

    #[test]
    fn a_date_in_the_future_is_ignored() {
        check(SITEMAP, Some((None, 1)), entry(Some(NOW + 2 * 86_400), 1), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(i64::MAX / 4), 1), Some(false));
    }

    #[test]
    fn of_duplicate_entries_the_latest_or_else_the_first_is_kept() {
        let all = [
            ("b", Some(5), 1),
            ("a", None, 2),
            ("b", Some(7), 3),
            ("a", None, 4),
            ("b", Some(7), 5),
            ("b", Some(NOW + 2 * 86_400), 6),
            ("c", None, 7),
        ];
        let of = |(url, at, fingerprint): (&str, _, _)| DocumentEntry {
            url: url.to_owned(),
            ..entry(at, fingerprint)
        };
        let mut entries: Vec<DocumentEntry> = all.into_iter().map(of).collect();
        dedup_entries(&mut entries, SITEMAP);
        let prints: Vec<u64> = entries.iter().map(|it| it.fingerprint).collect();
        assert_eq!(prints, [2, 3, 7]);
    }

    #[test]
    fn a_new_or_edited_entry_of_a_feed_is_a_signal() {
        check(FEED, None, entry(None, 1), Some(true));
        check(
            DocumentContext { was_read_before: false, ..FEED },
            None,
            entry(None, 1),
            Some(false),
        );
        check(FEED, Some((Some(400_000), 1)), entry(Some(400_000), 2), Some(true));
    }
}
