//! The list of sources: search, sorting, bulk edits and imports.

use serde_json::{Value, json};

use crate::client::{Answer, Service};

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let at = text.find(from).unwrap_or_else(|| panic!("no {from} in {text}")) + from.len();
    &text[at..at + text[at..].find(to).unwrap()]
}

/// Returns the URLs of the rows of a page, in order.
fn rows(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let cells = answer.body.split("<td class=\"url\">").skip(1);
    cells.map(|cell| between(cell, "title=\"", "\"").to_owned()).collect()
}

fn form(fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

/// Returns the target of the link with a text.
fn link(answer: &Answer, text: &str) -> Option<String> {
    let end = answer.body.find(&format!("\">{text}</a>"))?;
    let start = answer.body[..end].rfind("href=\"")? + 6;
    Some(answer.body[start..end].replace("&#38;", "&").replace("&amp;", "&"))
}

impl Service {
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let key = self.get("/sources/add").await.body;
        let mut fields = fields.to_vec();
        let key = between(&key, "name=\"key\" value=\"", "\"");
        fields.push(("key", key));
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &kind, &form(&fields)).await
    }

    /// Submits a form and returns the page it redirects to.
    async fn post_on(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post(path, fields).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        self.get(&answer.headers["location"]).await
    }

    async fn put(&self, sources: Value) {
        let answer = self.send_json("PUT", "/v1/sources", json!({ "sources": sources })).await.ok();
        assert_eq!(answer["refused"], 0, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_empty_page_explains_how_to_add_sources() {
    let service = Service::start().await;
    let page = service.get("/sources").await;
    assert!(page.body.contains("No sources yet"), "{}", page.body);
    assert!(page.body.contains("href=\"/sources/add\""));
    let page = service.get("/sources/add").await;
    assert!(page.body.contains("<textarea"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_are_sorted_and_paged() {
    let service = Service::start().await;
    let all = (0..120).map(|n| {
        json!({ "url": format!("https://a.example/{n:03}"), "importance": (n * 7) % 120,
            "change_rate": 1.0 + f64::from((n * 11) % 120) })
    });
    service.put(all.collect()).await;
    for (sort, key) in [("importance", 7), ("belief", 11)] {
        let mut expect: Vec<u32> = (0..120).collect();
        expect.sort_by_key(|n| (n * key) % 120);
        let expect: Vec<String> =
            expect.iter().map(|n| format!("https://a.example/{n:03}")).collect();
        let (mut found, mut next) = (Vec::new(), Some(format!("/sources?sort={sort}")));
        while let Some(path) = next {
            let page = service.get(&path).await;
            let head = "aria-sort=\"ascending\"";
            assert_eq!(page.body.matches(head).count(), 1);
            found.extend(rows(&page));
            next = link(&page, "Next page");
        }
        assert_eq!(found, expect, "by {sort}");
        let down = rows(&service.get(&format!("/sources?sort=-{sort}")).await);
        assert!(expect.iter().rev().take(50).eq(&down), "by -{sort}: {down:?}");
    }
    for sort in ["next", "-value"] {
        assert_eq!(rows(&service.get(&format!("/sources?sort={sort}")).await).len(), 50);
    }
    for bad in ["sort=luck", "state=odd", "at=x", "at=1.q"] {
        let page = service.get(&format!("/sources?{bad}")).await;
        assert_eq!(page.status, 400, "{bad}");
        assert!(page.headers["content-type"].starts_with("text/html"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_narrow_the_list_and_can_be_combined() {
    let service = Service::start().await;
    let all = (0..40).map(|n| {
        json!({
            "url": format!("https://h{}.example/page/{n}", n % 4),
            "tags": if n % 5 == 0 { vec!["five"] } else { vec![] },
            "paused": n % 10 == 0,
        })
    });
    service.put(all.collect()).await;
    let count = async |query: &str| {
        let page = service.get(&format!("/sources?{query}")).await;
        let heading = between(&page.body, "<strong>", "</strong>");
        let rows = rows(&page).len();
        let noun = if rows == 1 { "matching source" } else { "matching sources" };
        assert_eq!(heading, format!("{rows} {noun}"), "{query}");
        rows
    };
    assert_eq!(count("host=h1.example").await, 10);
    assert_eq!(count("host=H1.example").await, 10);
    assert_eq!(count("tag=five").await, 8);
    assert_eq!(count("tag=five&host=h0.example").await, 2);
    assert_eq!(count("state=paused").await, 4);
    assert_eq!(count("state=new").await, 40);
    assert_eq!(count("state=new&tag=five").await, 8);
    assert_eq!(count("text=page/3").await, 11);
    assert_eq!(count("text=page/3&state=paused").await, 1);
    for nothing in ["state=gone", "state=good", "host=nobody.example", "tag=none", "text=zzz"] {
        let page = service.get(&format!("/sources?{nothing}")).await;
        assert!(page.body.contains("No sources match"), "{nothing}: {}", page.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_edit_changes_the_selected_sources() {
    let service = Service::start().await;
    let all = (0..60).map(|n| json!({ "url": format!("https://h{}.example/{n}", n % 2) }));
    service.put(all.collect()).await;
    let source = async |id: u32| service.get(&format!("/v1/sources/{id}")).await.ok();
    let expect_message = async |fields: &[(&str, &str)], text: &str| {
        let page = service.post_on("/sources/edit", fields).await;
        assert!(page.body.contains(text), "{text}: {}", page.body);
    };
    expect_message(&[("action", "pause")], "no source is selected").await;
    expect_message(&[("action", "pause"), ("id", "0"), ("id", "3")], "Paused 2 sources.").await;
    assert_eq!(
        (source(0).await["paused"].as_bool(), source(1).await["paused"].as_bool()),
        (Some(true), Some(false))
    );
    expect_message(&[("action", "resume"), ("id", "0")], "Resumed 1 source.").await;
    let whole = [("whole", "1"), ("host", "h1.example"), ("id", "0")];
    expect_message(
        &[&whole[..], &[("action", "importance"), ("importance", "2.5")]].concat(),
        "Updated 30 sources.",
    )
    .await;
    assert_eq!(
        (source(1).await["importance"].as_f64(), source(0).await["importance"].as_f64()),
        (Some(2.5), Some(1.0))
    );
    expect_message(&[("action", "tag"), ("name", "new"), ("id", "0"), ("id", "1")], "Updated 2")
        .await;
    expect_message(&[("action", "tag"), ("name", "more"), ("id", "1"), ("id", "2")], "Updated 2")
        .await;
    expect_message(&[("action", "untag"), ("name", "new"), ("id", "1"), ("id", "2")], "Updated 1 ")
        .await;
    let tags = [source(0).await, source(1).await, source(2).await].map(|it| it["tags"].clone());
    assert_eq!(tags, [json!(["new"]), json!(["more"]), json!(["more"])]);
    let intervals = [("action", "intervals"), ("shortest", "1h"), ("longest", "none"), ("id", "5")];
    expect_message(&intervals, "Updated 1 source.").await;
    assert_eq!(source(5).await["min_interval"].as_f64(), Some(3600.0));
    for (fields, why) in [
        ([("action", "importance"), ("importance", "much"), ("id", "1")], "is not a number"),
        ([("action", "intervals"), ("shortest", "soon"), ("id", "1")], "is not a duration"),
        ([("action", "intervals"), ("shortest", ""), ("id", "1")], "no interval entered"),
        ([("action", "tag"), ("name", ""), ("id", "1")], "no tag entered"),
        ([("action", "dance"), ("name", ""), ("id", "1")], "unknown action"),
    ] {
        expect_message(&fields, why).await;
    }
    let elsewhere = [("action", "pause"), ("id", "1"), ("back", "https://evil.example/")];
    let answer = service.post("/sources/edit", &elsewhere).await;
    assert!(answer.headers["location"].starts_with("/sources?flash="));
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_sources_requires_confirmation() {
    let service = Service::start().await;
    let all = (0..60).map(|n| json!({ "url": format!("https://h{}.example/{n}", n % 2) }));
    service.put(all.collect()).await;
    let fields = [("action", "remove"), ("id", "4"), ("id", "6")];
    let page = service.post("/sources/edit", &fields).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Remove 2 sources?") && page.body.contains("h0.example/4"));
    assert_eq!(service.get("/v1/sources/4").await.status, 200);
    let page = service.post_on("/sources/remove", &fields[1..]).await;
    assert!(page.body.contains("Removed 2 sources.") && page.body.contains(">58 sources<"));
    assert_eq!(service.get("/v1/sources/4").await.status, 404);
    let whole = [("whole", "1"), ("host", "h1.example"), ("action", "remove")];
    let page = service.post("/sources/edit", &whole).await;
    assert!(page.body.contains("Remove 30 sources?"));
    assert!(page.body.contains("name=\"host\" value=\"h1.example\""));
    let page = service.post_on("/sources/remove", &whole[..2]).await;
    assert!(page.body.contains("Removed 30 sources."));
    let page = service.post_on("/sources/remove", &[]).await;
    assert!(page.body.contains("no source is selected") && page.body.contains(">28 sources<"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paste_is_previewed_and_then_added() {
    let service = Service::start().await;
    service.put(json!([{ "url": "https://a.example/1", "importance": 3.0 }])).await;
    let text = "https://a.example/1\n# mine\nhttps://a.example/2\nnonsense\nHTTPS://A.example/2\n\
        https://b.example/\nftp://c.example/\n";
    let fields = [("text", text), ("importance", "2"), ("tags", "x, y"), ("folders", "1")];
    let page = service.post("/sources/preview", &fields).await;
    assert_eq!(page.status, 200, "{}", page.body);
    for expect in [
        "Add 2 sources?",
        "Format: URLs",
        "1 URL is already a source",
        "1 duplicate skipped",
        "2 invalid lines",
        "<td class=\"number\">4</td><td class=\"wrap\"><code>nonsense</code>",
        "At the current budget, the new sources take ",
        "<th scope=\"row\">Mean age</th>",
    ] {
        assert!(page.body.contains(expect), "{expect}: {}", page.body);
    }
    assert_eq!(service.get("/v1/sources").await.ok()["items"].as_array().unwrap().len(), 1);
    let paste = between(&page.body, "name=\"paste\" value=\"", "\"").to_owned();
    let again = [("paste", &*paste), ("importance", "many")];
    let page = service.post("/sources/preview", &again).await;
    assert!(page.body.contains("is not a number") && page.body.contains("nonsense"));
    let add = [("paste", &*paste), ("importance", "2"), ("tags", "x, y")];
    let page = service.post_on("/sources/add", &add).await;
    assert!(page.body.contains("Added 2 sources.") && page.body.contains(">3 sources<"));
    let sources = service.get("/v1/sources").await.ok();
    assert_eq!(sources["items"][0]["importance"], 3.0);
    assert_eq!(
        (&sources["items"][1]["importance"], &sources["items"][1]["tags"]),
        (&json!(2.0), &json!(["x", "y"]))
    );
    // A second submission adds nothing.
    let page = service.post_on("/sources/add", &add).await;
    assert!(page.body.contains("the pasted list has expired"));
    let page = service.post("/sources/preview", &[("text", text)]).await;
    assert!(page.body.contains("Nothing to add"));
    let page = service.post("/sources/preview", &[("text", "  ")]).await;
    assert!(page.body.contains("Paste at least one URL."));
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_and_sitemaps_can_be_pasted() {
    let service = Service::start().await;
    let opml = "<opml><body><outline text='News'><outline xmlUrl='https://a.example/feed'/>\
        </outline></body></opml>";
    let page = service.post("/sources/preview", &[("text", opml), ("folders", "1")]).await;
    assert!(
        page.body.contains("Format: OPML") && page.body.contains("There are no existing sources")
    );
    let paste = between(&page.body, "name=\"paste\" value=\"", "\"").to_owned();
    service.post_on("/sources/add", &[("paste", &*paste), ("folders", "1")]).await;
    assert_eq!(service.get("/v1/sources/0").await.ok()["tags"], json!(["News"]));
    let map = "<urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a.exa";
    let page = service.post("/sources/preview", &[("text", map)]).await;
    assert!(page.body.contains("Add 1 source?") && page.body.contains("Not everything was read"));
    let index =
        "<sitemapindex><sitemap><loc>https://a.example/m.xml</loc></sitemap></sitemapindex>";
    let page = service.post("/sources/preview", &[("text", index)]).await;
    assert!(page.body.contains("paste the content of https://a.example/m.xml"), "{}", page.body);
    let many: String = (0..100_001).map(|n| format!("https://a.example/p{n}\n")).collect();
    let page = service.post("/sources/preview", &[("text", &many)]).await;
    assert!(page.body.contains("Add 100,000 sources?") && page.body.contains("freshet import"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_is_escaped() {
    let service = Service::start().await;
    let bad = "\"><script>alert(1)</script>";
    let url = format!("https://a.example/?{bad}'");
    service.put(json!([{ "url": url, "tags": [bad] }])).await;
    let encoded: String = form_urlencoded::byte_serialize(bad.as_bytes()).collect();
    let mut pages = Vec::new();
    for path in ["/sources", "/sources?tag=X", "/sources?text=X", "/sources?host=X"] {
        pages.push(service.get(&path.replace('X', &encoded)).await);
    }
    let remove = [("action", "remove"), ("id", "0"), ("back", "/sources?\"><script>")];
    pages.push(service.post("/sources/edit", &remove).await);
    let whole = [("action", "remove"), ("whole", "1"), ("tag", bad)];
    pages.push(service.post("/sources/edit", &whole).await);
    let paste = format!("https://a.example/{bad}\n{bad}\n{url}");
    let fields = [("text", paste.as_str()), ("tags", bad), ("importance", "1")];
    pages.push(service.post("/sources/preview", &fields).await);
    let fields = [("text", paste.as_str()), ("tags", bad), ("importance", bad)];
    pages.push(service.post("/sources/preview", &fields).await);
    let edit = [("action", "importance"), ("importance", bad), ("id", "0")];
    pages.push(service.post_on("/sources/edit", &edit).await);
    for page in pages {
        assert_eq!(page.status, 200);
        assert!(!page.body.contains("<script>"), "{}", page.body);
        assert!(!page.body.contains("alert(1)</script"), "{}", page.body);
        assert!(page.headers["content-security-policy"].contains("default-src 'none'"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_without_the_key_change_nothing() {
    let service = Service::start().await;
    service.put(json!([{ "url": "https://a.example/" }])).await;
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    for path in ["/sources/edit", "/sources/remove", "/sources/preview", "/sources/add"] {
        for key in ["", "key=0123456789abcdef0123456789abcdef"] {
            let body = format!("id=0&action=pause&text=https://b.example/&{key}");
            let answer = service.send("POST", path, &kind, &body).await;
            assert_eq!(answer.status, 403, "{path} {key}");
        }
    }
    let source = service.get("/v1/sources/0").await.ok();
    assert_eq!(source["paused"], false);
    let token = service.token("reader", &[freshet_server::Scope::Read]).await;
    let auth = format!("Bearer {token}");
    let page = service.send("GET", "/sources", &[("Authorization", &auth)], "").await;
    if page.status == 200 {
        assert!(!page.body.contains("name=\"action\""), "{}", page.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_tags_shown_is_limited() {
    let service = Service::start().await;
    let tags: Vec<String> = (10..30).map(|it| format!("tag{it}")).collect();
    service.put(json!([{ "url": "https://a.example/", "tags": tags }])).await;
    let page = service.get("/sources").await.body;
    assert_eq!(page.matches("class=\"tag\"").count(), 8, "{page}");
    assert!(page.contains("and 12 more"), "{page}");
}
