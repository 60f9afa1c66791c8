//! Words that templates put around times and counts.

use super::list::List;

/// Names follow it: `by Ann`.
pub(crate) fn names_follow(word: &str) -> bool {
    matches!(
        word,
        "by" | "von"
            | "par"
            | "por"
            | "da"
            | "di"
            | "door"
            | "przez"
            | "av"
            | "af"
            | "от"
            | "автор"
            | "autor"
            | "author"
            | "auteur"
            | "autore"
            | "from"
            | "u"
    )
}

/// Words that templates put around times and counts: `Posted 3 minutes ago`.
pub(crate) fn is_around(word: &str) -> bool {
    AROUND.has(word)
}

/// What people do on a site: `bob commented 3 hours ago`.
pub(crate) fn is_deed(word: &str) -> bool {
    DEEDS.has(word)
}

static AROUND: List = List::new(&[
    "about",
    "active",
    "activity",
    "actualizado",
    "added",
    "aggiornato",
    "aktualisiert",
    "all",
    "all-time",
    "am",
    "and",
    "asked",
    "at",
    "atualizado",
    "authored",
    "based",
    "bearbeitet",
    "bijgewerkt",
    "changed",
    "checked",
    "commit",
    "created",
    "crawled",
    "dodano",
    "edited",
    "erstellt",
    "fetched",
    "from",
    "geplaatst",
    "geschrieben",
    "geändert",
    "il",
    "in",
    "indexed",
    "join",
    "joined",
    "jour",
    "last",
    "le",
    "listed",
    "los",
    "mis",
    "mise",
    "modified",
    "modifié",
    "month",
    "of",
    "on",
    "online",
    "only",
    "opublikowano",
    "our",
    "overall",
    "pasado",
    "past",
    "posted",
    "pubblicato",
    "publicado",
    "publish",
    "published",
    "publié",
    "pushed",
    "recent",
    "refreshed",
    "released",
    "saved",
    "scraped",
    "seen",
    "since",
    "so",
    "far",
    "sono",
    "stars",
    "submitted",
    "synced",
    "the",
    "this",
    "time",
    "times",
    "today",
    "total",
    "update",
    "updated",
    "uploaded",
    "veröffentlicht",
    "viewed",
    "versions",
    "week",
    "yet",
    "zaktualizowano",
    "zuletzt",
    "à",
    "обновлено",
    "опубликовано",
    "добавлено",
]);

static DEEDS: List = List::new(&[
    "answered",
    "asked",
    "authored",
    "commented",
    "committed",
    "created",
    "edited",
    "escribió",
    "geschrieben",
    "kommentierte",
    "merged",
    "modified",
    "opened",
    "posted",
    "published",
    "pushed",
    "released",
    "replied",
    "reviewed",
    "said",
    "says",
    "schrieb",
    "shared",
    "submitted",
    "updated",
    "uploaded",
    "wrote",
    "написал",
    "écrit",
]);
