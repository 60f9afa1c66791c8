//! Phrases that templates write: how long ago, and how often seen, shared or said.

use std::sync::LazyLock;

use regex::Regex;

use super::scan::{Word, number_length};
use crate::html::Reason;

/// Whether a line without digits may hold such a phrase.
pub(crate) fn may_be(line: &str) -> bool {
    WITHOUT_DIGITS.as_ref().is_none_or(|it| it.is_match(line))
}

static WITHOUT_DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        "(?i) ago|just now|no comments|vor eine[rm]|welcome|signed in|logged in|today is|heute ist|\
         copyright|©|willkommen|angemeldet als|request id|session id|nonce|csrf|keine kommentare|\
         be the first to|rights reserved|good (?:morning|afternoon|evening)|served by",
    )
    .ok()
});

/// How many words a phrase at the start takes, and what it is.
pub(crate) fn templated(line: &str, words: &[Word]) -> Option<(usize, Reason)> {
    if !may_begin(line, words) {
        return None;
    }
    let found = ago(line, words).or_else(|| counted(line, words)).or_else(|| labelled(line, words));
    found.map(|count| (count, Reason::Counter))
}

/// A cheap look: a phrase begins with a number, or with one of a few words, or a label and a number.
fn may_begin(line: &str, words: &[Word]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let word = first.of(line);
    first.number
        || rest.first().is_some_and(|it| it.number)
        || !word.is_ascii()
        || is_start(word.as_bytes())
}

/// Words before an amount in words, or before a phrase without one.
fn is_start(word: &[u8]) -> bool {
    const LONGEST: usize = 9;
    let mut lower = [0; LONGEST];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    matches!(
        &*lower,
        b"just"
            | b"moments"
            | b"vor"
            | b"hace"
            | b"il"
            | b"today"
            | b"yesterday"
            | b"heute"
            | b"gestern"
            | b"hier"
            | b"ayer"
            | b"oggi"
            | b"ieri"
            | b"about"
            | b"over"
            | b"almost"
            | b"ca"
            | b"a"
            | b"an"
            | b"one"
            | b"two"
            | b"three"
            | b"four"
            | b"five"
            | b"six"
            | b"seven"
            | b"eight"
            | b"nine"
            | b"ten"
            | b"few"
            | b"several"
            | b"no"
            | b"keine"
            | b"be"
    )
}

/// A word in lower case.
fn lower(line: &str, words: &[Word], at: usize) -> String {
    words.get(at).map(|it| it.of(line).to_lowercase()).unwrap_or_default()
}

/// A span of time alone, or a day by its distance from today: only in an element for times.
pub(crate) fn is_span(line: &str, words: &[Word]) -> bool {
    let word = |at| lower(line, words, at);
    match words {
        [_] => {
            let first = word(0);
            let days =
                ["yesterday", "today", "now", "tomorrow", "gestern", "heute", "hier", "ayer"];
            let digits = first.trim_start_matches(|it: char| it.is_ascii_digit());
            days.contains(&first.as_str())
                || digits.len() < first.len() && !digits.is_empty() && is_unit(digits)
        }
        [number, _] => number.number && is_unit(&word(1)),
        _ => false,
    }
}

/// `3 minutes ago`, in several languages.
fn ago(line: &str, words: &[Word]) -> Option<usize> {
    let word = |at| lower(line, words, at);
    let first = word(0);
    match first.as_str() {
        "just" if word(1) == "now" => return Some(2),
        "moments" if word(1) == "ago" => return Some(2),
        // Before the number.
        "vor" | "hace" | "há" | "منذ" | "قبل" | "för" => {
            let (count, _) = amount(line, &words[1..])?;
            let after = word(1 + count);
            return (is_unit(&after) && (first != "för" || word(2 + count) == "sedan"))
                .then_some(2 + count + usize::from(first == "för"));
        }
        "il" if word(1) == "y" && word(2) == "a" => {
            let (count, _) = amount(line, &words[3..])?;
            return is_unit(&word(3 + count)).then_some(4 + count);
        }
        "today" | "yesterday" | "heute" | "gestern" | "hier" | "ayer" | "oggi" | "ieri" => {
            let at = 1 + usize::from(matches!(word(1).as_str(), "at" | "um" | "à" | "a" | "alle"));
            return is_time(&word(at)).then_some(
                at + 1 + usize::from(matches!(word(at + 1).as_str(), "am" | "pm" | "uhr")),
            );
        }
        _ => {}
    }
    let about = usize::from(matches!(first.as_str(), "about" | "over" | "almost" | "ca"));
    let (mut at, suffixed) = amount(line, words.get(about..)?)?;
    at += about;
    // After the number: `3分前` in two words, `2h ago` in two, `3 hours ago` in three.
    let next = word(at);
    if matches!(
        next.as_str(),
        "秒前"
            | "分前"
            | "時間前"
            | "日前"
            | "週間前"
            | "か月前"
            | "ヶ月前"
            | "ヵ月前"
            | "年前"
            | "分钟前"
            | "小时前"
            | "天前"
            | "周前"
            | "个月前"
            | "초"
            | "분"
            | "시간"
    ) {
        return Some(at + 1);
    }
    let says_ago = |it: &str| {
        matches!(it, "ago" | "fa" | "geleden" | "назад" | "temu" | "önce" | "atrás" | "sitten")
    };
    if suffixed && says_ago(&next) {
        return Some(at + 1);
    }
    if !is_unit(&next) {
        return None;
    }
    at += 1;
    // `1 hour and 5 minutes ago`, `2 days, 3 hours ago`
    let and = usize::from(word(at) == "and");
    if let Some((count, _)) = words.get(at + and..).and_then(|rest| amount(line, rest))
        && is_unit(&word(at + and + count))
    {
        at += and + count + 1;
    }
    says_ago(&word(at)).then_some(at + 1)
}

/// How many words an amount takes, and whether a unit is stuck to it: `2h`.
fn amount(line: &str, words: &[Word]) -> Option<(usize, bool)> {
    let digits = number_length(line, words);
    if digits > 0 {
        let suffixed = words[digits - 1].of(line).ends_with(|it: char| it.is_alphabetic());
        return Some((digits, suffixed));
    }
    let first = lower(line, words, 0);
    let second = lower(line, words, 1);
    match (first.as_str(), second.as_str()) {
        ("a", "few") => Some((2, false)),
        (
            "a" | "an" | "one" | "two" | "three" | "four" | "five" | "six" | "seven" | "eight"
            | "nine" | "ten" | "few" | "several" | "einer" | "einem" | "wenigen" | "une" | "un"
            | "una",
            _,
        ) => Some((1, false)),
        _ => None,
    }
}

fn is_unit(word: &str) -> bool {
    const STEMS: &[&str] = &[
        "sec",
        "min",
        "hour",
        "day",
        "week",
        "month",
        "year",
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
        "anni",
        "anno",
        "uur",
        "uren",
        "dag",
        "jaar",
        "maand",
        "timm",
        "vecka",
        "veckor",
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
    ];
    const SHORT: &[&str] = &["s", "m", "h", "d", "w", "y", "mo", "wk", "yr", "hrs", "yrs"];
    word.len() <= 24 && (STEMS.iter().any(|it| word.starts_with(it)) || SHORT.contains(&word))
}

fn is_time(word: &str) -> bool {
    let mut parts = word.split(':');
    let two = |part: Option<&str>| {
        part.is_some_and(|it| (1..=4).contains(&it.len()) && it.as_bytes()[0].is_ascii_digit())
    };
    two(parts.next()) && two(parts.next())
}

/// `1,234 views`, `23 people are looking at this`, `no comments yet`.
fn counted(line: &str, words: &[Word]) -> Option<usize> {
    let word = |at| lower(line, words, at);
    let ends = |at: usize| ends_here(line, words, at);
    let first = word(0);
    if matches!(first.as_str(), "no" | "keine")
        && matches!(word(1).as_str(), "comments" | "kommentare" | "replies" | "reviews" | "views")
    {
        let yet = usize::from(word(2) == "yet");
        return ends(2 + yet).then_some(2 + yet);
    }
    if first == "be" && word(1) == "the" && word(2) == "first" && word(3) == "to" {
        return matches!(word(4).as_str(), "comment" | "review" | "reply")
            .then_some(words.len().min(8));
    }
    let number = number_length(line, words);
    if number == 0 {
        return None;
    }
    let (noun, next) = (word(number), word(number + 1));
    if is_counted(&noun) && ends(number + 1) {
        return Some(number + 1);
    }
    let tail = matches!(next.as_str(), "online" | "today" | "so" | "total" | "yet");
    if is_counted(&noun) && tail && ends(number + 2) {
        return Some(number + 2);
    }
    let watchers = matches!(
        noun.as_str(),
        "people"
            | "person"
            | "users"
            | "user"
            | "visitors"
            | "visitor"
            | "guests"
            | "guest"
            | "members"
            | "others"
            | "customers"
            | "shoppers"
            | "viewers"
            | "besucher"
            | "personen"
            | "readers"
    );
    let doing = |at: usize| {
        matches!(
            word(at).as_str(),
            "online" | "looking" | "viewing" | "watching" | "browsing" | "reading" | "active"
        )
    };
    if watchers && (number + 1..number + 4).any(doing) {
        return Some(words.len());
    }
    let sold = matches!(noun.as_str(), "sold" | "items") && next == "in";
    let last = |at: usize| matches!(word(at).as_str(), "last" | "past" | "cart" | "basket" | "bag");
    if sold && (last(number + 2) || last(number + 3)) {
        return Some(words.len());
    }
    None
}

/// `Views: 1,234`, `Comments (12)`, `Cart (2)`.
fn labelled(line: &str, words: &[Word]) -> Option<usize> {
    let [label, value, ..] = words else { return None };
    if label.number || !value.number {
        return None;
    }
    let name = label.of(line).to_lowercase();
    let number = number_length(line, &words[1..]);
    if matches!(name.as_str(), "viewed" | "read" | "seen")
        && lower(line, words, 1 + number) == "times"
        && ends_here(line, words, 2 + number)
    {
        return Some(2 + number);
    }
    let carried = matches!(
        name.as_str(),
        "cart"
            | "basket"
            | "bag"
            | "wishlist"
            | "notifications"
            | "inbox"
            | "warenkorb"
            | "panier"
            | "carrito"
            | "visitors"
            | "besucher"
            | "online"
    );
    if !(is_counted(&name) || carried) {
        return None;
    }
    let between = line[label.end..value.start].trim();
    if !matches!(between, ":" | "(" | "：" | "（") {
        return None;
    }
    let mut count = 1 + number;
    if lower(line, words, count).starts_with("item") {
        count += 1;
    }
    ends_here(line, words, count).then_some(count)
}

/// Whether a phrase of `count` words is followed by a sign or by nothing.
fn ends_here(line: &str, words: &[Word], count: usize) -> bool {
    let Some(next) = words.get(count) else { return true };
    let Some(last) = words.get(count.wrapping_sub(1)) else { return false };
    line[last.end..next.start].trim().chars().any(|it| it != '-' && it != '\'')
}

/// What is counted of a page, and says nothing of what is on it.
fn is_counted(noun: &str) -> bool {
    const NOUNS: &[&str] = &[
        "view",
        "views",
        "comment",
        "comments",
        "like",
        "likes",
        "share",
        "shares",
        "read",
        "reads",
        "reply",
        "replies",
        "follower",
        "followers",
        "subscriber",
        "subscribers",
        "reaction",
        "reactions",
        "clap",
        "claps",
        "retweet",
        "retweets",
        "repost",
        "reposts",
        "hit",
        "hits",
        "pageview",
        "pageviews",
        "review",
        "reviews",
        "rating",
        "ratings",
        "upvote",
        "upvotes",
        "bookmark",
        "bookmarks",
        "watching",
        "viewers",
        "visits",
        "aufruf",
        "aufrufe",
        "kommentar",
        "kommentare",
        "bewertung",
        "bewertungen",
        "klicks",
        "vue",
        "vues",
        "commentaire",
        "commentaires",
        "partages",
        "vistas",
        "visitas",
        "comentario",
        "comentarios",
        "visualizzazioni",
        "commento",
        "commenti",
        "reactie",
        "reacties",
        "weergaven",
        "visualizações",
        "comentário",
        "comentários",
        "комментарий",
        "комментария",
        "комментариев",
        "просмотр",
        "просмотра",
        "просмотров",
        "komentarz",
        "komentarze",
        "komentarzy",
        "تعليق",
        "تعليقات",
        "مشاهدة",
        "مشاهدات",
        "件のコメント",
        "コメント",
        "回視聴",
        "回閲覧",
        "次浏览",
        "条评论",
        "阅读",
    ];
    NOUNS.contains(&noun)
}
