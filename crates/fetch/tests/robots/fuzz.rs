//! Files that were damaged at random: no panic, no blow-up, and two implementations agree.
//!
//! `scripts/fuzz-fetch` does this for a minute.

use freshet_fetch::Robots;

use crate::mutant::Mutants;
use crate::reference;

#[test]
fn damaged_files() {
    let mut mutants = Mutants::of(
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
    for _ in 0..mutants.cases(3_000) {
        let (file, path) = (mutants.next(), mutants.next());
        let path: String = String::from_utf8_lossy(&path).chars().take(60).collect();
        let path = format!("/{}", path.replace(['\n', '\r', '\0'], ""));
        let robots = Robots::parse(&file);
        for agent in ["freshet/0.1", "other"] {
            let own = robots.allows(agent, &path).allowed;
            let other = reference::allows(&file, agent, &path);
            assert_eq!(own, other, "{agent} {path:?}\n{}", file.escape_ascii());
        }
        assert!(robots.sitemaps().len() <= file.len());
    }
}
