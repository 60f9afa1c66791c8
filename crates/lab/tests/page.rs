//! The page: well formed, whole by itself, the same every time.

#![allow(clippy::unwrap_used)]

// The tests of pictures use more of it.
#[allow(dead_code)]
#[path = "../../chart/tests/support/xml.rs"]
mod xml;

use std::collections::BTreeSet;

use freshet_lab::{CATALOGUE, Experiment, Paper, Report, find, page, run_all};
use xml::{Element, parse};

/// Quick ones, with tables, lists, pictures, remarks and all kinds of verdicts.
const QUICK: [&str; 7] = [
    "cho-fig-9",
    "cho-table-4",
    "cho-table-7",
    "azar-fig-2",
    "kolobov-prop-9",
    "liu-table-1-3",
    "wic-section-4",
];

fn reports(names: &[&str]) -> Vec<Report> {
    let chosen: Vec<&'static Experiment> = names.iter().map(|name| find(name).unwrap()).collect();
    run_all(&chosen, &|_| {}).unwrap()
}

fn elements(page: &str) -> Vec<Element> {
    let html = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    parse(html).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn it_is_well_formed_and_whole_by_itself() {
    let page = page(&reports(&QUICK));
    let elements = elements(&page);
    let root = &elements[0];
    assert_eq!((root.tag.as_str(), root.attribute("lang")), ("html", Some("en")));
    let ids: Vec<&str> = elements.iter().filter_map(|it| it.attribute("id")).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), distinct.len(), "{ids:?}");
    for element in &elements {
        assert!(
            !["script", "link", "img", "iframe"].contains(&element.tag.as_str()),
            "{element:?}"
        );
        assert!(element.attribute("src").is_none(), "{element:?}");
        if let Some(target) = element.attribute("href") {
            let inside = target.strip_prefix('#').is_some_and(|id| distinct.contains(id));
            let beside = QUICK.iter().any(|name| target.starts_with(name));
            assert!(inside || beside, "{target}");
        }
    }
    for name in QUICK {
        assert!(distinct.contains(name), "{name}");
    }
    assert!(!page.contains("http://") || page.matches("http://").count() == count(&page, "<svg"));
    assert!(!page.contains("https://") && !page.contains("NaN"));
}

fn count(page: &str, what: &str) -> usize {
    page.matches(what).count()
}

#[test]
fn tables_have_heads_and_verdicts_have_words() {
    let page = page(&reports(&QUICK));
    assert_eq!(count(&page, "<table"), count(&page, "<thead"));
    for words in ["reproduced", "not determinable", "misprint", "0.84", "0.8349", "406.02"] {
        assert!(page.contains(words), "{words}");
    }
    let elements = elements(&page);
    let heads = elements.iter().filter(|it| it.tag == "th");
    assert!(heads.clone().all(|it| it.attribute("scope").is_some()));
    assert!(heads.count() > 100);
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| page(&reports(&[&QUICK[..], &["cho-fig-15", "azar-algorithms"]].concat())))
    };
    let (one, two) = (on(1), on(2));
    let line = one.lines().zip(two.lines()).position(|(one, two)| one != two);
    assert!(one == two, "the first difference is on line {line:?}");
}

#[test]
fn the_catalogue_is_in_order() {
    let names: BTreeSet<&str> = CATALOGUE.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    let papers: Vec<Paper> = CATALOGUE.iter().map(|it| it.paper).collect();
    assert!(papers.is_sorted());
    for it in CATALOGUE {
        // A paper's name stands for all of it, so that no experiment may have it.
        assert!(it.name.starts_with(&format!("{}-", it.paper.key())), "{}", it.name);
        assert!(it.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{}", it.name);
        assert!(!it.about.ends_with('.') && !it.item.is_empty() && !it.section.is_empty());
    }
    assert!(find("all").is_none());
}
