//! Sources come from files of all kinds, as a whole or not at all.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::home::Home;

fn urls(home: &Home) -> Vec<String> {
    let rows = home.lines(&["ls", "--limit", "0", "--json"]);
    rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_of_urls() {
    let home = Home::new("");
    home.write("urls.txt", "\u{feff}# mine\nhttps://a.example/\n\n  https://b.example/x \r\n");
    let dry = home.run(&["import", "urls.txt", "--dry-run"]).ok();
    assert_eq!(dry.err, "urls.txt as URLs: 2 sources; nothing was added\n");
    home.run(&["ls"]).says(2, "there is no store");
    assert_eq!(home.run(&["import", "urls.txt", "--tag", "t"]).ok().err, "added 2 sources\n");
    assert_eq!(urls(&home), ["https://a.example/", "https://b.example/x"]);
    assert_eq!(home.lines(&["ls", "--tag", "t", "--json"]).len(), 2);

    home.run(&["import", "urls.txt", "--tag", "u"]).ok();
    assert_eq!(home.lines(&["ls", "--json"])[0]["tags"].to_string(), r#"["t","u"]"#);

    home.write("bad.txt", b"https://c.example/\nnot a url\n\xff\xfe\nlocalhost:80\n".as_slice());
    let bad = home.run(&["import", "bad.txt"]);
    bad.says(2, "error: bad.txt:2: `not a url` is not a URL");
    bad.says(2, "(and 2 more)");
    bad.says(2, "--skip-bad");
    assert_eq!(urls(&home).len(), 2);
    let skipped = home.run(&["import", "bad.txt", "--skip-bad"]).ok();
    let first = "bad.txt:2: `not a url` is not a URL: relative URL without a base";
    let left = format!("left out 3 that cannot be sources; the first: {first}");
    assert_eq!(skipped.err, format!("{left}\nadded 1 source\n"));
    home.run(&["import", "none.txt"]).says(2, "cannot read none.txt");
    home.run(&["import", "."]).says(2, "cannot read .: is a directory");
    home.run(&["import", "/dev/null"]).says(2, "not a file");
}

#[test]
fn many_urls_go_through_the_door_of_a_daemon() {
    let home = Home::new("budget = \"1/day\"\n");
    let list: String =
        (0..25_000).map(|page| format!("http://h{}.invalid/{page}\n", page % 7)).collect();
    home.write("urls.txt", &list);
    let daemon = home.start();
    assert_eq!(home.run(&["import", "urls.txt"]).ok().err, "added 25,000 sources\n");
    assert_eq!(home.run(&["status", "--json"]).json()["sources"], 25_000);
    assert_eq!(daemon.stop(), Some(0));
    let again = home.run(&["import", "urls.txt"]).ok();
    assert!(again.err.starts_with("25,000 sources known already"), "{}", again.err);
}

#[test]
fn a_table() {
    let home = Home::new("");
    home.write(
        "t.csv",
        "id,importance,change_rate,min_rate,max_rate,cost\n\
         https://a.example/,3,1,2,24,5\nhttps://b.example/,1,1,,0,\n",
    );
    home.run(&["import", "t.csv"]).ok();
    let rows = home.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["importance"], &rows[0]["cost"]), (&3.0.into(), &5.0.into()));
    assert_eq!(rows[0]["max_interval_days"], 0.5);
    assert_eq!(rows[0]["min_interval_days"], 1.0 / 24.0);
    assert_eq!(rows[1]["paused"], true, "what may never be fetched is left alone");
    home.write("bad.csv", "id,change_rate\nhttps://a.example/,often\n");
    home.run(&["import", "bad.csv"]).says(2, "bad.csv:2: change_rate: `often` is not a number");
    home.write("names.csv", "id,change_rate\nhttps://c.example/,1\nhome,1\n");
    home.run(&["import", "names.csv"]).says(2, "names.csv, row 2: `home` is not a URL");
    home.run(&["import", "names.csv", "--skip-bad"]).ok();
    home.run(&["rm", "https://c.example/"]).ok();
    home.write("anonymous.csv", "change_rate\n1\n");
    home.run(&["import", "anonymous.csv"]).says(2, "there is no column `id`");
    assert_eq!(urls(&home).len(), 2);
}

#[test]
fn a_table_says_what_to_expect() {
    let home = Home::new("");
    let table = "id,change_rate,complete\n\
        https://a.example/,48,1\nhttps://b.example/,,0\nhttps://c.example/,often,0\n,1,0\n\
        https://d.example/,1,0,1\nhttps://e.example/,0.01,0\nhttps://a.example/,48,1\n";
    home.write("t.csv", table);
    let bad = home.run(&["import", "t.csv"]);
    bad.says(2, "error: t.csv:4: change_rate: `often` is not a number (and 2 more)");
    let skipped = home.run(&["import", "t.csv", "--skip-bad"]).ok();
    assert!(skipped.err.starts_with("left out 3 that cannot be sources"), "{}", skipped.err);
    assert!(skipped.err.ends_with("added 3 sources; 1 source known already\n"), "{}", skipped.err);
    let rows = home.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["observed"], &rows[1]["observed"]), (&true.into(), &false.into()));
    let believed = |home: &Home, url: &str| {
        home.run(&["show", url, "--json"]).json()["believed"]["changes_a_day"].as_f64().unwrap()
    };
    let often = believed(&home, "https://a.example/");
    let (unsaid, seldom) =
        (believed(&home, "https://b.example/"), believed(&home, "https://e.example/"));
    assert!(often > 4.0 * unsaid && seldom < 0.5 * unsaid, "{often} {unsaid} {seldom}");

    // The daemon hears the same, of sources from a table of another kind.
    home.write("t.jsonl", "{\"id\":\"http://x.invalid/\",\"change_rate\":48}\n");
    let daemon = home.start();
    home.run(&["import", "t.jsonl"]).ok();
    let told = believed(&home, "http://x.invalid/");
    assert!(told > 4.0 * unsaid, "{told} {unsaid}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn feeds_of_a_reader() {
    let home = Home::new("");
    let opml = "<?xml version='1.0'?>\n<opml version='2.0'><head><title>x</title></head><body>\n\
        <outline text='News'><outline text='World'>\n\
        <outline type='rss' text='A' xmlUrl='https://a.example/feed?x=1&amp;y=2'/>\n\
        </outline></outline>\n<outline text='B' xmlUrl='https://b.example/'/>\n</body></opml>\n";
    home.write("feeds.opml", opml);
    home.run(&["import", "feeds.opml", "--folder-tags"]).ok();
    assert_eq!(urls(&home), ["https://a.example/feed?x=1&y=2", "https://b.example/"]);
    let rows = home.lines(&["ls", "--json"]);
    assert_eq!(rows[0]["tags"].to_string(), r#"["News","World"]"#);
    assert_eq!(rows[1]["tags"].to_string(), "[]");
    home.write("bad.xml", opml.replace("https://b.example/", "nowhere"));
    home.run(&["import", "bad.xml"]).says(2, "bad.xml:6: `nowhere` is not a URL");
    home.write("cut.opml", &opml[..opml.len() - 20]);
    home.run(&["import", "cut.opml"]).says(2, "not XML");
}

#[test]
fn sitemaps() {
    let home = Home::new("");
    let map = "<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
        xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>\n\
        <url><loc>https://a.example/?a=1&amp;b=2</loc><lastmod>2026-01-01</lastmod>\n\
        <image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>\n\
        <url><loc>\n  https://a.example/b\n</loc></url>\n</urlset>\n";
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(map.as_bytes()).unwrap();
    home.write("sitemap.xml.gz", packed.finish().unwrap());
    home.run(&["import", "sitemap.xml.gz"]).ok();
    assert_eq!(urls(&home), ["https://a.example/?a=1&b=2", "https://a.example/b"]);
    home.write(
        "index.xml",
        "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>",
    );
    let index = home.run(&["import", "index.xml"]);
    index.says(2, "is an index of sitemaps");
    index.says(2, "fetch its parts and import them: https://a.example/1.xml");
    home.write("endless.xml", format!("<urlset><url><loc>{}", "x".repeat(3 << 20)));
    home.run(&["import", "endless.xml"]).says(2, "a piece of more than 1048576 bytes");
    home.write("page.xml", "<html><p>x</p></html>");
    home.run(&["import", "page.xml"]).says(2, "there is no <urlset>");
}

#[test]
fn watches_of_changedetection() {
    let home = Home::new("");
    let watches = r##"{"watching": {
        "u1": {"url": "https://a.example/", "tags": ["t1"], "paused": true, "title": "A",
            "time_between_check_use_default": false,
            "time_between_check": {"weeks": null, "days": 1, "hours": "12", "minutes": null, "seconds": null},
            "include_filters": ["#price", "//div[1]", "json:$.price"],
            "subtractive_selectors": [".ad"], "ignore_text": ["as of (today)", "/id: \\d+/"]},
        "u2": {"url": "https://b.example/", "tag": "old, news", "paused": false,
            "time_between_check_use_default": true, "time_between_check": {"hours": 3},
            "include_filters": [], "ignore_text": []},
        "u3": {"url": "https://c.example/{{ now() }}"}},
        "settings": {"application": {"tags": {"t1": {"title": "Shops", "uuid": "t1"}}}}}"##;
    home.write("url-watches.json", watches);
    let ran = home.run(&["import", "url-watches.json"]).ok();
    let lost = "https://a.example/: the filter `//div[1]` is not taken over: XPath\n";
    assert!(ran.err.contains(lost), "{}", ran.err);
    let left = "left out https://c.example/{{ now() }}: a template, and freshet fetches URLs";
    assert!(ran.err.contains(left) && ran.err.contains("added 2 sources"), "{}", ran.err);
    let rows = home.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["state"], &rows[0]["max_interval_days"]), (&"paused".into(), &1.5.into()));
    assert_eq!(rows[0]["tags"].to_string(), r#"["Shops"]"#);
    assert_eq!(rows[0]["settings"]["select"].to_string(), r##"["#price","$.price"]"##);
    assert_eq!(rows[0]["settings"]["drop"].to_string(), r#"[".ad"]"#);
    assert_eq!(rows[0]["settings"]["ignore_text"].as_array().unwrap().len(), 2);
    assert_eq!(rows[1]["tags"].to_string(), r#"["news","old"]"#);
    assert!(rows[1]["max_interval_days"].is_null() && rows[1]["settings"].is_null());
    home.write("cut.json", &watches[..100]);
    home.run(&["import", "cut.json"]).says(2, "cut.json:2: not JSON");
    home.write("other.json", "{\"a\": 1}");
    home.run(&["import", "other.json"]).says(2, "there are no watches in it");
    home.write("bad.json", r#"{"u1": {"url": "nowhere"}}"#);
    home.run(&["import", "bad.json"]).says(2, "bad.json, watch u1: `nowhere` is not a URL");
}
