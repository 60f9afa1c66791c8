//! Short texts that say what a part of a page is: headings of lists that change with every visit,
//! labels of advertising, and entries of menus.

/// What a short text says of what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phrase {
    /// The heading of a list of other things to read or buy: up to the next heading.
    Related,
    /// Says that what it stands in is paid for.
    Label,
    /// Asks to follow, share or subscribe.
    Sharing,
    /// An entry that only menus have.
    Menu,
}

/// In bytes; longer texts say nothing.
pub(crate) const LONGEST: usize = 96;

/// What a text says, whatever its case and the signs around it.
pub(crate) fn phrase(text: &str) -> Option<Phrase> {
    let text = text.trim_matches(|it: char| !it.is_alphanumeric());
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let lower = lower.as_str();
    if RELATED.binary_search(&lower).is_ok() || lower.starts_with("more from ") {
        Some(Phrase::Related)
    } else if LABELS.binary_search(&lower).is_ok() {
        Some(Phrase::Label)
    } else if SHARING.binary_search(&lower).is_ok() {
        Some(Phrase::Sharing)
    } else if MENU.binary_search(&lower).is_ok() {
        Some(Phrase::Menu)
    } else {
        None
    }
}

/// Sorted, like all of these.
const RELATED: &[&str] = &[
    "aktuell beliebt", "also on this site", "also read", "around the web", "articles liés",
    "articles populaires", "articles similaires", "articoli correlati", "artigos relacionados",
    "artículos relacionados", "auch interessant", "beliebt", "beliebte artikel",
    "beliebte beiträge", "best sellers", "bestsellers", "continue reading",
    "customers also bought", "customers also viewed", "customers who bought this also bought",
    "customers who viewed this item also viewed", "czytaj także",
    "das könnte dich auch interessieren", "das könnte ihnen auch gefallen",
    "das könnte sie auch interessieren", "das könnte sie interessieren", "did you know",
    "discover more", "don't miss", "editor's picks", "editors picks", "editors' picks",
    "empfehlungen", "empfohlen", "explore more", "fact of the day", "frequently bought together",
    "from our partners", "from the web", "further stories", "gerelateerde artikelen",
    "hot right now", "i più letti", "in case you missed it", "inspired by your browsing history",
    "jetzt im trend", "joke of the day", "keep reading", "kunden interessierten sich auch für",
    "kunden kauften auch", "lees ook", "leggi anche", "leia também", "les plus lus",
    "lesen sie auch", "lire aussi", "lo más leído", "lo más visto", "mais lidas", "meest gelezen",
    "mehr zum thema", "meist gelesen", "meistgelesen", "meistgelesene artikel",
    "misschien vind je dit ook leuk", "more articles", "more like this", "more news",
    "more stories", "more to explore", "most commented", "most popular", "most read",
    "most shared", "most viewed", "most watched", "más leídas", "najczęściej czytane",
    "noticias relacionadas", "others also bought", "others also read", "our partners recommend",
    "people also ask", "people also bought", "people also read", "people also viewed",
    "people are reading", "popular", "popular articles", "popular now", "popular posts",
    "popular products", "popular stories", "popular this week", "popular today",
    "potrebbe interessarti", "potrebbe interessarti anche", "powiązane artykuły",
    "productos relacionados", "produits similaires", "promoted content", "promoted stories",
    "quizás te interese", "quote of the day", "read also", "read next", "readers also liked",
    "recently viewed", "recently viewed items", "recomendado para ti", "recommandé pour vous",
    "recommendations", "recommended", "recommended articles", "recommended for you",
    "recommended products", "recommended reading", "relacionados", "related", "related articles",
    "related content", "related items", "related news", "related pages", "related posts",
    "related products", "related questions", "related reading", "related stories",
    "related topics", "related videos", "similar articles", "similar items", "similar posts",
    "similar products", "similar stories", "sponsored content", "sponsored links",
    "sponsored products", "sur le même sujet", "también te puede interesar", "te puede interesar",
    "testimonials", "ti potrebbe interessare", "tip of the day", "trending", "trending articles",
    "trending now", "trending stories", "trending today", "trending topics",
    "unsere empfehlungen", "up next", "veja também", "verwandte artikel", "verwandte themen",
    "você também pode gostar", "vous aimerez aussi", "vous aimerez peut-être aussi",
    "weitere artikel", "weitere meldungen", "what customers say", "what others are reading",
    "what others read", "what our customers say", "you may also be interested in",
    "you may also like", "you may like", "you might also be interested in", "you might also like",
    "you might be interested in", "you might like", "your recently viewed items", "à lire aussi",
    "à lire également", "ähnliche artikel", "ähnliche beiträge", "ähnliche produkte",
    "ähnliche themen", "популярное", "похожие статьи", "читайте также", "أخبار ذات صلة",
    "اقرأ أيضا", "اقرأ أيضاً", "الأكثر قراءة", "الأكثر مشاهدة", "قد يعجبك أيضا", "قد يهمك أيضا",
    "مقالات ذات صلة", "مواضيع ذات صلة", "あなたにおすすめ", "あわせて読みたい", "おすすめ記事", "こちらもおすすめ",
    "この記事を読んだ人はこちらも", "アクセスランキング", "人気記事", "推荐阅读", "热门文章", "猜你喜欢", "相关文章", "相关阅读", "関連ニュース",
    "関連リンク", "関連商品", "関連記事",
];

const LABELS: &[&str] = &[
    "ad", "ads", "advertentie", "advertisement", "advertisements", "advertising", "annons",
    "anzeige", "anzeigen", "gesponsert", "gesponsord", "paid content", "paid post", "patrocinado",
    "promoted", "promotion", "pubblicità", "publicidad", "publicidade", "publicité", "reklama",
    "sponsored", "sponsored post", "sponsorisé", "sponsorizzato", "werbung", "реклама", "إعلان",
    "إعلانات", "スポンサー", "广告", "広告",
];

const SHARING: &[&str] = &[
    "artikel teilen", "compartir", "condividi", "delen", "folgen sie uns", "follow us",
    "follow us on", "join our newsletter", "newsletter", "newsletter abonnieren", "partager",
    "partager cet article", "share", "share on facebook", "share on twitter", "share on x",
    "share this", "share this article", "share this page", "share this post", "share this story",
    "sign up for our newsletter", "subscribe to our newsletter", "suivez-nous", "síguenos",
    "teilen", "شارك", "シェア", "シェアする",
];

const MENU: &[&str] = &[
    "abmelden", "about", "about us", "accedi", "accessibility", "account", "accueil", "acerca de",
    "advertise", "agb", "anmelden", "aviso legal", "basket", "careers", "cart", "checkout",
    "chi siamo", "connexion", "contact", "contact us", "contacto", "contato", "contatti",
    "cookie policy", "cookies", "datenschutz", "datenschutzerklärung", "entrar", "faq", "faqs",
    "guestbook", "help", "hilfe", "home", "homepage", "impressum", "imprint", "iniciar sesión",
    "inicio", "inloggen", "inscription", "karriere", "kontakt", "legal", "legal notice", "links",
    "log in", "log out", "login", "logout", "mein konto", "mentions légales", "my account",
    "over ons", "panier", "plan du site", "política de privacidad", "press", "presse", "privacy",
    "privacy policy", "quiénes somos", "register", "registrieren", "rss", "se connecter",
    "search", "shop", "sign in", "sign out", "sign up", "site map", "sitemap", "sobre nosotros",
    "startseite", "suche", "support", "terms", "terms & conditions", "terms and conditions",
    "terms of service", "terms of use", "warenkorb", "wishlist", "à propos", "über uns", "войти",
    "главная", "контакты", "о нас", "اتصل بنا", "الرئيسية", "تسجيل الدخول", "من نحن", "お問い合わせ",
    "サイトマップ", "プライバシーポリシー", "ホーム", "ログイン", "会社概要", "关于我们", "登录", "联系我们", "首页",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_lower_case_and_short() {
        for list in [RELATED, LABELS, SHARING, MENU] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            assert!(list.iter().all(|it| it.len() <= LONGEST && it.to_lowercase() == *it));
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Option<Phrase>) {
        assert_eq!(phrase(text), expect, "{text}");
    }

    #[test]
    fn phrases() {
        check("Related articles", Some(Phrase::Related));
        check("You may also like…", Some(Phrase::Related));
        check("Editor’s picks:", Some(Phrase::Related));
        check("Das könnte Sie auch interessieren", Some(Phrase::Related));
        check("関連記事", Some(Phrase::Related));
        check("— ADVERTISEMENT —", Some(Phrase::Label));
        check("Follow us", Some(Phrase::Sharing));
        check("Impressum", Some(Phrase::Menu));
        check("Related work", None);
        check("Advertisement law", None);
        check("", None);
    }
}
