//! Noise that servers, templates, advertisers and tools add to a page.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::pages::pages;
use crate::{assert_no_faults, describe_false_alarm};

/// A kind of noise: its name, and what it puts into a slot at a request.
pub(crate) type Maker = fn(&str, &mut Pcg64) -> String;

fn pick<'a>(list: &[&'a str], random: &mut Pcg64) -> &'a str {
    list[random.random_range(0..list.len())]
}

fn random_number(random: &mut Pcg64) -> u32 {
    random.random_range(2..90_000)
}

fn random_hash(random: &mut Pcg64) -> String {
    format!("{:016x}", random.random::<u64>())
}

/// Returns the text in some slots only.
fn in_slots(slots: &[&str], slot: &str, text: String) -> String {
    if slots.contains(&slot) { text } else { String::new() }
}

pub(crate) const KINDS: &[(&str, Maker)] = &[
    ("nonces and tokens", |slot, random| match slot {
        "head" => format!(
            r#"<meta name="csrf-token" content="{0}"><script nonce="{0}">var t = "{0}";</script><link rel="stylesheet" href="/s.css?v={0}">"#,
            random_hash(random)
        ),
        "before" | "top" => format!(
            r#"<form action="/s"><input type="hidden" name="csrf" value="{}"></form>"#,
            random_hash(random)
        ),
        _ => format!(
            "<!-- {} --><span data-id={}></span>",
            random_hash(random),
            random_number(random)
        ),
    }),
    ("inline state", |slot, random| {
        let state = format!(
            r#"<script type="application/json" id="state">{{"user":{},"items":["<p>{}</p>"]}}</script><noscript>Please enable JavaScript {}</noscript><template><p>{}</p></template>"#,
            random_number(random),
            random_hash(random),
            random_number(random),
            random_number(random)
        );
        in_slots(&["head", "foot", "within"], slot, state)
    }),
    ("timestamps", |slot, random| {
        let (h, m, s) =
            (random.random_range(0..24), random.random_range(0..60), random.random_range(0..60));
        let time = format!("{h:02}:{m:02}:{s:02}");
        let day = random.random_range(10..28);
        let text = match random.random_range(0..8) {
            0 => format!("<p>Generated at 2026-11-{day} {time}</p>"),
            1 => format!("<div>Page generated in 0.{} seconds</div>", random_number(random)),
            2 => format!("<p>Last checked: {day} November 2026 {time}</p>"),
            3 => format!("<span class=clock>{time}</span>"),
            4 => format!("<p>Today is Monday, {day} November 2026</p>"),
            5 => format!("<div>Last updated: 2026-11-{day} {time} UTC</div>"),
            6 => format!("<p><small>Server time: {time}</small></p>"),
            _ => format!("<p>Request ID: {}</p>", random_hash(random)),
        };
        in_slots(&["top", "side", "foot", "before"], slot, text)
    }),
    ("ads", |slot, random| {
        let offer = pick(&["Buy a car", "Cheap flights from 12 €", "Win 1000 coins"], random);
        let text = match random.random_range(0..7) {
            0 => format!(
                r#"<ins class="adsbygoogle" data-ad="{}">{offer}</ins>"#,
                random_number(random)
            ),
            1 => format!(
                r#"<div class="ad-slot"><span>Advertisement</span><a href="/c?{}">{offer}</a></div>"#,
                random_number(random)
            ),
            2 => {
                format!(
                    r#"<iframe src="https://ads.example/{}">{offer}</iframe>"#,
                    random_number(random)
                )
            }
            3 => format!(r#"<div><p>Sponsored</p><a href="/x"><b>{offer}</b></a></div>"#),
            4 => format!(r#"<section aria-label="Advertisement"><p>{offer}</p></section>"#),
            5 => format!(r#"<div id="banner-ad-{}"><p>{offer}</p></div>"#, random_number(random)),
            _ => String::new(),
        };
        in_slots(&["top", "before", "within", "side", "foot"], slot, text)
    }),
    ("counters", |slot, random| {
        let n = random_number(random);
        let text = match random.random_range(0..9) {
            0 => format!("<div>{n} views</div>"),
            1 => {
                format!(
                    "<p><span>{n} comments</span> · <span>{} likes</span></p>",
                    random_number(random)
                )
            }
            2 => format!("<p>Comments ({n})</p>"),
            3 => format!("<div>{n} people are looking at this right now</div>"),
            4 => format!("<span class='view-count'>{n}</span>"),
            5 => format!("<p>Views: {n}</p>"),
            6 => format!("<p>You are visitor number {n}</p>"),
            7 => format!("<p>{n} users online</p>"),
            _ => format!("<p>{} minutes ago</p>", n % 60 + 2),
        };
        in_slots(&["before", "within", "side", "foot"], slot, text)
    }),
    ("teasers", |slot, random| {
        let story = |random: &mut Pcg64| {
            pick(
                &[
                    "Ten tips for your garden",
                    "A cat on a roof",
                    "Why trains are late",
                    "Seven soups",
                ],
                random,
            )
        };
        let (one, two) = (story(random), story(random));
        let text = match random.random_range(0..5) {
            0 => format!(
                r#"<div class="related-articles"><h3>Related articles</h3><ul><li><a href="/1">{one}</a></li><li><a href="/2">{two}</a></li></ul></div>"#
            ),
            1 => format!(
                r#"<section><h3>You may also like</h3><div class="card"><a href="/1"><h4>{one}</h4></a><p>And why that is so, in a few words.</p></div></section>"#
            ),
            2 => format!(
                r#"<div><h4>Popular now</h4><ol><li><a href="/1">{one}</a></li><li><a href="/2">{two}</a></li></ol></div>"#
            ),
            3 => format!(
                r#"<div class="testimonials"><blockquote>{one}, said a customer.</blockquote></div>"#
            ),
            _ => format!(r#"<div class="most-read"><a href="/1">{one}</a></div>"#),
        };
        in_slots(&["side", "foot", "within"], slot, text)
    }),
    ("navigation", |slot, random| {
        let entry = pick(&["Travel", "Podcasts", "Games"], random);
        let text = match random.random_range(0..5) {
            0 => format!(
                r#"<nav aria-label="main"><ul><li class="{}"><a href="/">Home</a></li><li><a href="/e">{entry}</a></li></ul></nav>"#,
                pick(&["active", ""], random)
            ),
            1 => {
                format!(r#"<div class="navbar"><a href="/">Home</a><a href="/e">{entry}</a></div>"#)
            }
            2 => format!(
                r#"<ul class="menu"><li><a href="/">Home</a></li><li><a href="/e">{entry}</a></li></ul>"#
            ),
            3 => format!(r#"<div role="navigation"><a href="/e">{entry}</a></div>"#),
            _ => format!(
                r#"<ul><li><a href="/">Home</a></li><li><a href="/e">{entry}</a></li><li><a href="/c">Contact</a></li><li><a href="/l">Login</a></li></ul>"#
            ),
        };
        in_slots(&["top", "foot"], slot, text)
    }),
    ("banners", |slot, random| {
        let text = match random.random_range(0..7) {
            0 => r#"<div class="cookie-banner"><p>We use cookies to make this site better.</p><button>Accept</button></div>"#.to_owned(),
            1 => r#"<div id="onetrust-consent-sdk"><p>Your privacy matters to us.</p></div>"#.to_owned(),
            2 => format!("<div class='newsletter-signup'><p>Join {} readers</p></div>", random_number(random)),
            3 => format!("<p>Welcome back, {}</p>", pick(&["Ann", "Bob"], random)),
            4 => format!("<div class='weather-widget'>Bern {}°</div>", random.random_range(2..30)),
            5 => format!("<div class='user-menu'>Cart ({})</div>", random_number(random)),
            _ => "<div role='dialog'><p>Subscribe now!</p></div>".to_owned(),
        };
        in_slots(&["top", "side", "foot"], slot, text)
    }),
    ("hidden", |slot, random| {
        let n = random_number(random);
        let text = match random.random_range(0..4) {
            0 => format!("<div hidden>Debug {n}</div>"),
            1 => format!("<div style='display: none'>Token {n}</div>"),
            2 => format!("<div aria-hidden='true'>Off-screen {n}</div>"),
            _ => format!("<span style=\"visibility:hidden\">{n}</span>"),
        };
        in_slots(&["top", "before", "within", "side", "foot"], slot, text)
    }),
    ("share bars and copyright", |slot, random| {
        let text = match random.random_range(0..4) {
            0 => {
                format!(
                    "<div class='share-buttons'><a href='#'>Share</a> {}</div>",
                    random_number(random)
                )
            }
            1 => format!("<div class='social'><span>{}</span></div>", random_number(random)),
            2 => {
                format!(
                    "<p>© {} Example Ltd. All rights reserved.</p>",
                    2000 + random_number(random) % 30
                )
            }
            _ => format!(
                "<div class='copyright'>Copyright {}</div>",
                2000 + random_number(random) % 30
            ),
        };
        in_slots(&["side", "foot"], slot, text)
    }),
];

#[test]
fn each_kind_of_noise_is_ignored() {
    let mut faults = Vec::new();
    for page in pages() {
        let plain = page.plain();
        for (kind, maker) in KINDS {
            for seed in 0..24 {
                let mut random = Pcg64::seed_from_u64(seed);
                let noisy = page.fill(|slot| maker(slot, &mut random), None);
                faults.extend(describe_false_alarm(
                    &format!("{}, {kind}, seed {seed}", page.name),
                    &plain,
                    &noisy,
                ));
            }
        }
    }
    assert_no_faults(&faults);
}

#[test]
fn all_kinds_of_noise_at_once_are_ignored() {
    let mut faults = Vec::new();
    for page in pages() {
        let plain = page.plain();
        for seed in 0..40 {
            let mut random = Pcg64::seed_from_u64(seed);
            let noisy = page.fill(
                |slot| KINDS.iter().map(|(_, maker)| maker(slot, &mut random)).collect(),
                None,
            );
            faults.extend(describe_false_alarm(
                &format!("{}, seed {seed}", page.name),
                &plain,
                &noisy,
            ));
        }
    }
    assert_no_faults(&faults);
}
