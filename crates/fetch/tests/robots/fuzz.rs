//! Mutated files: no panic, no blow-up, and two implementations agree.
//!
//! `scripts/fuzz-fetch` runs this for a minute.

use freshet_fetch::RobotsTxt;

use crate::mutator::Mutator;
use crate::reference;

#[test]
fn mutated_files_agree_with_the_reference() {
    let mut mutator = Mutator::new(
        "robots",
        &[
            "user-agent:",
            "disallow:",
            "allow: ",
            "*",
            "$",
            "%2F",
            "%",
            "/",
            "\r",
            "\n",
            "#",
            ":",
            "freshet",
            "\u{feff}",
            "é",
            "sitemap:",
            "crawl-delay: ",
        ],
    );
    for _ in 0..mutator.cases(3_000) {
        let (file, path) = (mutator.next(), mutator.next());
        let path: String = String::from_utf8_lossy(&path).chars().take(60).collect();
        let path = format!("/{}", path.replace(['\n', '\r', '\0'], ""));
        let robots = RobotsTxt::parse(&file);
        for agent in ["freshet/0.1", "other"] {
            let own = robots.check(agent, &path).allowed;
            let other = reference::allows(&file, agent, &path);
            assert_eq!(own, other, "{agent} {path:?}\n{}", file.escape_ascii());
        }
        assert!(robots.sitemaps().len() <= file.len());
    }
}
