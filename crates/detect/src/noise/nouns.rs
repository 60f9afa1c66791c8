//! What templates count.

use super::list::List;

/// How surely a count of something is a template's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counts {
    /// Only in a place for such counts: `12 points`.
    Maybe,
    /// Wherever it stands alone: `12 views`.
    Surely,
    /// In headings too: `12 comments`.
    Said,
}

/// What a noun in lower case says of the number before it.
pub(crate) fn counts(noun: &str) -> Option<Counts> {
    if SAID.has(noun) {
        Some(Counts::Said)
    } else if SEEN.has(noun) || !noun.is_ascii() && EAST_ASIAN.iter().any(|it| noun.starts_with(it))
    {
        Some(Counts::Surely)
    } else if MAYBE.has(noun) {
        Some(Counts::Maybe)
    } else {
        None
    }
}

/// What a word before a number says of it: `Views: 12`, `Cart (2)`.
pub(crate) fn labels(word: &str) -> Option<Counts> {
    counts(word).or_else(|| LABELS.has(word).then_some(Counts::Surely))
}

/// Words between a number and its noun: `12 customer reviews`.
pub(crate) fn is_kind(word: &str) -> bool {
    matches!(
        word,
        "customer"
            | "customers"
            | "user"
            | "global"
            | "total"
            | "new"
            | "page"
            | "unique"
            | "verified"
            | "weekly"
            | "monthly"
            | "registered"
            | "facebook"
            | "twitter"
    )
}

/// `1.2 million views`
pub(crate) fn is_many(word: &str) -> bool {
    matches!(
        word,
        "thousand"
            | "million"
            | "k"
            | "m"
            | "tsd"
            | "mio"
            | "mil"
            | "mln"
            | "тыс"
            | "млн"
            | "mille"
            | "millones"
            | "million+"
            | "tys"
    )
}

static SAID: List = List::new(&[
    "answer",
    "answers",
    "antworten",
    "comentario",
    "comentarios",
    "comentário",
    "comentários",
    "comment",
    "commentaire",
    "commentaires",
    "commenti",
    "commento",
    "comments",
    "kommentar",
    "kommentare",
    "kommentarer",
    "komentarz",
    "komentarze",
    "komentarzy",
    "opinie",
    "reactie",
    "reacties",
    "recensioni",
    "replies",
    "reply",
    "responses",
    "respuestas",
    "review",
    "reviews",
    "thoughts",
    "yorum",
    "комментариев",
    "комментарии",
    "комментарий",
    "комментария",
    "отзывов",
    "תגובות",
    "تعليق",
    "تعليقات",
    "टिप्पणियां",
]);

static SEEN: List = List::new(&[
    "abonnenten",
    "abonnés",
    "applicants",
    "aufruf",
    "aufrufe",
    "avis",
    "bewerber",
    "bewertung",
    "bewertungen",
    "bookmark",
    "bookmarks",
    "clap",
    "claps",
    "downloads",
    "follower",
    "followers",
    "hit",
    "hits",
    "klicks",
    "lecturas",
    "leser",
    "like",
    "likes",
    "lettori",
    "lectures",
    "odsłon",
    "odsłony",
    "pageview",
    "pageviews",
    "partages",
    "plays",
    "rating",
    "ratings",
    "reaction",
    "reactions",
    "read",
    "reads",
    "repost",
    "reposts",
    "retweet",
    "retweets",
    "seguidores",
    "share",
    "shares",
    "subscriber",
    "subscribers",
    "upvote",
    "upvotes",
    "view",
    "viewers",
    "views",
    "visitas",
    "visites",
    "visits",
    "vistas",
    "visualizações",
    "visualizaciones",
    "visualizzazioni",
    "vue",
    "vues",
    "watchers",
    "watching",
    "weergaven",
    "wyświetleń",
    "yorumlar",
    "просмотр",
    "просмотра",
    "просмотров",
    "צפיות",
    "مشاهدات",
    "مشاهدة",
]);

static MAYBE: List = List::new(&[
    "bids",
    "favorites",
    "favourites",
    "followers",
    "forks",
    "karma",
    "members",
    "messages",
    "people",
    "persons",
    "points",
    "posts",
    "readers",
    "reputation",
    "stars",
    "threads",
    "topics",
    "users",
    "votes",
]);

const EAST_ASIAN: &[&str] = &[
    "件のコメント",
    "回視聴",
    "回閲覧",
    "回再生",
    "次浏览",
    "次阅读",
    "次播放",
    "条评论",
    "人阅读",
    "人浏览",
    "万回視聴",
    "万次观看",
    "次观看",
    "조회",
];

static LABELS: List = List::new(&[
    "aufrufe",
    "bag",
    "basket",
    "beiträge",
    "besucher",
    "carrello",
    "carrito",
    "cart",
    "downloads",
    "fork",
    "forks",
    "gelesen",
    "inbox",
    "lesungen",
    "lu",
    "lus",
    "notifications",
    "odsłon",
    "odsłony",
    "online",
    "panier",
    "posts",
    "read",
    "reputation",
    "seen",
    "star",
    "stars",
    "upvote",
    "viewed",
    "visitantes",
    "visiteurs",
    "visitors",
    "wishlist",
    "warenkorb",
    "прочитано",
    "просмотров",
    "просмотры",
    "コメント",
    "コメント数",
    "dilihat",
    "letture",
    "okunma",
    "댓글",
    "浏览次数",
    "再生回数",
    "조회",
    "조회수",
    "浏览",
    "浏览量",
    "点击",
    "評論",
    "評論數",
    "评论",
    "閲覧",
    "閲覧数",
    "阅读",
    "阅读量",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_lower_case() {
        for list in [SAID.words, SEEN.words, MAYBE.words, EAST_ASIAN, LABELS.words] {
            assert!(list.iter().all(|it| it.to_lowercase() == *it), "{list:?}");
        }
    }
}
