//! Words that names of parts are made of.

use super::{Says, Word};
use crate::html::reason::Reason;
use crate::noise::Hint;

/// Names of services that do one thing only, whatever else is in the name.
pub(super) fn vendor(word: &[u8]) -> Option<Says> {
    let reason = match word {
        b"onetrust" | b"cookiebot" | b"didomi" | b"usercentrics" | b"cookieconsent"
        | b"cookiebanner" | b"cookiebar" | b"cmplz" | b"cybot" | b"truste" => Reason::Consent,
        b"taboola" | b"outbrain" | b"adsbygoogle" | b"doubleclick" | b"criteo" | b"gpt"
        | b"dfp" | b"adsense" | b"sponsored" | b"advertisement" | b"advertising"
        | b"googlesyndication" | b"revcontent" => Reason::Advertising,
        b"captcha" | b"recaptcha" | b"hcaptcha" | b"sitenotice" | b"livechat" => Reason::Overlay,
        b"breadcrumb" | b"breadcrumbs" => Reason::Navigation,
        b"relatedposts" | b"yarpp" => Reason::Related,
        b"reputation" | b"karma" => Reason::Counter,
        b"addthis" | b"sharethis" | b"addtoany" | b"sharedaddy" => Reason::Sharing,
        _ => return None,
    };
    Some(Says::Out(reason))
}

/// Words that say something only together.
pub(super) fn pair(first: &[u8], second: &[u8]) -> Option<Says> {
    let out = |reason| Some(Says::Out(reason));
    match (first, second) {
        (b"cookie" | b"cookies" | b"privacy", b"banner" | b"consent" | b"notice" | b"bar")
        | (b"cookie" | b"cookies", b"popup" | b"modal" | b"law" | b"message" | b"overlay")
        | (b"cookie" | b"cookies", b"dialog" | b"warning" | b"info" | b"hint" | b"layer")
        | (b"cookie" | b"cookies", b"settings" | b"alert" | b"prompt" | b"wall") => {
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
        (b"google" | b"banner" | b"display" | b"native", b"ad" | b"ads") => {
            out(Reason::Advertising)
        }
        (b"site" | b"central" | b"store" | b"shop", b"notice")
        | (b"notification" | b"announcement" | b"announce", b"bar" | b"banner")
        | (b"chat", b"widget" | b"box" | b"bubble" | b"window") => out(Reason::Overlay),
        (b"breaking", b"news" | b"bar" | b"banner") => out(Reason::Widget),
        (b"top", b"bar") => Some(Says::Header),
        (b"nav", b"belt" | b"cart" | b"search" | b"tools" | b"flyout" | b"logo") => {
            out(Reason::Navigation)
        }
        (b"lang" | b"language", b"bar" | b"switch" | b"switcher" | b"selector" | b"picker") => {
            out(Reason::Navigation)
        }
        (b"feedback", b"survey" | b"prompt" | b"widget") => out(Reason::Overlay),
        (b"time", b"left" | b"remaining") => out(Reason::Widget),
        (b"network", b"questions") | (b"browsing", b"history") => out(Reason::Related),
        (b"zuletzt", b"angesehen") => out(Reason::Related),
        (b"right" | b"left", b"rail") | (b"barre" | b"barra", b"laterale" | b"lateral") => {
            out(Reason::Aside)
        }
        (b"follow", b"us" | b"me") => out(Reason::Sharing),
        (b"mailing", b"list") | (b"sign", b"up") => out(Reason::Newsletter),
        _ => None,
    }
}

pub(super) fn look_up(word: &[u8]) -> Option<Word> {
    use Reason as R;
    let out = |reason| Some(Word::Says(Says::Out(reason)));
    match word {
        b"ad" | b"ads" | b"adv" | b"advert" | b"adverts" | b"advertisement" | b"advertisements"
        | b"advertising" | b"adslot" | b"adunit" | b"adbox" | b"adbanner" | b"adwrapper"
        | b"adcontainer" | b"sponsored" | b"promoted" | b"werbung" | b"anzeige" | b"publicidad"
        | b"publicite" => out(R::Advertising),
        b"consent" | b"gdpr" | b"ccpa" => out(R::Consent),
        b"share" | b"shares" | b"sharing" | b"social" | b"socials" | b"sharebar"
        | b"sharebuttons" => out(R::Sharing),
        b"promo" | b"promos" | b"related" | b"recommended" | b"recommendation"
        | b"recommendations" | b"trending" | b"popular" | b"mostread" | b"relatedposts"
        | b"upsell" | b"crosssell" | b"similar" | b"testimonial" | b"testimonials" => {
            out(R::Related)
        }
        b"newsletter" | b"newsletters" | b"subscribe" | b"signup" | b"optin" => out(R::Newsletter),
        b"nav" | b"navi" | b"navbar" | b"navigation" | b"topnav" | b"sidenav" | b"subnav"
        | b"mainnav" | b"sitenav" | b"menubar" | b"mainmenu" | b"submenu" | b"megamenu"
        | b"offcanvas" | b"hamburger" | b"pagination" | b"pager" | b"paginator" | b"breadcrumb"
        | b"breadcrumbs" | b"crumbs" | b"navegacion" | b"navigazione" | b"navegacao" | b"menue"
        | b"hauptmenue" | b"hauptmenu" | b"hauptnavigation" | b"brotkrumen" | b"leftnav"
        | b"rightnav" | b"pagetop" => out(R::Navigation),
        b"sidebar" | b"sidebars" | b"aside" | b"seitenleiste" | b"rail" | b"barralateral" => {
            out(R::Aside)
        }
        b"header" | b"masthead" | b"topbar" | b"kopf" | b"kopfbereich" | b"kopfzeile"
        | b"entete" | b"cabecera" | b"cabecalho" | b"intestazione" | b"naglowek" | b"testata" => {
            Some(Word::Says(Says::Header))
        }
        b"footer" | b"colophon" | b"fuss" | b"fusszeile" | b"fussbereich" | b"rodape"
        | b"stopka" | b"pagefooter" | b"printfooter" | b"piedepagina" => {
            Some(Word::Says(Says::Footer))
        }
        b"copyright" => out(R::Footer),
        b"menu" | b"menus" => Some(Word::Says(Says::Menu)),
        b"teaser" | b"teasers" => Some(Word::Says(Says::Teaser)),
        b"note" | b"tip" | b"warning" | b"caution" | b"admonition" | b"callout" | b"important"
        | b"footnote" | b"footnotes" | b"infobox" | b"pullquote" => Some(Word::Says(Says::Note)),
        b"modal" | b"modals" | b"popup" | b"popups" | b"lightbox" | b"toast" | b"toasts"
        | b"snackbar" | b"tooltip" | b"skiplink" => out(R::Overlay),
        b"minicart" | b"userbox" | b"usermenu" | b"loginbox" | b"warenkorb" | b"carrito"
        | b"toplinks" => out(R::Account),
        b"like" | b"upvote" | b"upvotes" | b"viewcount" | b"hitcounter" | b"pageviews"
        | b"viewcounter" => out(R::Counter),
        b"clock" | b"debugbar" => out(R::Request),
        b"ticker" | b"newsticker" | b"countdown" | b"marquee" => out(R::Widget),
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
        | b"breaking" | b"mw" | b"jp" | b"wp" | b"widgets" | b"adhesion" | b"home"
        | b"frontpage" | b"web" | b"std" | b"amp" | b"lbl" | b"pnl" | b"wrapperinner"
        | b"laterale" => Some(Word::Layout),
        b"posts" | b"post" | b"articles" | b"article" | b"stories" | b"story" | b"news"
        | b"content" | b"contents" | b"products" | b"product" | b"items" | b"item" | b"topics"
        | b"pages" | b"videos" | b"reading" | b"list" | b"grid" | b"carousel" | b"slider"
        | b"cards" | b"card" | b"searches" | b"questions" | b"tags" | b"title" | b"heading"
        | b"text" | b"rotator" | b"rotating" | b"entry" | b"reads" => Some(Word::Thing),
        _ => None,
    }
}

/// Names too short for a class: in an `id` they tell.
pub(super) fn only_id(name: &str) -> Option<Says> {
    let is = |names: &[&str]| names.iter().any(|it| name.eq_ignore_ascii_case(it));
    if is(&["kopf", "cabecera", "entete", "tete"]) {
        Some(Says::Header)
    } else if is(&["foot", "fuss", "pie", "pied"]) {
        Some(Says::Footer)
    } else if is(&["wetter", "meteo", "clima", "weather", "breaking", "breakingnews"]) {
        Some(Says::Out(Reason::Widget))
    } else if is(&["counter"]) {
        Some(Says::Out(Reason::Counter))
    } else {
        None
    }
}

/// What the things that a front page shows are called too.
pub(super) fn is_item(word: &[u8]) -> bool {
    matches!(word, b"promo" | b"popular" | b"recommended" | b"teaser" | b"trending")
}

/// What people leave on a page, and what is counted of it.
pub(super) fn is_social(word: &[u8]) -> bool {
    matches!(
        word,
        b"comments"
            | b"likes"
            | b"votes"
            | b"views"
            | b"shares"
            | b"replies"
            | b"reactions"
            | b"plays"
    )
}

/// What a word, whatever the others are, says of short texts.
pub(super) fn hint(word: &[u8]) -> Hint {
    match word {
        b"count" | b"counts" | b"counter" | b"counters" => Hint::Amount,
        b"badge" | b"vote" | b"votes" | b"votecount" | b"likes" | b"upvotes" | b"reputation"
        | b"karma" | b"userinfo" | b"postprofile" | b"unvoted" | b"viewcount" | b"reactions"
        | b"reaction" => Hint::Count,
        b"meta" | b"metadata" | b"byline" | b"dateline" | b"postinfo" | b"info" | b"infos"
        | b"stats" | b"stat" | b"statistics" | b"statistik" | b"tagline" | b"subtext"
        | b"subline" | b"timestamp" | b"posted" | b"published" | b"updated" | b"modified"
        | b"ago" | b"age" | b"timeago" | b"date" | b"fecha" | b"datum" | b"author" | b"autor"
        | b"views" | b"viewed" | b"plays" | b"downloads" | b"comments" | b"comment"
        | b"kommentare" | b"shares" | b"social" | b"rating" | b"ratings" | b"review"
        | b"reviews" | b"bewertungen" | b"reviewed" | b"actions" | b"action" | b"buttons"
        | b"links" | b"toolbar" | b"profile" | b"poster" | b"user" | b"engagement" | b"watch"
        | b"watchers" | b"applicants" | b"score" | b"scores" | b"footer" | b"facts"
        | b"social-count" | b"like" | b"feedback" | b"stars" | b"forks" | b"subscribers"
        | b"followers" | b"map" | b"replies" | b"activity" => Hint::Meta,
        _ => Hint::None,
    }
}
