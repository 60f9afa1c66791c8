//! How long ago: `3 minutes ago` in several languages.

use super::list::{List, Stems};
use super::scan::{Word, number_length};
use super::{Line, word_at};

/// How a time is told relative to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ago {
    /// `3 minutes ago`
    Span,
    /// `3 months ago`: under a heading writers say so too.
    Months,
    /// `30 years ago`: writers say so too.
    Years,
    /// `yesterday`: anyone says so.
    Day,
}

/// How many words such a phrase at the start takes.
pub(crate) fn ago(line: &Line<'_>, words: &[Word]) -> Option<(usize, Ago)> {
    let word = |at| word_at(line.text, words, at);
    let first = word(0);
    match (first, word(1)) {
        ("just", "now") | ("moments", "ago") | ("gerade", "eben") => return Some((2, Ago::Span)),
        ("last" | "letzte" | "letzten", "week" | "month" | "year" | "woche" | "monat")
        | ("la" | "le", "semaine dernière")
        | ("semana", "pasada") => return Some((2, Ago::Day)),
        _ => {}
    }
    if is_day(first) {
        let at = 1 + usize::from(matches!(word(1), "at" | "um" | "à" | "a" | "alle"));
        return Some(if is_time(word(at)) {
            (at + 1 + usize::from(matches!(word(at + 1), "am" | "pm" | "uhr")), Ago::Span)
        } else {
            (1, Ago::Day)
        });
    }
    before_number(line.text, words).or_else(|| after_number(line, words))
}

/// `vor 5 Minuten`, `il y a 5 minutes`.
fn before_number(line: &str, words: &[Word]) -> Option<(usize, Ago)> {
    let word = |at| word_at(line, words, at);
    let first = word(0);
    let lead = match first {
        "vor" | "hace" | "há" | "منذ" | "قبل" | "för" | "לפני" | "for" => 1,
        "il" if word(1) == "y" && word(2) == "a" => 3,
        _ => return None,
    };
    if is_dual(word(lead)) {
        return Some((lead + 1, Ago::Span));
    }
    let (count, _) = amount(line, words.get(lead..)?)?;
    let unit = word(lead + count);
    let closing = usize::from(matches!(first, "för" | "for"));
    let closed = closing == 0 || matches!(word(lead + count + 1), "sedan" | "siden");
    (is_unit(unit) && closed).then(|| (lead + count + 1 + closing, told(unit)))
}

/// `3 hours ago`, `2h ago`, `3分前`, `1 hour and 5 minutes ago`.
fn after_number(line: &Line<'_>, words: &[Word]) -> Option<(usize, Ago)> {
    let word = |at| word_at(line.text, words, at);
    let about = usize::from(matches!(word(0), "about" | "over" | "almost" | "ca"));
    let (mut at, suffixed) = amount(line.text, words.get(about..)?)?;
    at += about;
    let next = word(at);
    if is_east_asian(next) {
        let years = next.starts_with('年');
        return Some((at + 1, if years { Ago::Years } else { Ago::Span }));
    }
    if suffixed && says_ago(next) {
        return Some((at + 1, Ago::Span));
    }
    if !is_unit(next) {
        return None;
    }
    let years = told(next);
    at += 1;
    let and = usize::from(matches!(word(at), "and" | "und" | "et" | "y" | "e"));
    if let Some((count, _)) = words.get(at + and..).and_then(|rest| amount(line.text, rest))
        && is_unit(word(at + and + count))
        && !line.is_bound(words[at - 1].end, words[at].start)
    {
        at += and + count + 1;
    }
    says_ago(word(at)).then_some((at + 1, years))
}

fn says_ago(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "ago",
        "atrás",
        "fa",
        "geleden",
        "önce",
        "siden",
        "sitten",
        "temu",
        "назад",
        "тому",
        "पहले",
        "전",
    ];
    WORDS.contains(&word)
}

/// A span of time alone, or a day by its distance from today: only in an element for times.
pub(crate) fn is_span(line: &str, words: &[Word]) -> bool {
    let word = |at| word_at(line, words, at);
    match words {
        [_] => {
            let first = word(0);
            let unit = first.trim_start_matches(|it: char| it.is_ascii_digit());
            matches!(first, "now" | "tomorrow" | "morgen" | "demain" | "mañana")
                || unit.len() < first.len() && is_unit(unit)
        }
        [number, _] => number.number && is_unit(word(1)),
        _ => false,
    }
}

/// How many words an amount takes, and whether a unit is stuck to it: `2h`.
fn amount(line: &str, words: &[Word]) -> Option<(usize, bool)> {
    static IN_WORDS: List = List::new(&[
        "a", "an", "eight", "einem", "einer", "few", "five", "four", "nine", "one", "several",
        "seven", "six", "ten", "three", "two", "un", "una", "une", "wenigen",
    ]);
    let digits = number_length(line, words);
    if digits > 0 {
        let suffixed = words[digits - 1].of(line).ends_with(|it: char| it.is_alphabetic());
        return Some((digits, suffixed));
    }
    let first = word_at(line, words, 0);
    if first == "a" && word_at(line, words, 1) == "few" {
        return Some((2, false));
    }
    IN_WORDS.has(first).then_some((1, false))
}

/// Whether a unit is so long that a writer may count in it.
fn told(unit: &str) -> Ago {
    const STEMS: &[&str] = &[
        "year",
        "decade",
        "centur",
        "jahr",
        "ans",
        "année",
        "año",
        "ano",
        "anni",
        "anno",
        "jaar",
        "jaren",
        "год",
        "года",
        "лет",
        "lat",
        "rok",
        "år",
        "سنة",
        "سنوات",
        "שנים",
        "שנה",
        "साल",
        "년",
    ];
    let years = matches!(unit, "an" | "y" | "yr" | "yrs");
    const MONTHS: &[&str] =
        &["month", "monat", "mois", "mes", "mês", "maand", "månad", "месяц", "miesi", "개월"];
    let begins = |list: &[&str]| list.iter().any(|it| unit.starts_with(it));
    if years || begins(STEMS) {
        Ago::Years
    } else if begins(MONTHS) {
        Ago::Months
    } else {
        Ago::Span
    }
}

fn is_unit(word: &str) -> bool {
    static STEMS: Stems = Stems::new(&[
        "sec",
        "min",
        "hour",
        "day",
        "week",
        "month",
        "year",
        "decade",
        "centur",
        "hr",
        "sek",
        "stund",
        "std",
        "tag",
        "woche",
        "monat",
        "jahr",
        "heure",
        "jour",
        "semaine",
        "mois",
        "an",
        "segundo",
        "hora",
        "día",
        "dia",
        "semana",
        "mes",
        "mês",
        "año",
        "ano",
        "ore",
        "ora",
        "giorn",
        "settiman",
        "uur",
        "uren",
        "dag",
        "jaar",
        "jaren",
        "maand",
        "weken",
        "timm",
        "tim",
        "veck",
        "månad",
        "секунд",
        "мин",
        "час",
        "день",
        "дня",
        "дней",
        "недел",
        "месяц",
        "год",
        "лет",
        "sekund",
        "godzin",
        "dni",
        "dzień",
        "tygod",
        "miesi",
        "lat",
        "saat",
        "dakika",
        "gün",
        "ثانية",
        "ثوان",
        "دقيقة",
        "دقائق",
        "ساعة",
        "ساعات",
        "يوم",
        "أيام",
        "أسبوع",
        "أسابيع",
        "شهر",
        "أشهر",
        "سنة",
        "سنوات",
        "moment",
        "שניות",
        "דקות",
        "דקה",
        "שעות",
        "שעה",
        "ימים",
        "יום",
        "שבועות",
        "חודשים",
        "שנים",
        "सेकंड",
        "मिनट",
        "घंट",
        "दिन",
        "सप्ताह",
        "महीन",
        "साल",
        "분",
        "시간",
        "일",
        "주",
        "개월",
        "년",
        "초",
    ]);
    const SHORT: &[&str] = &["s", "m", "h", "d", "w", "y", "mo", "wk", "yr", "hrs", "yrs"];
    word.len() <= 24 && (SHORT.contains(&word) || STEMS.begin(word))
}

/// Two of a unit in one word.
fn is_dual(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "דקותיים",
        "חודשיים",
        "יומיים",
        "שבועיים",
        "שעתיים",
        "دقيقتين",
        "ساعتين",
        "شهرين",
        "يومين",
    ];
    WORDS.contains(&word) || matches!(word, "ساعة" | "يوم" | "דקה" | "שעה" | "يومان")
}

/// A unit and `ago` in one word, after a number.
fn is_east_asian(word: &str) -> bool {
    matches!(
        word,
        "秒前"
            | "分前"
            | "時間前"
            | "日前"
            | "週間前"
            | "か月前"
            | "ヶ月前"
            | "ヵ月前"
            | "年前"
            | "秒钟前"
            | "分钟前"
            | "小时前"
            | "天前"
            | "周前"
            | "个月前"
            | "分鐘前"
            | "小時前"
            | "個月前"
            | "초전"
            | "분전"
            | "시간전"
            | "일전"
    )
}

fn is_day(word: &str) -> bool {
    static DAYS: List = List::new(&[
        "ayer",
        "gestern",
        "gisteren",
        "heute",
        "hier",
        "hoy",
        "ieri",
        "oggi",
        "ontem",
        "today",
        "vandaag",
        "wczoraj",
        "yesterday",
        "вчера",
        "сегодня",
        "أمس",
        "اليوم",
        "昨日",
        "昨天",
        "今天",
        "어제",
    ]);
    DAYS.has(word)
}

pub(crate) fn is_time(word: &str) -> bool {
    let mut parts = word.split(':');
    let two = |part: Option<&str>| {
        part.is_some_and(|it| (1..=4).contains(&it.len()) && it.as_bytes()[0].is_ascii_digit())
    };
    two(parts.next()) && two(parts.next())
}
