//! What the names that a page gives its parts (`class`, `id`, names of its own elements) say of
//! them.
//!
//! A name is split into words: `site-header`, `siteHeader` and `site_header__x7Ga2` are `site` and
//! `header`. It tells only if one word says what the part is and all others are mere layout:
//! `header-wrapper` is the head of a site, `product-header` is not.

use super::reason::Reason;

/// What a word says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Where something is or how it looks, not what it is.
    Layout,
    /// What kind of thing is in it: `posts` in `related-posts`.
    Thing,
    Says(Says),
}

/// What a name says of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// Does not count.
    Out(Reason),
    /// The head of the site: all but the main heading does not count.
    Header,
    /// The foot of the site.
    Footer,
    /// A menu: its links do not count.
    Menu,
    /// Does not count on a page that has something else to read.
    Teaser,
    /// An aside that belongs to the text.
    Note,
}

/// What a list of names, as in `class`, says.
pub(crate) fn says(names: &str) -> Option<Says> {
    names.split_ascii_whitespace().take(MOST_NAMES).find_map(name_says)
}

/// A hostile page can have many.
const MOST_NAMES: usize = 32;
const LONGEST_NAME: usize = 64;
const MOST_WORDS: usize = 8;

fn name_says(name: &str) -> Option<Says> {
    if name.len() > LONGEST_NAME || name.len() < 2 {
        return None;
    }
    if ["views", "viewers", "visitors", "hits", "likes", "counter"].contains(&name) {
        return Some(Says::Out(Reason::Counter));
    }
    // A suffix made by a tool changes with each release of a site.
    let stem = name.rfind("__").filter(|at| *at > 0).map(|at| &name[..at]);
    words_say(name).or_else(|| stem.and_then(words_say))
}

fn words_say(name: &str) -> Option<Says> {
    let mut lower = [0_u8; LONGEST_NAME];
    let mut bounds = [(0_usize, 0_usize); MOST_WORDS];
    let count = split(name, &mut lower, &mut bounds)?;
    let word = |i: usize| &lower[bounds[i].0..bounds[i].1];
    let vendors = (0..count).find_map(|i| vendor(word(i)));
    if vendors.is_some() {
        return vendors;
    }
    let pairs = (1..count).find_map(|i| pair(word(i - 1), word(i)));
    if pairs.is_some() {
        return pairs;
    }
    let mut found = None;
    let mut things = false;
    for i in 0..count {
        match look_up(word(i))? {
            Word::Layout => {}
            Word::Thing => things = true,
            Word::Says(says) => found = found.or(Some(says)),
        }
    }
    // `related-posts` is about posts, but `ad-list` may be what the page is about.
    let needs_none = |says| {
        matches!(
            says,
            Says::Header
                | Says::Footer
                | Says::Menu
                | Says::Note
                | Says::Out(
                    Reason::Advertising | Reason::Account | Reason::Overlay | Reason::Aside
                )
        )
    };
    found.filter(|says| !(things && needs_none(*says)))
}

/// Words in lower case, with their bounds. Words with digits are left out: a tool made them.
fn split(
    name: &str,
    lower: &mut [u8; LONGEST_NAME],
    bounds: &mut [(usize, usize); MOST_WORDS],
) -> Option<usize> {
    let bytes = name.as_bytes();
    let (mut count, mut start, mut digits) = (0, 0, false);
    for at in 0..=bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(b'-');
        let separates = !byte.is_ascii_alphanumeric();
        let rises = byte.is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase();
        if separates || rises {
            if at > start && !digits {
                *bounds.get_mut(count)? = (start, at);
                count += 1;
            }
            start = if separates { at + 1 } else { at };
            digits = false;
        }
        if at < bytes.len() {
            lower[at] = byte.to_ascii_lowercase();
            digits |= byte.is_ascii_digit();
        }
    }
    (count > 0).then_some(count)
}

/// Names of services that do one thing only, whatever else is in the name.
fn vendor(word: &[u8]) -> Option<Says> {
    let reason = match word {
        b"onetrust" | b"cookiebot" | b"didomi" | b"usercentrics" | b"cookieconsent"
        | b"cookiebanner" | b"cookiebar" | b"cmplz" | b"cybot" | b"truste" => Reason::Consent,
        b"taboola" | b"outbrain" | b"adsbygoogle" | b"doubleclick" | b"criteo" | b"gpt"
        | b"dfp" | b"adsense" | b"sponsored" | b"advertisement" | b"advertising"
        | b"googlesyndication" | b"revcontent" => Reason::Advertising,
        b"addthis" | b"sharethis" | b"addtoany" | b"sharedaddy" => Reason::Sharing,
        _ => return None,
    };
    Some(Says::Out(reason))
}

/// Words that say something only together.
fn pair(first: &[u8], second: &[u8]) -> Option<Says> {
    let out = |reason| Some(Says::Out(reason));
    match (first, second) {
        (b"cookie" | b"cookies" | b"privacy", b"banner" | b"consent" | b"notice" | b"bar")
        | (b"cookie" | b"cookies", b"popup" | b"modal" | b"law" | b"message" | b"overlay")
        | (b"cookie" | b"cookies", b"dialog" | b"warning" | b"info" | b"hint" | b"layer")
        | (b"cookie" | b"cookies", b"settings" | b"policy" | b"alert" | b"prompt" | b"wall") => {
            out(Reason::Consent)
        }
        (b"alert" | b"banner" | b"notice" | b"popup" | b"bar", b"cookie" | b"cookies") => {
            out(Reason::Consent)
        }
        (b"most", b"read" | b"viewed" | b"popular" | b"commented" | b"shared")
        | (b"read", b"next" | b"also")
        | (b"also", b"like" | b"read" | b"bought" | b"viewed")
        | (b"cross" | b"up", b"sell" | b"sells" | b"next")
        | (b"more", b"stories" | b"news")
        | (b"recently", b"viewed") => out(Reason::Related),
        (b"user" | b"account" | b"login" | b"profile", b"menu" | b"box" | b"nav" | b"bar")
        | (b"mini" | b"header", b"cart" | b"basket")
        | (b"cart" | b"basket", b"count" | b"counter" | b"icon" | b"link" | b"badge" | b"widget")
        | (b"welcome", b"back" | b"user" | b"message") => out(Reason::Account),
        (b"view" | b"views" | b"hit" | b"hits" | b"visitor" | b"visitors" | b"visit", b"count")
        | (b"view" | b"views" | b"hit" | b"hits" | b"visitor" | b"visitors", b"counter")
        | (b"like" | b"likes" | b"comment" | b"comments" | b"reply" | b"share", b"count")
        | (b"like" | b"likes" | b"comment" | b"comments" | b"reply" | b"share", b"counter")
        | (b"num" | b"number", b"comments" | b"views" | b"likes")
        | (b"online", b"users" | b"visitors" | b"now")
        | (b"live", b"viewers" | b"visitors") => out(Reason::Counter),
        (b"server" | b"current" | b"local" | b"render" | b"load", b"time")
        | (b"current" | b"todays" | b"today", b"date" | b"day")
        | (b"generated" | b"rendered", b"at" | b"on" | b"in" | b"time")
        | (b"page", b"generated" | b"generation" | b"timing")
        | (b"build" | b"server" | b"debug" | b"request", b"info" | b"id" | b"bar" | b"timing") => {
            out(Reason::Request)
        }
        (b"weather" | b"stock" | b"stocks" | b"horoscope", b"widget" | b"box" | b"mini")
        | (b"weather" | b"stock" | b"stocks" | b"news", b"ticker" | b"bar" | b"teaser") => {
            out(Reason::Widget)
        }
        (b"skip", b"link" | b"links" | b"to" | b"nav" | b"content")
        | (b"back" | b"scroll", b"top" | b"to")
        | (b"exit", b"intent") => out(Reason::Overlay),
        (b"right" | b"left", b"rail") => out(Reason::Aside),
        (b"follow", b"us" | b"me") => out(Reason::Sharing),
        (b"mailing", b"list") | (b"sign", b"up") => out(Reason::Newsletter),
        _ => None,
    }
}

fn look_up(word: &[u8]) -> Option<Word> {
    use Reason as R;
    let out = |reason| Some(Word::Says(Says::Out(reason)));
    match word {
        b"ad" | b"ads" | b"adv" | b"advert" | b"adverts" | b"advertisement" | b"advertisements"
        | b"advertising" | b"adslot" | b"adunit" | b"adbox" | b"adbanner" | b"adwrapper"
        | b"adcontainer" | b"sponsored" | b"promoted" | b"werbung" | b"anzeige" | b"publicidad"
        | b"publicite" | b"promo" | b"promos" => out(R::Advertising),
        b"consent" | b"gdpr" | b"ccpa" => out(R::Consent),
        b"share" | b"shares" | b"sharing" | b"social" | b"socials" | b"sharebar"
        | b"sharebuttons" => out(R::Sharing),
        b"related" | b"recommended" | b"recommendation" | b"recommendations" | b"trending"
        | b"popular" | b"mostread" | b"upsell" | b"crosssell" | b"similar" | b"testimonial"
        | b"testimonials" => out(R::Related),
        b"newsletter" | b"newsletters" | b"subscribe" | b"signup" | b"optin" => out(R::Newsletter),
        b"nav" | b"navi" | b"navbar" | b"navigation" | b"topnav" | b"sidenav" | b"subnav"
        | b"mainnav" | b"sitenav" | b"menubar" | b"mainmenu" | b"submenu" | b"megamenu"
        | b"offcanvas" | b"hamburger" | b"pagination" | b"pager" | b"paginator" | b"breadcrumb"
        | b"breadcrumbs" | b"crumbs" => out(R::Navigation),
        b"sidebar" | b"sidebars" | b"aside" => out(R::Aside),
        b"header" | b"masthead" | b"topbar" => Some(Word::Says(Says::Header)),
        b"footer" | b"colophon" => Some(Word::Says(Says::Footer)),
        b"copyright" => out(R::Footer),
        b"menu" | b"menus" => Some(Word::Says(Says::Menu)),
        b"teaser" | b"teasers" => Some(Word::Says(Says::Teaser)),
        b"note" | b"tip" | b"warning" | b"caution" | b"admonition" | b"callout" | b"important"
        | b"footnote" | b"footnotes" | b"infobox" | b"pullquote" => Some(Word::Says(Says::Note)),
        b"modal" | b"modals" | b"popup" | b"popups" | b"lightbox" | b"toast" | b"toasts"
        | b"snackbar" | b"tooltip" | b"skiplink" => out(R::Overlay),
        b"minicart" | b"userbox" | b"usermenu" | b"loginbox" => out(R::Account),
        b"like" | b"upvote" | b"upvotes" | b"viewcount" | b"hitcounter" | b"pageviews"
        | b"viewcounter" => out(R::Counter),
        b"clock" | b"debugbar" => out(R::Request),
        b"site" | b"page" | b"global" | b"main" | b"top" | b"bottom" | b"left" | b"right"
        | b"primary" | b"secondary" | b"tertiary" | b"app" | b"wrapper" | b"wrap"
        | b"container" | b"inner" | b"outer" | b"area" | b"section" | b"block" | b"box"
        | b"bar" | b"group" | b"row" | b"col" | b"column" | b"desktop" | b"mobile" | b"sticky"
        | b"fixed" | b"floating" | b"widget" | b"panel" | b"region" | b"zone" | b"slot"
        | b"module" | b"component" | b"js" | b"default" | b"large" | b"small" | b"sm" | b"md"
        | b"lg" | b"xl" | b"dark" | b"light" | b"full" | b"width" | b"unit" | b"banner"
        | b"placeholder" | b"position" | b"label" | b"button" | b"buttons" | b"icon" | b"icons"
        | b"links" | b"link" | b"nested" | b"horizontal" | b"vertical" | b"center" | b"first"
        | b"last" | b"second" | b"bg" | b"root" | b"layout" | b"body" | b"leaderboard"
        | b"skyscraper" | b"rectangle" | b"mpu" | b"tools" | b"toolbar" | b"media"
        | b"networks" | b"count" | b"form" | b"sub" | b"the" | b"this" | b"now" | b"today"
        | b"home" | b"frontpage" | b"web" | b"std" => Some(Word::Layout),
        b"posts" | b"post" | b"articles" | b"article" | b"stories" | b"story" | b"news"
        | b"content" | b"contents" | b"products" | b"product" | b"items" | b"item" | b"topics"
        | b"pages" | b"videos" | b"reading" | b"list" | b"grid" | b"carousel" | b"slider"
        | b"cards" | b"card" | b"searches" | b"questions" | b"tags" | b"title" | b"heading"
        | b"text" | b"rotator" | b"rotating" | b"entry" | b"reads" => Some(Word::Thing),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, expect: Option<Says>) {
        assert_eq!(says(names), expect, "{names}");
    }

    #[test]
    fn names_of_what_surrounds_the_main_thing() {
        let out = |reason| Some(Says::Out(reason));
        check("site-header", Some(Says::Header));
        check("siteHeader sticky", Some(Says::Header));
        check("Sidebar_sidebar__x7Ga2", out(Reason::Aside));
        check("Sidebar_sidebar__abcde", out(Reason::Aside));
        check("ad-slot-728x90", out(Reason::Advertising));
        check("x y cookie-banner", out(Reason::Consent));
        check("related-posts", out(Reason::Related));
        check("most-read", out(Reason::Related));
        check("share-buttons", out(Reason::Sharing));
        check("view-count", out(Reason::Counter));
        check("onetrust-consent-sdk", out(Reason::Consent));
        check("div-gpt-ad-1234-0", out(Reason::Advertising));
        check("weather-widget", out(Reason::Widget));
        check("footer-inner", Some(Says::Footer));
        check("menu", Some(Says::Menu));
        check("teaser-list", Some(Says::Teaser));
    }

    #[test]
    fn names_that_only_sound_like_it() {
        for name in [
            "product-header",
            "article-header",
            "share-price",
            "has-sidebar",
            "promo-price",
            "elementor-widget",
            "ad-list",
            "cookie-recipe",
            "menu-item-price",
            "headers",
            "navy",
            "css-1x2y3z",
            "",
            "-",
        ] {
            check(name, None);
        }
    }
}
