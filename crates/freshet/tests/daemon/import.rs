//! `freshet import`: files are imported as a whole or not at all.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::instance::TestInstance;

fn urls(instance: &TestInstance) -> Vec<String> {
    let rows = instance.lines(&["ls", "--limit", "0", "--json"]);
    rows.iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_of_urls_is_imported() {
    let instance = TestInstance::new("");
    instance.write("urls.txt", "\u{feff}# mine\nhttps://a.example/\n\n  https://b.example/x \r\n");
    let dry = instance.run(&["import", "urls.txt", "--dry-run"]).ok();
    assert_eq!(dry.err, "urls.txt as URLs: 2 sources; nothing was imported\n");
    instance.run(&["ls"]).has_error(2, "the store does not exist");
    assert_eq!(instance.run(&["import", "urls.txt", "--tag", "t"]).ok().err, "added 2 sources\n");
    assert_eq!(urls(&instance), ["https://a.example/", "https://b.example/x"]);
    assert_eq!(instance.lines(&["ls", "--tag", "t", "--json"]).len(), 2);

    instance.run(&["import", "urls.txt", "--tag", "u"]).ok();
    assert_eq!(instance.lines(&["ls", "--json"])[0]["tags"].to_string(), r#"["t","u"]"#);

    instance
        .write("bad.txt", b"https://c.example/\nnot a url\n\xff\xfe\nlocalhost:80\n".as_slice());
    let bad = instance.run(&["import", "bad.txt"]);
    bad.has_error(2, "error: bad.txt:2: `not a url` is not a URL");
    bad.has_error(2, "(and 2 more)");
    bad.has_error(2, "--skip-bad");
    assert_eq!(urls(&instance).len(), 2);
    let skipped = instance.run(&["import", "bad.txt", "--skip-bad"]).ok();
    let first = "bad.txt:2: `not a url` is not a URL: relative URL without a base";
    let summary = format!("skipped 3 invalid entries; the first: {first}");
    assert_eq!(skipped.err, format!("{summary}\nadded 1 source\n"));
    instance.run(&["import", "none.txt"]).has_error(2, "cannot read none.txt");
    instance.run(&["import", "."]).has_error(2, "cannot read .: is a directory");
    instance.run(&["import", "/dev/null"]).has_error(2, "not a file");
}

#[test]
fn many_urls_are_imported_through_a_daemon() {
    let instance = TestInstance::new("budget = \"1/day\"\n");
    let list: String =
        (0..25_000).map(|page| format!("http://h{}.invalid/{page}\n", page % 7)).collect();
    instance.write("urls.txt", &list);
    let daemon = instance.start();
    assert_eq!(instance.run(&["import", "urls.txt"]).ok().err, "added 25,000 sources\n");
    assert_eq!(instance.run(&["status", "--json"]).json()["sources"], 25_000);
    assert_eq!(daemon.stop(), Some(0));
    let again = instance.run(&["import", "urls.txt"]).ok();
    assert!(again.err.starts_with("updated 25,000 sources"), "{}", again.err);
}

#[test]
fn a_table_is_imported() {
    let instance = TestInstance::new("");
    instance.write(
        "t.csv",
        "id,importance,change_rate,min_rate,max_rate,cost\n\
         https://a.example/,3,1,2,24,5\nhttps://b.example/,1,1,,0,\n",
    );
    instance.run(&["import", "t.csv"]).ok();
    let rows = instance.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["importance"], &rows[0]["cost"]), (&3.0.into(), &5.0.into()));
    assert_eq!(rows[0]["max_interval_days"], 0.5);
    assert_eq!(rows[0]["min_interval_days"], 1.0 / 24.0);
    assert_eq!(rows[1]["paused"], true, "a source that may never be fetched is paused");
    instance.write("bad.csv", "id,change_rate\nhttps://a.example/,often\n");
    instance
        .run(&["import", "bad.csv"])
        .has_error(2, "bad.csv:2: change_rate: `often` is not a number");
    instance.write("names.csv", "id,change_rate\nhttps://c.example/,1\nhome,1\n");
    instance.run(&["import", "names.csv"]).has_error(2, "names.csv, row 2: `home` is not a URL");
    instance.run(&["import", "names.csv", "--skip-bad"]).ok();
    instance.run(&["rm", "https://c.example/"]).ok();
    instance.write("anonymous.csv", "change_rate\n1\n");
    instance.run(&["import", "anonymous.csv"]).has_error(2, "there is no column `id`");
    assert_eq!(urls(&instance).len(), 2);
}

#[test]
fn a_table_provides_initial_change_rates() {
    let instance = TestInstance::new("");
    let table = "id,change_rate,complete\n\
        https://a.example/,48,1\nhttps://b.example/,,0\nhttps://c.example/,often,0\n,1,0\n\
        https://d.example/,1,0,1\nhttps://e.example/,0.01,0\nhttps://a.example/,48,1\n";
    instance.write("t.csv", table);
    let bad = instance.run(&["import", "t.csv"]);
    bad.has_error(2, "error: t.csv:4: change_rate: `often` is not a number (and 2 more)");
    let skipped = instance.run(&["import", "t.csv", "--skip-bad"]).ok();
    assert!(skipped.err.starts_with("skipped 3 invalid entries"), "{}", skipped.err);
    assert!(skipped.err.ends_with("added 3 sources; updated 1 source\n"), "{}", skipped.err);
    let rows = instance.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["observed"], &rows[1]["observed"]), (&true.into(), &false.into()));
    let believed = |instance: &TestInstance, url: &str| {
        instance.run(&["show", url, "--json"]).json()["believed"]["changes_a_day"].as_f64().unwrap()
    };
    let often = believed(&instance, "https://a.example/");
    let (default, seldom) =
        (believed(&instance, "https://b.example/"), believed(&instance, "https://e.example/"));
    assert!(often > 4.0 * default && seldom < 0.5 * default, "{often} {default} {seldom}");

    // The daemon also uses the rates, from a table in another format.
    instance.write("t.jsonl", "{\"id\":\"http://x.invalid/\",\"change_rate\":48}\n");
    let daemon = instance.start();
    instance.run(&["import", "t.jsonl"]).ok();
    let estimate = believed(&instance, "http://x.invalid/");
    assert!(estimate > 4.0 * default, "{estimate} {default}");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn opml_is_imported() {
    let instance = TestInstance::new("");
    let opml = "<?xml version='1.0'?>\n<opml version='2.0'><head><title>x</title></head><body>\n\
        <outline text='News'><outline text='World'>\n\
        <outline type='rss' text='A' xmlUrl='https://a.example/feed?x=1&amp;y=2'/>\n\
        </outline></outline>\n<outline text='B' xmlUrl='https://b.example/'/>\n</body></opml>\n";
    instance.write("feeds.opml", opml);
    instance.run(&["import", "feeds.opml", "--folder-tags"]).ok();
    assert_eq!(urls(&instance), ["https://a.example/feed?x=1&y=2", "https://b.example/"]);
    let rows = instance.lines(&["ls", "--json"]);
    assert_eq!(rows[0]["tags"].to_string(), r#"["News","World"]"#);
    assert_eq!(rows[1]["tags"].to_string(), "[]");
    instance.write("bad.xml", opml.replace("https://b.example/", "nowhere"));
    instance.run(&["import", "bad.xml"]).has_error(2, "bad.xml:6: `nowhere` is not a URL");
    instance.write("cut.opml", &opml[..opml.len() - 20]);
    instance.run(&["import", "cut.opml"]).has_error(2, "not XML");
}

#[test]
fn sitemaps_are_imported() {
    let instance = TestInstance::new("");
    let map = "<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
        xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>\n\
        <url><loc>https://a.example/?a=1&amp;b=2</loc><lastmod>2026-01-01</lastmod>\n\
        <image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>\n\
        <url><loc>\n  https://a.example/b\n</loc></url>\n</urlset>\n";
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(map.as_bytes()).unwrap();
    instance.write("sitemap.xml.gz", packed.finish().unwrap());
    instance.run(&["import", "sitemap.xml.gz"]).ok();
    assert_eq!(urls(&instance), ["https://a.example/?a=1&b=2", "https://a.example/b"]);
    instance.write(
        "index.xml",
        "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>",
    );
    let index = instance.run(&["import", "index.xml"]);
    index.has_error(2, "is an index of sitemaps");
    index.has_error(2, "download and import its sitemaps: https://a.example/1.xml");
    instance.write("endless.xml", format!("<urlset><url><loc>{}", "x".repeat(3 << 20)));
    instance.run(&["import", "endless.xml"]).has_error(2, "a piece of more than 1048576 bytes");
    instance.write("page.xml", "<html><p>x</p></html>");
    instance.run(&["import", "page.xml"]).has_error(2, "there is no <urlset>");
}

#[test]
fn watches_of_changedetection_are_imported() {
    let instance = TestInstance::new("");
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
    instance.write("url-watches.json", watches);
    let ran = instance.run(&["import", "url-watches.json"]).ok();
    let unsupported = "https://a.example/: the filter `//div[1]` was not imported: XPath\n";
    assert!(ran.err.contains(unsupported), "{}", ran.err);
    let skipped = "skipped https://c.example/{{ now() }}: templates in URLs are not supported";
    assert!(ran.err.contains(skipped) && ran.err.contains("added 2 sources"), "{}", ran.err);
    let rows = instance.lines(&["ls", "--json"]);
    assert_eq!((&rows[0]["state"], &rows[0]["max_interval_days"]), (&"paused".into(), &1.5.into()));
    assert_eq!(rows[0]["tags"].to_string(), r#"["Shops"]"#);
    assert_eq!(rows[0]["settings"]["select"].to_string(), r##"["#price","$.price"]"##);
    assert_eq!(rows[0]["settings"]["drop"].to_string(), r#"[".ad"]"#);
    assert_eq!(rows[0]["settings"]["ignore_text"].as_array().unwrap().len(), 2);
    assert_eq!(rows[1]["tags"].to_string(), r#"["news","old"]"#);
    assert!(rows[1]["max_interval_days"].is_null() && rows[1]["settings"].is_null());
    instance.write("cut.json", &watches[..100]);
    instance.run(&["import", "cut.json"]).has_error(2, "cut.json:2: not JSON");
    instance.write("other.json", "{\"a\": 1}");
    instance.run(&["import", "other.json"]).has_error(2, "there are no watches in the file");
    instance.write("bad.json", r#"{"u1": {"url": "nowhere"}}"#);
    instance
        .run(&["import", "bad.json"])
        .has_error(2, "bad.json, watch u1: `nowhere` is not a URL");
}
