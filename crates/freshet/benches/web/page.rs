//! Generated pages like those of content management systems.

use std::fmt::Write;

const WORDS: [&str; 32] = [
    "the",
    "river",
    "of",
    "council",
    "and",
    "bridge",
    "a",
    "reopened",
    "in",
    "spring",
    "which",
    "was",
    "repairs",
    "for",
    "residents",
    "million",
    "to",
    "said",
    "on",
    "street",
    "new",
    "that",
    "school",
    "twelve",
    "after",
    "with",
    "station",
    "mayor",
    "budget",
    "flood",
    "market",
    "by",
];
const SIZE: usize = 10_000;
const KINDS: u64 = 64;
/// Placeholder of the number of a page.
const PLACEHOLDER: &str = "@@@@@@@@@@@@";

/// Page templates; each page has its number in the title and in a sentence.
pub(crate) struct Pages(Vec<String>);

impl Pages {
    pub(crate) fn new() -> Self {
        Self((0..KINDS).map(page).collect())
    }

    /// Returns the page with a number. No two pages are the same.
    pub(crate) fn page(&self, number: u64) -> String {
        self.0[(number % KINDS) as usize].replace(PLACEHOLDER, &format!("{number:012}"))
    }
}

/// Pseudo-random numbers, the same in each run.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.next(WORDS.len())]).collect();
        words.join(" ")
    }
}

/// Returns a page of 10 KB with about 400 words of text and typical markup around it.
fn page(seed: u64) -> String {
    let mut numbers = RandomNumbers(seed);
    let mut html = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Report {PLACEHOLDER}</title>"
    );
    for number in 0..6 {
        let _ = write!(
            html,
            "<link rel=\"stylesheet\" href=\"/assets/css/module-{number}.css?v={seed}\">\
             <meta property=\"og:part{number}\" content=\"value {number}\">"
        );
    }
    let _ = write!(
        html,
        "<script>window.state={{\"user\":null,\"nonce\":\"{PLACEHOLDER}\",\"items\":[{}]}};</script>\
         <style>.page{{margin:0 auto;max-width:64rem}}</style></head><body class=\"page page--article\">\
         <header class=\"site-header\"><nav class=\"main-nav\"><ul class=\"nav__list\">",
        "{\"id\":12345,\"name\":\"x\"},".repeat(20)
    );
    for number in 0..16 {
        let _ = write!(
            html,
            "<li class=\"nav__item nav__item--{number}\"><a class=\"nav__link\" \
             href=\"/section/{number}\">Section {number}</a></li>"
        );
    }
    let _ = write!(
        html,
        "</ul></nav></header><main class=\"layout__main\"><article class=\"article\">\
         <h1 class=\"article__title\">{}</h1><p>The count stands at {PLACEHOLDER} today.</p>",
        numbers.words(7)
    );
    for number in 0..8 {
        let _ = writeln!(
            html,
            "<div class=\"block block--text\" id=\"b{number}\" data-component=\"paragraph\">\
             <p class=\"article__text\">{} <a href=\"/a/{number}?ref=inline\" class=\"link\">{}</a> {}.\
             </p></div>",
            numbers.words(24),
            numbers.words(3),
            numbers.words(20)
        );
    }
    html.push_str(
        "</article></main><aside class=\"sidebar\"><h3>Related articles</h3><ul class=\"related\">",
    );
    for number in 0.. {
        let card = format!(
            "<li class=\"card card--small\" data-id=\"{number}\"><a class=\"card__link\" \
             href=\"/r/{number}\"><img class=\"card__image\" src=\"/i/{number}.jpg\" alt=\"\" \
             width=\"64\" height=\"64\" loading=\"lazy\"><span class=\"card__title\">{}</span></a></li>",
            numbers.words(6)
        );
        if html.len() + card.len() + FOOTER.len() > SIZE {
            break;
        }
        html.push_str(&card);
    }
    html + FOOTER
}

const FOOTER: &str = "</ul></aside><footer class=\"site-footer\"><p>© A company</p><a href=\"/imprint\">\
                    Imprint</a></footer></body></html>";
