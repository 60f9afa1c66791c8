//! The page of a source, over real sockets.

use serde_json::json;

use crate::client::{Answer, Service};

const HOSTILE: &str = "https://a.example/page?q=<script>alert(1)</script>&r=\"'";

/// Submits a form with the key of its page.
async fn send(service: &Service, page: &str, to: &str, fields: &[(&str, &str)]) -> Answer {
    let shown = service.get(page).await;
    let (_, rest) = shown.body.split_once("name=\"key\" value=\"").unwrap();
    let key = rest.split('"').next().unwrap().to_owned();
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.append_pair("key", &key);
    body.extend_pairs(fields);
    post(service, to, &body.finish()).await
}

async fn post(service: &Service, to: &str, body: &str) -> Answer {
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    service.send("POST", to, &kind, body).await
}

/// Asserts that no foreign text became markup.
#[track_caller]
fn assert_escaped(answer: &Answer) {
    assert_eq!(answer.status, 200, "{answer:?}");
    for bad in ["<script>alert", "<b>bold", "<img src=x", "javascript:", "onerror=alert(1)>"] {
        assert!(!answer.body.contains(bad), "{bad} in {}", answer.body);
    }
    let policy = &answer.headers["content-security-policy"];
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
}

async fn with_versions() -> Service {
    let service = Service::start().await;
    let sources = json!({ "sources": [{ "url": HOSTILE, "tags": ["<b>bold</b>", "news"],
        "importance": 2.5 }] });
    service.send_json("PUT", "/v1/sources", sources).await.ok();
    let lines: Vec<String> = (0..40).map(|at| format!("line {at} stays as it is")).collect();
    let old = format!("{}\nthe price is 49 today <img src=x onerror=alert(1)>\n", lines.join("\n"));
    let new = format!("{}\nnow with <script>alert(2)</script>", old.replace("49", "59"));
    service.report_texts(0, &[&old, &new]).await;
    service
}

#[tokio::test(flavor = "multi_thread")]
async fn the_source_page_shows_next_fetch_estimate_and_history() {
    let service = with_versions().await;
    let page = service.get("/sources/0").await;
    assert_escaped(&page);
    let has = |text: &str| assert!(page.body.contains(text), "{text} is not in {}", page.body);
    // Escaped by number or by name.
    has("alert(1)");
    has("importance 2.5");
    has("rel=\"noreferrer noopener\"");
    has("Next fetch");
    has("<h2>Value of a fetch</h2>");
    has("95% credible interval: every ");
    has("first fetch");
    has("<span class=\"state good\">changed</span>");
    has("href=\"/raw/0/2\"");
    has("/sources/0/diff?from=1&#38;to=2");
    assert_eq!(service.get("/sources/7").await.status, 404);
    assert_eq!(service.get("/sources/x").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_plain_text_in_a_sandbox() {
    let service = with_versions().await;
    let raw = service.get("/raw/0/2").await;
    assert_eq!(raw.status, 200);
    assert!(raw.body.contains("<script>alert(2)</script>"));
    assert_eq!(raw.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(raw.headers["x-content-type-options"], "nosniff");
    assert!(raw.headers["content-security-policy"].starts_with("sandbox;"));
    assert_eq!(service.get("/raw/0/9").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn diffs_are_shown_inline_and_side_by_side() {
    let service = with_versions().await;
    let inline = service.get("/sources/0/diff?from=1&to=2").await;
    assert_escaped(&inline);
    for text in ["<del>49</del>", "<ins>59</ins>", "37 unchanged lines", "href=\"#change-1\""] {
        assert!(inline.body.contains(text), "{text} is not in {}", inline.body);
    }
    assert!(inline.body.contains("id=\"change-1\""));
    let side = service.get("/sources/0/diff?view=side&all=1").await;
    assert_escaped(&side);
    assert!(
        side.body.contains("<table class=\"diff side\">")
            && !side.body.contains("class=\"folded\"")
    );
    let same = service.get("/sources/0/diff?from=2&to=2").await;
    assert!(same.body.contains("No differences"), "{}", same.body);
    assert_eq!(service.get("/sources/0/diff?from=9&to=2").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn change_detection_is_previewed_before_it_is_saved() {
    let service = with_versions().await;
    let tune = "/sources/0/tune";
    let shown = service.get(tune).await;
    assert_escaped(&shown);
    assert!(shown.body.contains(">change, "), "{}", shown.body);
    let preview =
        send(&service, tune, tune, &[("ignore_text", "price.*"), ("do", "preview")]).await;
    assert_escaped(&preview);
    assert!(!preview.body.contains("the price is 59"), "{}", preview.body);
    let source = service.get("/v1/sources/0").await.ok();
    assert_eq!(source["detect"], json!(null), "a preview saves nothing");

    let wrong =
        [("select", "p["), ("ignore_text", "<img src=x onerror=alert(1)>("), ("do", "save")];
    let wrong = send(&service, tune, tune, &wrong).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("line 1: "), "{}", wrong.body);
    assert!(wrong.body.contains("aria-invalid=\"true\"") && !wrong.body.contains("<img src=x"));

    let half = send(&service, tune, tune, &[("select", "p["), ("do", "preview")]).await;
    assert_eq!(half.status, 200, "an invalid preview is not an error");
    assert!(half.body.contains("line 1: "), "{}", half.body);

    let good = [("keep_text", "price"), ("ignore", "case"), ("below", "5 %"), ("do", "save")];
    let saved = send(&service, tune, tune, &good).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let source = service.get("/v1/sources/0").await.ok();
    assert_eq!(
        source["detect"],
        json!({ "keep_text": ["price"], "ignore": ["case"], "below": 0.05 })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_saved_and_errors_shown_at_their_field() {
    let service = with_versions().await;
    let page = "/sources/0";
    let wrong = [("importance", "much<script>alert(1)</script>"), ("tags", "a\nb")];
    let wrong = send(&service, page, page, &wrong).await;
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("id=\"importance-error\"") && wrong.body.contains("is not a number")
    );
    assert!(!wrong.body.contains("<script>alert"));
    for (field, value) in [("min_interval", "soon"), ("objective", "beauty"), ("cost", "-1")] {
        let refused = send(&service, page, page, &[(field, value)]).await;
        assert_eq!(refused.status, 400, "{field}");
        assert!(refused.body.contains("aria-invalid=\"true\""), "{}", refused.body);
    }
    let good = [
        ("importance", "4"),
        ("cost", "2"),
        ("max_interval", "2d"),
        ("tags", "a\n b \n"),
        ("objective", "age"),
        ("paused", "on"),
    ];
    assert_eq!(send(&service, page, page, &good).await.status, 303);
    let source = service.get("/v1/sources/0").await.ok();
    assert_eq!((&source["importance"], &source["cost"]), (&json!(4.0), &json!(2.0)));
    assert_eq!((&source["tags"], &source["paused"]), (&json!(["a", "b"]), &json!(true)));
    assert_eq!((&source["max_interval"], &source["objective"]), (&json!(172_800.0), &json!("age")));
    assert!(service.get(page).await.body.contains("Paused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_without_the_key_change_nothing() {
    let service = with_versions().await;
    for (to, body) in [
        ("/sources/0", "importance=9"),
        ("/sources/0/check", "x=1"),
        ("/sources/0/tune", "do=save&keep_text=x"),
        ("/sources/0/remove", "key=0123456789abcdef0123456789abcdef"),
    ] {
        let refused = post(&service, to, body).await;
        assert_eq!(refused.status, 403, "{to}: {refused:?}");
    }
    let source = service.get("/v1/sources/0").await.ok();
    assert_eq!((&source["importance"], &source["detect"]), (&json!(2.5), &json!(null)));
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_source_requires_confirmation() {
    let service = with_versions().await;
    let asked = service.get("/sources/0/remove").await;
    assert_escaped(&asked);
    assert!(asked.body.contains("Remove this source?") && asked.body.contains("2 versions"));
    service.get("/v1/sources/0").await.ok();
    let removed = send(&service, "/sources/0/remove", "/sources/0/remove", &[]).await;
    assert_eq!(removed.status, 303, "{removed:?}");
    service.get("/v1/sources/0").await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_versions_are_listed() {
    let service = Service::start_with("[keep]\nversions = 30", |_| {}).await;
    let id = service.add(&["https://a.example/a"]).await[0];
    let texts: Vec<String> = (1..=23).map(|it| format!("text {it}")).collect();
    service.report_texts(id, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let count = |page: &Answer| page.body.matches("aria-label=\"Text of version").count();
    let page = service.get(&format!("/sources/{id}")).await;
    assert_eq!(count(&page), 20, "{}", page.body);
    assert!(page.body.contains("?versions=23#versions\">Show 3 more</a>"), "{}", page.body);
    assert_eq!(count(&service.get(&format!("/sources/{id}?versions=23")).await), 23);
}
