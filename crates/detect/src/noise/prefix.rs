//! Lines that say when, how and for whom a page was made.

use crate::html::Reason;

use super::scan::words;

/// Why a whole line does not count, if so.
pub(crate) fn whole_line(line: &str) -> Option<Reason> {
    // Comments in texts begin with a sign.
    let lower =
        line.trim_start_matches(|it: char| !it.is_alphanumeric() && !matches!(it, '©' | '('));
    let lower = lower.to_lowercase();
    let lower = lower.as_str();
    let digit = lower.bytes().any(|it| it.is_ascii_digit());
    let first = lower.as_bytes().first();
    let starts = |list: &[&str]| {
        list.iter().any(|it| it.as_bytes().first() == first && starts_with_words(lower, it))
    };
    if lower.len() <= 200 && is_copyright(lower) {
        Some(Reason::Footer)
    } else if lower.len() <= 160 && (digit && starts(MADE) || starts(REQUEST)) {
        Some(Reason::Request)
    } else if lower.len() <= 80 && starts(ACCOUNT) {
        Some(Reason::Account)
    } else if lower.len() <= 120 && digit && starts(UPDATED) && has_time(lower)
        || digit && is_clock(lower)
    {
        Some(Reason::Request)
    } else {
        None
    }
}

/// `text` begins with `start`, which ends with a word.
fn starts_with_words(text: &str, start: &str) -> bool {
    text.strip_prefix(start)
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) || !start.is_ascii())
}

fn is_copyright(lower: &str) -> bool {
    if lower.starts_with('©') || lower.ends_with("all rights reserved.") {
        return true;
    }
    let rest = lower.strip_prefix("copyright").or_else(|| lower.strip_prefix("(c)"));
    rest.is_some_and(|rest| {
        let rest = rest.trim_start();
        rest.starts_with('©')
            || rest.starts_with("(c)")
            || rest.starts_with("19")
            || rest.starts_with("20")
    })
}

/// A time of day.
fn has_time(lower: &str) -> bool {
    words(lower).iter().any(|it| it.number && is_time(it.of(lower), 2))
}

fn is_time(word: &str, least: usize) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    parts.len() >= least
        && parts.iter().all(|it| it.as_bytes().first().is_some_and(u8::is_ascii_digit))
}

/// Nothing but a date and a time to the second: a clock.
fn is_clock(lower: &str) -> bool {
    if lower.len() > 64 {
        return false;
    }
    let words = words(lower);
    let seconds = |word: &str| word.rsplit('t').next().is_some_and(|it| is_time(it, 3));
    words.iter().any(|it| it.number && seconds(it.of(lower)))
        && words.iter().all(|it| it.number || is_calendar(it.of(lower)))
}

fn is_calendar(word: &str) -> bool {
    const DAYS: &[&str] = &[
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun",
        "jul", "aug", "sep", "oct", "nov", "dec", "mär", "mai", "okt", "dez", "die", "mit", "don",
        "fre", "sam", "son",
    ];
    const ZONES: &[&str] = &[
        "time", "date", "now", "local", "current", "am", "pm", "utc", "gmt", "z", "cet", "cest",
        "est", "edt", "pst", "uhr", "um", "at", "t",
    ];
    ZONES.contains(&word) || DAYS.iter().any(|it| word.starts_with(it)) && word.len() <= 12
}

/// With a digit after it.
const MADE: &[&str] = &[
    "this page has been viewed",
    "this article has been viewed",
    "this article has been read",
    "this post has been viewed",
    "rendered:",
    "timestamp:",
    "loaded in",
    "execution time",
    "generation time",
    "page generation",
    "time taken",
    "memory usage",
    "your last visit",
    "current visitors",
    "visitors today",
    "visitors online",
    "total visitors",
    "online users",
    "page views",
    "total views",
    "total visits",
    "users browsing",
    "currently viewing",
    "members online",
    "ends in",
    "offer ends in",
    "sale ends in",
    "deal ends in",
    "expires in",
    "time left",
    "offer expires in",
    "order within",
    "page generated",
    "generated in",
    "generated at",
    "generated on",
    "generated:",
    "rendered in",
    "rendered at",
    "rendered on",
    "page rendered",
    "page loaded",
    "page load",
    "page created in",
    "this page was generated",
    "this page was rendered",
    "this page took",
    "this page loaded",
    "this page was created in",
    "served in",
    "served at",
    "served from",
    "executed in",
    "query took",
    "load time",
    "render time",
    "processing time",
    "response time",
    "last checked",
    "last refreshed",
    "last crawled",
    "last fetched",
    "last visit",
    "last login",
    "checked at",
    "refreshed at",
    "current time",
    "server time",
    "local time",
    "current date",
    "the time is",
    "it is now",
    "the current time",
    "time now",
    "today is",
    "today's date",
    "retrieved at",
    "printed on",
    "you are visitor",
    "visitor number",
    "visitor no",
    "users online",
    "online now",
    "currently online",
    "guests online",
    "cached at",
    "cached on",
    "snapshot taken",
    "data as of",
    "auto-refreshed",
    "cache generated",
    "seite generiert",
    "seite erstellt",
    "erzeugt am",
    "erzeugt in",
    "generiert am",
    "generiert in",
    "heute ist",
    "serverzeit",
    "aktuelle uhrzeit",
    "page générée",
    "générée en",
    "généré en",
    "généré le",
    "nous sommes le",
    "página generada",
    "generado el",
    "generado en",
    "hoy es",
    "hora actual",
    "pagina generata",
    "現在時刻",
    "本日は",
    "تم إنشاء",
    "الوقت الآن",
    "oggi è",
];

const REQUEST: &[&str] = &[
    "served by",
    "request id",
    "request-id",
    "trace id",
    "trace-id",
    "session id",
    "session-id",
    "session:",
    "ray id",
    "cloudflare ray",
    "correlation id",
    "your ip",
    "nonce:",
    "csrf",
    "build id",
    "cache id",
    "today is monday",
    "today is tuesday",
    "today is wednesday",
    "today is thursday",
    "today is friday",
    "today is saturday",
    "today is sunday",
    "heute ist montag",
    "heute ist dienstag",
    "heute ist mittwoch",
    "heute ist donnerstag",
    "heute ist freitag",
    "heute ist samstag",
    "heute ist sonntag",
];

const ACCOUNT: &[&str] = &[
    "good morning",
    "good afternoon",
    "good evening",
    "welcome back",
    "signed in as",
    "logged in as",
    "you are logged in",
    "you are not logged in",
    "hello, guest",
    "hi, guest",
    "welcome, guest",
    "willkommen zurück",
    "angemeldet als",
    "eingeloggt als",
    "bienvenue,",
    "bienvenido de nuevo",
    "connecté en tant que",
];

/// With a time of day after it.
const UPDATED: &[&str] = &[
    "as of",
    "last updated",
    "updated",
    "last update",
    "last modified",
    "last change",
    "letzte aktualisierung",
    "zuletzt aktualisiert",
    "aktualisiert",
    "stand",
    "dernière mise à jour",
    "mis à jour",
    "mise à jour",
    "última actualización",
    "actualizado",
    "ultimo aggiornamento",
    "最終更新",
    "آخر تحديث",
    "laatst bijgewerkt",
    "обновлено",
];
