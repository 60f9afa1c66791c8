//! Whether what a document says of a source is news.

use freshet_signals::{Entry, PublishedDate};
use freshet_store::SourceMatch;

/// Seconds that a date may be ahead: clocks differ, and days begin elsewhere first.
const AHEAD: i64 = 86_400;

/// What a document is, as far as it matters for what it says of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalEncoding {
    /// Now, in seconds since 1970.
    pub(crate) now: i64,
    /// Whether it was read before.
    pub(crate) again: bool,
    /// Whether it is a feed: what stands in it is what is new, and a text that is another one counts.
    pub(crate) feed: bool,
}

/// Leaves one entry of each page: of several, the one with the latest date, and of those the first. What a
/// document says of a page is the same then as long as it is the same document.
pub(crate) fn once(entries: &mut Vec<Entry>, manner: SignalEncoding) {
    let at = |place: usize| moment(&entries[place], manner).map(|said| said.at);
    let url = |place: usize| entries[place].url.as_str();
    let mut kept: Vec<usize> = (0..entries.len()).collect();
    // Stable: of equal ones, the first stays before the others.
    kept.sort_by(|a, b| url(*a).cmp(url(*b)).then_with(|| at(*b).cmp(&at(*a))));
    kept.dedup_by(|a, b| url(*a) == url(*b));
    kept.sort_unstable();
    let (mut kept, mut places) = (kept.into_iter().peekable(), 0..);
    entries.retain(|_| places.next().is_some_and(|place| kept.next_if_eq(&place).is_some()));
}

/// The moment that is said, unless it is to come.
pub(crate) fn moment(entry: &Entry, manner: SignalEncoding) -> Option<PublishedDate> {
    entry.changed.filter(|said| *said.span().start() <= manner.now + AHEAD)
}

/// Whether to remember what is said of a source, and whether it is news.
pub(crate) fn news(known: &SourceMatch, entry: &Entry, manner: SignalEncoding) -> Option<bool> {
    let said = moment(entry, manner);
    // Perhaps later than the copy: what it is worth then is up to the engine.
    let is_later = |said: PublishedDate| {
        let copy = known.fetched;
        copy.is_some_and(|copy| said.span().end().saturating_mul(1000) > copy)
    };
    match (known.last_entry, said) {
        (None, Some(said)) => Some(is_later(said)),
        // What comes into a feed is new, and there is no copy of what it was.
        (None, None) => Some(manner.feed && manner.again && known.fetched.is_some()),
        (Some((None, print)), None) => (print != entry.fingerprint).then_some(true),
        (Some((None, _)), Some(said)) => Some(is_later(said)),
        (Some((Some(_), _)), None) => Some(false),
        (Some((Some(before), print)), Some(said)) => {
            let at = said.at.saturating_mul(1000);
            let is_edited = manner.feed && at == before && print != entry.fingerprint;
            (at > before || is_edited).then_some(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_signals::{DatePrecision, Kind};

    use super::*;

    const NOW: i64 = 1_000_000;
    const SITEMAP: SignalEncoding = SignalEncoding { now: NOW, again: true, feed: false };
    const FEED: SignalEncoding = SignalEncoding { feed: true, ..SITEMAP };

    fn entry(at: Option<i64>, fingerprint: u64) -> Entry {
        let changed = at.map(|at| PublishedDate { at, grain: DatePrecision::Exact });
        Entry { url: String::new(), kind: Kind::Page, changed, fingerprint }
    }

    /// A copy of second 500,000, and what was said before.
    #[track_caller]
    fn check(
        manner: SignalEncoding,
        before: Option<(Option<i64>, u64)>,
        now: Entry,
        expect: Option<bool>,
    ) {
        let said = before.map(|(at, print)| (at.map(|at| at * 1000), print));
        let known = SourceMatch { id: 1, fetched: Some(500_000_000), last_entry: said };
        assert_eq!(news(&known, &now, manner), expect, "{before:?}, {now:?}");
    }

    #[test]
    fn at_first_what_is_later_than_the_copy_is_news() {
        check(SITEMAP, None, entry(Some(500_001), 1), Some(true));
        check(SITEMAP, None, entry(Some(499_999), 1), Some(false));
        check(SITEMAP, None, entry(None, 1), Some(false));
        let none = SourceMatch { id: 1, fetched: None, last_entry: None };
        assert_eq!(news(&none, &entry(Some(900_000), 1), SITEMAP), Some(false));
    }

    #[test]
    fn then_what_is_later_than_what_was_said() {
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(400_001), 2), Some(true));
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(400_000), 2), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(300_000), 2), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(None, 2), Some(false));
    }

    #[test]
    fn without_dates_what_is_said_otherwise_is_news() {
        check(SITEMAP, Some((None, 1)), entry(None, 2), Some(true));
        check(SITEMAP, Some((None, 1)), entry(None, 1), None);
    }

    #[test]
    fn a_date_to_come_is_none() {
        check(SITEMAP, Some((None, 1)), entry(Some(NOW + 2 * 86_400), 1), None);
        check(SITEMAP, Some((Some(400_000), 1)), entry(Some(i64::MAX / 4), 1), Some(false));
    }

    #[test]
    fn of_what_is_said_twice_the_latest_counts_and_of_those_the_first() {
        let all = [
            ("b", Some(5), 1),
            ("a", None, 2),
            ("b", Some(7), 3),
            ("a", None, 4),
            ("b", Some(7), 5),
            ("b", Some(NOW + 2 * 86_400), 6),
            ("c", None, 7),
        ];
        let of = |(url, at, print): (&str, _, _)| Entry { url: url.to_owned(), ..entry(at, print) };
        let mut entries: Vec<Entry> = all.into_iter().map(of).collect();
        once(&mut entries, SITEMAP);
        let prints: Vec<u64> = entries.iter().map(|it| it.fingerprint).collect();
        assert_eq!(prints, [2, 3, 7]);
    }

    #[test]
    fn what_comes_into_a_feed_is_news_and_so_is_another_text() {
        check(FEED, None, entry(None, 1), Some(true));
        check(SignalEncoding { again: false, ..FEED }, None, entry(None, 1), Some(false));
        check(FEED, Some((Some(400_000), 1)), entry(Some(400_000), 2), Some(true));
    }
}
