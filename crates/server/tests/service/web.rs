//! The dashboard over real sockets: who may see it, what its forms do, and that foreign text is text.

use std::fmt::Write;

use freshet_server::Scope;
use serde_json::json;

use crate::client::{Answer, Service, log};

/// Every page that needs nothing named.
const PAGES: &[&str] = &[
    "/",
    "/?span=year",
    "/what-if",
    "/sources",
    "/sources/add",
    "/changes",
    "/hosts",
    "/hosts?all=1",
    "/settings",
    "/settings/destinations/new",
];

/// Text that would do harm if it were markup.
const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'";

/// A person with a browser that keeps one cookie.
struct Browser<'a> {
    service: &'a Service,
    cookie: Option<String>,
}

impl<'a> Browser<'a> {
    fn new(service: &'a Service) -> Self {
        Self { service, cookie: None }
    }

    async fn get(&self, path: &str) -> Answer {
        let cookie = self.cookie.clone().unwrap_or_default();
        self.service.send("GET", path, &[("Cookie", &cookie)], "").await
    }

    /// Sends a form with the key of a page.
    async fn post(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let key = key(&self.get(page).await);
        self.post_with(&key, path, fields).await
    }

    async fn post_with(&self, key: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut body = format!("key={key}");
        for (name, value) in fields {
            let value: String = value.bytes().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "%{byte:02X}");
                text
            });
            let _ = write!(body, "&{name}={value}");
        }
        let cookie = self.cookie.clone().unwrap_or_default();
        let headers =
            [("Content-Type", "application/x-www-form-urlencoded"), ("Cookie", cookie.as_str())];
        self.service.send("POST", path, &headers, &body).await
    }

    async fn log_in(&mut self, token: &str) -> Answer {
        let answer = self.post("/login", "/login", &[("token", token)]).await;
        let cookie = answer.headers.get("set-cookie").and_then(|it| it.split(';').next());
        self.cookie = cookie.map(ToOwned::to_owned);
        answer
    }
}

/// The key of the forms of a page.
fn key(page: &Answer) -> String {
    let rest = page.body.split("name=\"key\" value=\"").nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Returns the page that a form redirects to.
async fn flash_text(person: &Browser<'_>, answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{answer:?}");
    person.get(&answer.headers["location"]).await.body
}

fn is_page(answer: &Answer, path: &str) {
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8", "{path}");
    let policy = &answer.headers["content-security-policy"];
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(answer.headers["x-frame-options"], "DENY");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers["cache-control"], "no-store");
    for inline in [" style=", "<style", " onclick=", " onload=", "javascript:"] {
        assert!(!answer.body.contains(inline), "{path} has {inline}");
    }
    let scripts = answer.body.matches("<script").count();
    assert_eq!(scripts, 1, "{path}");
    assert!(answer.body.contains("<title>") && answer.body.contains("</html>"), "{path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_renders_with_and_without_sources() {
    let service = Service::start().await;
    for path in PAGES {
        is_page(&service.get(path).await, path);
    }
    let empty = service.get("/").await.body;
    assert!(empty.contains("Add your first sources") && empty.contains("/sources/add"));
    let ids = service.add(&["https://a.example/a", "https://a.example/b"]).await;
    service.report_texts(ids[0], &["one\ntwo\n", "one\nthree\n"]).await;
    for path in PAGES {
        is_page(&service.get(path).await, path);
    }
    let overview = service.get("/").await.body;
    assert!(overview.contains("fresh"), "{overview}");
    let changes = service.get("/changes").await.body;
    assert!(changes.contains("https://a.example/a") && changes.contains("1 new"), "{changes}");
    assert!(service.get("/hosts?name=a.example").await.body.contains("robots.txt"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_that_cannot_be_fetched_are_reported_as_the_limit() {
    let service = Service::start().await;
    service.add(&["https://a.example/a", "https://b.example/b"]).await;
    let claim = service.claim(2).await;
    let first = claim["items"][0]["source"].as_u64().unwrap();
    let mut reports = vec![json!({ "source": first, "outcome": "gone" })];
    for item in claim["items"].as_array().unwrap().iter().skip(1) {
        reports.push(json!({ "source": item["source"], "outcome": "document",
            "content_type": "text/plain", "text": "here" }));
    }
    let body = json!({ "lease": claim["lease"], "reports": reports });
    service.send_json("POST", "/v1/reports", body).await.ok();
    if reports.len() == 1 {
        let claim = service.claim(2).await;
        let reports = json!([{ "source": claim["items"][0]["source"], "outcome": "document",
            "content_type": "text/plain", "text": "here" }]);
        let body = json!({ "lease": claim["lease"], "reports": reports });
        service.send_json("POST", "/v1/reports", body).await.ok();
    }
    let overview = service.get("/").await.body;
    assert!(overview.contains("1 of 2 sources cannot be fetched"), "{overview}");
    assert!(overview.contains("1 source is gone") && overview.contains("href=\"#needs\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_becomes_a_cookie_and_nothing_else_does() {
    let service = Service::start().await;
    let token = service.token("ops", &[Scope::Read, Scope::Write]).await;
    let mut person = Browser::new(&service);
    let answer = person.get("/sources?tag=a%26b").await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.headers["location"], "/login?next=%2Fsources%3Ftag%3Da%2526b");
    let wrong = person.log_in("freshet_wrong").await;
    assert_eq!((wrong.status, wrong.headers.contains_key("set-cookie")), (401, false));
    assert!(wrong.body.contains("Invalid token") && !wrong.body.contains("freshet_wrong"));
    let good = person.log_in(&token).await;
    assert_eq!(good.status, 303);
    let cookie = &good.headers["set-cookie"];
    for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&token));
    is_page(&person.get("/").await, "/");
    // It is for pages: the API takes tokens.
    assert_eq!(person.get("/v1/sources").await.status, 401);
    // It ends when one goes, also for whoever has copied it.
    let answer = person.post("/", "/logout", &[]).await;
    assert_eq!(answer.status, 303);
    assert_eq!(person.get("/").await.status, 303);
    // A form of an expired session asks to log in; it does not ask for a header.
    let late = person.post("/login", "/settings/budget", &[("budget", "7/day")]).await;
    assert_eq!(late.status, 401);
    assert!(late.body.contains("href=\"/login\"") && !late.body.contains("Bearer"), "{late:?}");
    assert!(!log().contains(&token));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_token() {
    let service = Service::start().await;
    let token = service.token("ops", &[Scope::Read]).await;
    service.token("other", &[Scope::Read]).await;
    let mut person = Browser::new(&service);
    person.log_in(&token).await;
    is_page(&person.get("/").await, "/");
    service.daemon.handle().remove_token("ops".to_owned()).await.unwrap();
    assert_eq!(person.get("/").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_tokens_is_slowed_down() {
    let service = Service::start().await;
    service.token("ops", &[Scope::Read]).await;
    let mut person = Browser::new(&service);
    for _ in 0..10 {
        assert_eq!(person.log_in("freshet_no").await.status, 401);
    }
    let answer = person.log_in("freshet_no").await;
    assert_eq!(answer.status, 429);
    assert!(answer.headers.contains_key("retry-after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_changes_nothing() {
    let service = Service::start().await;
    let token = service.token("reader", &[Scope::Read]).await;
    let mut person = Browser::new(&service);
    person.log_in(&token).await;
    for path in PAGES {
        is_page(&person.get(path).await, path);
    }
    // No action is offered that would be refused.
    for path in PAGES {
        let page = person.get(path).await.body;
        for link in ["class=\"button primary\" href", "name=\"reset\"", "data-preview"] {
            assert!(!page.contains(link), "{path} has {link}");
        }
        let (_, main) = page.split_once("<main").unwrap();
        for form in main.split("method=\"post\"").skip(1) {
            let form = form.split("</form>").next().unwrap();
            let buttons = form.matches("<button").count();
            assert_eq!(form.matches("disabled").count(), buttons, "{path}: {form}");
        }
    }
    let answer = person.post("/", "/what-if", &[("budget", "5")]).await;
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("Not allowed"), "{}", answer.body);
    let answer = person.post("/", "/settings/tokens", &[("name", "x"), ("scope", "read")]).await;
    assert_eq!(answer.status, 403);
    let settings = service.daemon.handle().effective_settings().await.unwrap();
    assert_eq!(settings.overrides.budget, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_its_key_or_from_another_origin_is_refused() {
    let service = Service::start().await;
    let person = Browser::new(&service);
    let good = key(&person.get("/settings").await);
    let fields = [("budget", "7/day")];
    for bad in ["", "0", "ffffffffffffffffffffffffffffffff"] {
        assert_eq!(person.post_with(bad, "/settings/budget", &fields).await.status, 403);
    }
    // With the key, but from another origin.
    let body = format!("key={good}&budget=7/day");
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    for header in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let answer = service.send("POST", "/settings/budget", &[form, header], &body).await;
        assert_eq!(answer.status, 403, "{header:?}");
    }
    let json = service.send_json("POST", "/settings/budget", json!({ "key": good })).await;
    assert_eq!(json.status, 415);
    let handle = service.daemon.handle();
    assert_eq!(handle.effective_settings().await.unwrap().overrides.budget, None);
    let answer = person.post_with(&good, "/settings/budget", &fields).await;
    assert!(flash_text(&person, &answer).await.contains("Budget set to 7/day."));
    assert_eq!(
        handle.effective_settings().await.unwrap().overrides.budget.as_deref(),
        Some("7/day")
    );
    for (name, value, message) in
        [("budget", "lots", "Budget not changed"), ("objective", "luck", "Objective not changed")]
    {
        let path = format!("/settings/{name}");
        let answer = person.post("/settings", &path, &[(name, value)]).await;
        assert!(flash_text(&person, &answer).await.contains(message), "{name}");
    }
    // A form without a value does not reset the setting.
    assert_eq!(person.post("/settings", "/settings/objective", &[]).await.status, 400);
    assert_eq!(
        handle.effective_settings().await.unwrap().overrides.budget.as_deref(),
        Some("7/day")
    );
    let answer = person.post("/settings", "/settings/budget", &[("reset", "1")]).await;
    assert_eq!(answer.status, 303);
    assert_eq!(handle.effective_settings().await.unwrap().overrides.budget, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_key_is_bound_to_its_session() {
    let service = Service::start().await;
    let token = service.token("ops", &[Scope::Read, Scope::Write]).await;
    let mut people = [Browser::new(&service), Browser::new(&service)];
    for person in &mut people {
        person.log_in(&token).await;
    }
    let [one, other] = people;
    let stolen = key(&other.get("/settings").await);
    let answer = one.post_with(&stolen, "/settings/budget", &[("budget", "7/day")]).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_page_previews_and_sets_a_budget() {
    let service = Service::start().await;
    let ids = service.add(&["https://a.example/a", "https://a.example/b"]).await;
    service.report_texts(ids[0], &["one", "two", "three"]).await;
    let person = Browser::new(&service);
    // The exact value entered is the one that would be set.
    let page = person.get("/what-if?budget=123456").await;
    assert!(page.body.contains("id=\"apply-budget\" value=\"123456\""), "{}", page.body);
    let page = person.get("/what-if?budget=1,500&goal=90").await;
    is_page(&page, "/what-if");
    assert!(page.body.contains("1,500 per day") && page.body.contains("90%"), "{}", page.body);
    for (query, message) in [("budget=lots", "not a number"), ("goal=120", "between 0 and 100")] {
        let page = person.get(&format!("/what-if?{query}")).await;
        assert!(page.body.contains(message), "{query}");
    }
    let answer = person.post("/what-if", "/what-if", &[("budget", "1500")]).await;
    assert!(flash_text(&person, &answer).await.contains("Budget set to 1,500 fetches per day"));
    let settings = service.daemon.handle().effective_settings().await.unwrap();
    assert_eq!(settings.budget, "1500/day");
    // With a budget of 0, one fetch per source and day is suggested.
    person.post("/settings", "/settings/budget", &[("budget", "0")]).await;
    let page = person.get("/what-if").await.body;
    assert!(page.contains("id=\"apply-budget\" value=\"2\"") && !page.contains("× 10"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_marked_as_read_are_not_new() {
    let service = Service::start().await;
    let ids = service.add(&["https://a.example/a"]).await;
    service.report_texts(ids[0], &["one", "two"]).await;
    let person = Browser::new(&service);
    assert!(person.get("/changes").await.body.contains("class=\"unread\""));
    // Future changes cannot be marked as read.
    let answer = person.post("/changes", "/changes/read", &[("until", "999999")]).await;
    assert!(!flash_text(&person, &answer).await.contains("class=\"unread\""));
    service.report_texts(ids[0], &["three"]).await;
    assert_eq!(person.get("/changes").await.body.matches("class=\"unread\"").count(), 1);
    // Changes of a removed source stay in the log, without a link.
    assert!(person.get("/changes").await.body.contains("href=\"/sources/"));
    let gone = service.send("DELETE", &format!("/v1/sources/{}", ids[0]), &[], "").await;
    assert!(gone.status < 300, "{gone:?}");
    let log = person.get("/changes").await.body;
    assert!(log.contains("source removed") && !log.contains("href=\"/sources/"), "{log}");
    let none = person.get("/changes?tag=nobody").await;
    assert!(none.body.contains("No changes match"));
    assert!(person.get("/changes?importance=x").await.body.contains("not a number"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_added_tested_paused_and_removed() {
    let service = Service::start().await;
    let person = Browser::new(&service);
    let page = "/settings/destinations/new";
    let wrong = [("name", "a b"), ("way", "webhook"), ("webhook", "https://shop.example/h")];
    let answer = person.post(page, page, &wrong).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("https://shop.example/h"), "the form keeps the submitted values");
    let right = [
        ("name", "shop"),
        ("way", "webhook"),
        ("webhook", "http://127.0.0.1:1/hook"),
        ("tag", HOSTILE),
        ("kind", "changed"),
        ("digest", "1h"),
    ];
    let answer = person.post(page, page, &right).await;
    let shown = flash_text(&person, &answer).await;
    assert!(shown.contains("whsec_") && shown.contains("Notification shop added"), "{shown}");
    let place = answer.headers["location"].split('?').next().unwrap().to_owned();
    // Neither the secret nor the message is shown again.
    let again = person.get(&answer.headers["location"]).await.body;
    assert!(!again.contains("whsec_") && !again.contains("<script>alert"), "{again}");
    let tested = person.post(&place, &format!("{place}/test"), &[]).await;
    assert!(flash_text(&person, &tested).await.contains("Test not delivered"));
    for (action, fields, message) in [
        ("pause", vec![("paused", "1")], "Paused. Changes are sent"),
        ("pause", vec![("paused", "0")], "Resumed. Changes found"),
        ("rotate", vec![], "whsec_"),
        ("remove", vec![("name", "other")], "the name does not match"),
        ("remove", vec![("name", "shop")], "Notification shop removed"),
    ] {
        let answer = person.post(&place, &format!("{place}/{action}"), &fields).await;
        assert!(flash_text(&person, &answer).await.contains(message), "{action}");
    }
    assert_eq!(person.get(&place).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_creates_and_removes_tokens() {
    let service = Service::start().await;
    let token = service.token("root", &[Scope::Admin]).await;
    let mut person = Browser::new(&service);
    person.log_in(&token).await;
    let fields = [("name", HOSTILE.trim_end_matches('\'')), ("scope", "read")];
    // A name cannot have `/`.
    let answer = person.post("/settings", "/settings/tokens", &fields).await;
    assert_eq!(answer.status, 400);
    let fields = [("name", "<b>reader</b>".trim_end_matches("/b>")), ("scope", "read")];
    let answer = person.post("/settings", "/settings/tokens", &fields).await;
    let shown = flash_text(&person, &answer).await;
    assert!(shown.contains("freshet_") && !shown.contains("<b>reader"), "{shown}");
    let removed = person.post("/settings", "/settings/tokens/remove", &[("name", "root")]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(person.get("/settings").await.status, 303, "it ended its own session");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_text_is_escaped_on_every_page() {
    let service = Service::start().await;
    let person = Browser::new(&service);
    let url = "https://a.example/?q=%22%3E%3Cscript%3E'\"<script>alert(1)</script>";
    let body = json!({ "sources": [{ "url": url, "tags": [HOSTILE] }] });
    let items = service.send_json("PUT", "/v1/sources", body).await.ok();
    let id = items["items"][0]["id"].as_u64().unwrap();
    let texts = [HOSTILE.to_owned(), format!("{HOSTILE} more\n</pre><svg onload=alert(3)>")];
    service.report_texts(id, &[&texts[0], &texts[1]]).await;
    let encoded: String = HOSTILE.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "%{byte:02X}");
        text
    });
    let mut pages: Vec<String> = PAGES.iter().map(|&it| it.to_owned()).collect();
    for path in ["/changes?tag=", "/changes?url=", "/changes?importance=", "/hosts?name="] {
        pages.push(format!("{path}{encoded}"));
    }
    for path in ["/what-if?budget=", "/what-if?goal=", "/login?next=", "/?span=", "/?flash="] {
        pages.push(format!("{path}{encoded}"));
    }
    for path in ["/sources?text=", "/sources?tag=", "/sources?host=", "/sources?sort="] {
        pages.push(format!("{path}{encoded}"));
    }
    pages
        .push(format!("/settings/destinations/new?name={encoded}&webhook={encoded}&tag={encoded}"));
    pages.push(format!("/{encoded}"));
    for path in ["", "/diff", "/diff?view=side", "/edit"] {
        pages.push(format!("/sources/{id}{path}"));
    }
    for path in &pages {
        let answer = person.get(path).await;
        assert!(answer.status < 500, "{path}: {answer:?}");
        for bad in ["<script>alert", "<img src=x", "<svg onload", "onerror=alert(2)>"] {
            assert!(!answer.body.contains(bad), "{path} has {bad}: {}", answer.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_pages_on_the_dashboard_and_problems_in_the_api() {
    let service = Service::start().await;
    let here = service.get("/nowhere").await;
    assert_eq!(here.status, 404);
    assert_eq!(here.headers["content-type"], "text/html; charset=utf-8");
    assert!(here.body.contains("Not found"));
    service.get("/v1/nowhere").await.assert_problem(404, None);
    assert_eq!(service.get("/sources/999").await.status, 404);
    assert_eq!(service.get("/assets/../web.rs").await.status, 404);
    assert_eq!(service.get("/assets/%2e%2e%2fCargo.toml").await.status, 404);
    let wrong = service.send("DELETE", "/what-if", &[], "").await;
    assert_eq!(wrong.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_load_only_own_resources() {
    let service = Service::start().await;
    for path in PAGES {
        let page = service.get(path).await.body;
        let mut links = page.split(" src=\"").skip(1).chain(page.split("<link ").skip(1));
        assert!(links.all(|it| !it.split('>').next().unwrap().contains("//")), "{path}");
    }
    let page = service.get("/").await.body;
    let style = page.split("stylesheet\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let answer = service.get(style).await;
    assert_eq!(answer.headers["content-type"], "text/css; charset=utf-8");
    assert!(answer.headers["cache-control"].contains("immutable"));
    assert!(!answer.body.contains("url(") && !answer.body.contains("@import"));
}
