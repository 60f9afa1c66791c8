//! How often seen, shared or said: `1,234 views`, `Comments (12)`, `♥ 33`.

use super::nouns::{Counts, counts, is_kind, is_many, labels};
use super::scan::{Word, number_length};
use super::{Hint, Line, word_at};

/// `1,234 views`, `no comments yet`, `2K+ bought in past month`.
pub(crate) fn counted(line: &Line<'_>, words: &[Word]) -> Option<(usize, Counts)> {
    let word = |at| word_at(line.text, words, at);
    if let Some(count) = none_yet(line, words) {
        return Some((count, Counts::Said));
    }
    let mut at = number_length(line.text, words);
    if at == 0 || is_part_of_more(line.text, words[0]) {
        return None;
    }
    if matches!(word(at), "bought" | "sold" | "items" | "verkauft")
        && matches!(word(at + 1), "in")
        && (at + 2..at + 4)
            .any(|it| matches!(word(it), "last" | "past" | "cart" | "basket" | "bag" | "letzten"))
    {
        let rest = words.len().min(at + 6);
        return near(line.text, words, at).then_some((rest, Counts::Surely));
    }
    for skip in [is_many as fn(&str) -> bool, is_kind] {
        at += usize::from(near(line.text, words, at) && skip(word(at)));
    }
    if !near(line.text, words, at) {
        return None;
    }
    if let Some(count) = times(line.text, words, at) {
        return Some((count, Counts::Surely));
    }
    let found = counts(word(at))?;
    // A grade is not a count.
    if at == 1 && !is_count(line.text, words[0]) {
        return None;
    }
    // `Posted 2024-03-03 Comments: 12`: the noun is a label of what follows.
    let labels_more = line.text[words[at].end..].trim_start().starts_with([':', '：'])
        && words.get(at + 1).is_some_and(|it| it.number);
    // `23.4k stars`: only machines count so.
    let short = words[0].of(line.text).ends_with(['k', 'm']);
    let found = if short { found.max(Counts::Surely) } else { found };
    (!labels_more).then_some((at + 1, found))
}

/// `12 times viewed`, in languages that put it so.
fn times(line: &str, words: &[Word], at: usize) -> Option<usize> {
    let word = |at| word_at(line, words, at);
    match (word(at), word(at + 1)) {
        ("keer", "bekeken" | "gelezen") | ("mal" | "x", "gelesen" | "angesehen" | "aufgerufen") => {
            Some(at + 2)
        }
        ("बार", "देखा" | "पढ़ा") => {
            Some(at + 2 + usize::from(word(at + 2) == "गया"))
        }
        _ => None,
    }
}

fn none_yet(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let word = |at| word_at(line.text, words, at);
    let first = word(0);
    if matches!(first, "no" | "keine" | "aucun")
        && counts(word(1)).is_some_and(|it| it == Counts::Said || word(1) == "views")
    {
        return Some(2 + usize::from(word(2) == "yet"));
    }
    // Of what nobody has said anything about yet.
    let hinted = words.first().is_some_and(|it| line.at(it.start).hint != Hint::None);
    if first == "discuss" && hinted {
        return Some(1);
    }
    let first_to = first == "be" && word(1) == "the" && word(2) == "first" && word(3) == "to";
    (first_to && matches!(word(4), "comment" | "review" | "reply")).then_some(words.len().min(8))
}

/// `23 people are looking at this right now`, `45 users online`.
pub(crate) fn watched(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let word = |at| word_at(line.text, words, at);
    let number = number_length(line.text, words);
    if number == 0 {
        return None;
    }
    let watchers = matches!(
        word(number),
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
            | "persone"
            | "personnes"
            | "personas"
            | "kunden"
            | "here"
    );
    if !watchers {
        return None;
    }
    let doing = (number + 1..number + 4).find(|at| {
        matches!(
            word(*at),
            "online"
                | "looking"
                | "viewing"
                | "watching"
                | "browsing"
                | "reading"
                | "active"
                | "here"
                | "found"
                | "guardando"
                | "regardent"
                | "viendo"
                | "sehen"
                | "consultent"
        )
    })?;
    let here = doing + 1 == words.len()
        || (doing..words.len()).any(|it| {
            matches!(
                word(it),
                "this" | "now" | "it" | "currently" | "today" | "questo" | "ce" | "este" | "gerade"
            )
        });
    here.then_some(words.len())
}

/// `Views: 1,234`, `Comments (12)`, `閲覧数：12`, `Viewed 12 times`.
pub(crate) fn labelled(line: &Line<'_>, words: &[Word]) -> Option<(usize, Counts)> {
    let [label, value, ..] = words else { return None };
    if label.number || !value.number {
        return None;
    }
    let name = label.of(line.text);
    let mut count = 1 + number_length(line.text, &words[1..]);
    let after = word_at(line.text, words, count);
    let between = &line.text[label.end..value.start];
    let sign = between.trim();
    if matches!(
        name,
        "viewed"
            | "read"
            | "seen"
            | "accessed"
            | "visited"
            | "downloaded"
            | "vu"
            | "lu"
            | "visto"
            | "letto"
            | "leído"
            | "lido"
            | "bekeken"
    ) && sign.is_empty()
        && matches!(after, "times" | "time" | "fois" | "veces" | "volte" | "vezes" | "keer" | "mal")
    {
        return Some((count + 1, Counts::Surely));
    }
    // `4.5 stars (12 reviews)`: the number belongs to what follows it.
    if near(line.text, words, count) && counts(after).is_some() && name.is_ascii() {
        return None;
    }
    let found = labels(name)?;
    let around = line.at(label.start);
    let hinted = between == " " && (around.hint != Hint::None || around.link);
    let apart = sign.is_empty() && line.is_bound(label.end, value.start);
    let found = match sign {
        // `Rating: 4` is a grade, `Share: 12` a part.
        ":" if is_of_one(name) => return None,
        // Figures that writers give too.
        ":" if matches!(name, "shares" | "downloads" | "subscribers" | "followers") => {
            Counts::Maybe
        }
        ":" | "(" | "：" | "（" => found,
        "" if !name.is_ascii() => found,
        "" if hinted && !is_of_one(name) => Counts::Maybe.min(found),
        // Only elements hold them apart; in `6 min read` and a number it is no label.
        "" if apart && !is_of_one(name) => Counts::Maybe.min(found),
        _ => return None,
    };
    count +=
        usize::from(after.starts_with("item") || matches!(after, "artikel" | "回" | "회" | "次"));
    // `Posts: 12 rows`: counted is something else.
    let ends = words.get(count).is_none_or(|next| {
        let last = words[count - 1];
        line.is_bound(last.end, next.start)
            || line.text[last.end..next.start].contains(|it: char| !it.is_whitespace() && it != '-')
            || line.text[last.end..next.start].contains('\u{3000}')
            || !line.text[..last.end].is_ascii()
            || labels(word_at(line.text, words, count)).is_some()
    });
    // Not a part of a price or a date.
    let whole = !line.text[words[count - 1].end..].starts_with(['%', '€', '$', '-', '/', '–']);
    (ends && whole && is_count(line.text, *value)).then_some((count, found))
}

/// Names of one thing, which are labels of something else too.
pub(crate) fn is_of_one(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "rating",
        "review",
        "share",
        "view",
        "hit",
        "like",
        "read",
        "online",
        "seen",
        "answer",
        "comment",
        "reply",
        "kommentar",
        "commentaire",
        "comentario",
        "commento",
    ];
    NAMES.contains(&name)
}

/// A number alone with a sign for approval or for how often seen: `👍 12`, `▲ 120`.
pub(crate) fn signed(line: &Line<'_>, words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    let count = number_length(line.text, words);
    if count == 0 {
        return None;
    }
    let before = line.text[..first.start].trim_end().trim_end_matches(['\u{fe0f}', ' ']);
    let sign = before.chars().next_back()?;
    let number = first.of(line.text);
    // What rose or fell by so much is a value.
    let share = line.text[words[count - 1].end..].trim_start().starts_with(['%', '٪', '％']);
    if share || matches!(sign, '▲' | '▼' | '↑' | '⬆') && !is_count(line.text, *first) {
        return None;
    }
    // A grade is not a count.
    let grade = number.contains(['.', ',']) && number.ends_with(|it: char| it.is_ascii_digit());
    let votes = matches!(
        sign,
        '👍' | '👎'
            | '▲'
            | '▼'
            | '♥'
            | '♡'
            | '❤'
            | '👏'
            | '💬'
            | '🗨'
            | '👁'
            | '▶'
            | '🎉'
            | '🚀'
            | '😄'
            | '😂'
            | '😮'
            | '😢'
            | '😡'
            | '🔥'
            | '🔁'
            | '↑'
            | '⬆'
            | '👀'
            | '😍'
    );
    (votes || matches!(sign, '★' | '⭐' | '☆') && !grade).then_some(count)
}

/// Whether a number is how many: `1,204`, `12k`, but neither `1.1.0` nor `€12`.
pub(crate) fn is_count(line: &str, number: Word) -> bool {
    let text = number.of(line);
    let digits = text.trim_end_matches(['k', 'm']);
    let mut groups = digits.split([',', '.', '\'', '’']);
    let first = groups.next().unwrap_or_default();
    let suffixed = digits.len() < text.len();
    let mut rest = groups.peekable();
    let plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let grouped = rest.peek().is_none() || suffixed || rest.all(|it| it.len() == 3 && plain(it));
    plain(first) && grouped && !is_part_of_more(line, number)
}

/// A number that is the end of a date, a price or a version.
fn is_part_of_more(line: &str, number: Word) -> bool {
    line[..number.start].ends_with(['-', '/', '.', ':', '#', '$', '€', '£', '–', '+', '−'])
}

/// Whether nothing but space is between a word and the one before it.
fn near(line: &str, words: &[Word], at: usize) -> bool {
    let (Some(before), Some(word)) = (words.get(at.wrapping_sub(1)), words.get(at)) else {
        return false;
    };
    line[before.end..word.start].trim_matches([' ', '+', '.']).is_empty()
}
