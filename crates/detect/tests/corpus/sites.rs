//! Pages in the style of real sites, each with noise and with changes of content: `{{old||new}}` is
//! noise, `[[old||new]]` is content.

use crate::{assert_no_faults, describe_false_alarm, describe_miss};

const SITES: [&str; 7] = [
    include_str!("../sites/software.txt"),
    include_str!("../sites/shops.txt"),
    include_str!("../sites/news.txt"),
    include_str!("../sites/communities.txt"),
    include_str!("../sites/offices.txt"),
    include_str!("../sites/languages.txt"),
    include_str!("../sites/second.txt"),
];

/// A part of a page: fixed text, noise or content.
enum Part<'a> {
    Text(&'a str),
    Noise(&'a str, &'a str),
    Content(&'a str, &'a str),
}

struct Site<'a> {
    name: &'a str,
    parts: Vec<Part<'a>>,
}

fn sites() -> Vec<Site<'static>> {
    let pages = SITES.iter().flat_map(|it| it.split("=== ").skip(1));
    pages
        .map(|it| {
            let (name, page) = it.split_once('\n').unwrap();
            Site { name, parts: parts(page) }
        })
        .collect()
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = page;
    while let Some(at) = ["{{", "[["].iter().filter_map(|it| rest.find(it)).min() {
        let (noise, end) = if rest[at..].starts_with("{{") { (true, "}}") } else { (false, "]]") };
        parts.push(Part::Text(&rest[..at]));
        let (choice, after) = rest[at + 2..].split_once(end).unwrap();
        let (old, is_new) = choice.split_once("||").unwrap();
        parts.push(if noise { Part::Noise(old, is_new) } else { Part::Content(old, is_new) });
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts
}

impl Site<'_> {
    /// Returns the page with the new form of the chosen parts.
    fn page(&self, is_new: impl Fn(usize, &Part<'_>) -> bool) -> String {
        let parts = self.parts.iter().enumerate().map(|(at, part)| match part {
            Part::Text(text) => *text,
            Part::Noise(_, text) | Part::Content(_, text) if is_new(at, part) => text,
            Part::Noise(text, _) | Part::Content(text, _) => text,
        });
        parts.collect()
    }

    /// Returns the numbers of right judgements and of all, for noise and for content, and the
    /// faults.
    fn score(&self) -> ([(usize, usize); 2], Vec<String>) {
        let (mut score, mut faults) = ([(0, 0); 2], Vec::new());
        let mut count_judgement = |kind: usize, fault: Option<String>| {
            score[kind].0 += usize::from(fault.is_none());
            score[kind].1 += 1;
            faults.extend(fault);
        };
        let old = self.page(|_, _| false);
        let all_noise = self.page(|_, it| matches!(it, Part::Noise(..)));
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Text(_) => {}
                Part::Noise(from, to) => {
                    let name = format!("{}: {from} > {to}", self.name);
                    count_judgement(
                        0,
                        describe_false_alarm(&name, &old, &self.page(|it, _| it == at)),
                    );
                }
                Part::Content(from, to) => {
                    let name = format!("{}: {from} > {to}", self.name);
                    count_judgement(1, describe_miss(&name, &old, &self.page(|it, _| it == at)));
                    let with_noise =
                        self.page(|it, part| it == at || matches!(part, Part::Noise(..)));
                    count_judgement(
                        1,
                        describe_miss(&format!("{name}, among noise"), &old, &with_noise),
                    );
                }
            }
        }
        if all_noise != old {
            count_judgement(
                0,
                describe_false_alarm(&format!("{}: all noise", self.name), &old, &all_noise),
            );
        }
        (score, faults)
    }
}

#[test]
#[allow(clippy::print_stdout)]
fn every_site_has_the_expected_noise_and_content() {
    let (mut total, mut all) = ([(0, 0); 2], Vec::new());
    println!("{:>34} {:>9} {:>9}", "site", "noise", "content");
    let show = |name: &str, [noise, content]: [(usize, usize); 2]| {
        let share = |(right, of): (usize, usize)| format!("{right}/{of}");
        println!("{name:>34} {:>9} {:>9}", share(noise), share(content));
    };
    for site in sites() {
        let (score, faults) = site.score();
        show(site.name, score);
        for (sum, one) in total.iter_mut().zip(score) {
            *sum = (sum.0 + one.0, sum.1 + one.1);
        }
        all.extend(faults);
    }
    show("all", total);
    assert_no_faults(&all);
}
