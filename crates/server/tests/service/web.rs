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
struct Person<'a> {
    service: &'a Service,
    cookie: Option<String>,
}

impl<'a> Person<'a> {
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

/// What is told on the page that a form leads to.
async fn told(person: &Person<'_>, answer: &Answer) -> String {
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
async fn every_page_is_there_with_and_without_sources() {
    let service = Service::start().await;
    for path in PAGES {
        is_page(&service.get(path).await, path);
    }
    let empty = service.get("/").await.body;
    assert!(empty.contains("Nothing to keep fresh yet") && empty.contains("/sources/add"));
    let ids = service.add(&["https://a.example/a", "https://a.example/b"]).await;
    service.serve_texts(ids[0], &["one\ntwo\n", "one\nthree\n"]).await;
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
async fn what_cannot_be_fetched_is_what_limits() {
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
    service.ask("POST", "/v1/reports", body).await.ok();
    if reports.len() == 1 {
        let claim = service.claim(2).await;
        let reports = json!([{ "source": claim["items"][0]["source"], "outcome": "document",
            "content_type": "text/plain", "text": "here" }]);
        let body = json!({ "lease": claim["lease"], "reports": reports });
        service.ask("POST", "/v1/reports", body).await.ok();
    }
    let overview = service.get("/").await.body;
    assert!(overview.contains("1 of 2 sources cannot be fetched"), "{overview}");
    assert!(overview.contains("1 source is gone") && overview.contains("href=\"#needs\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_becomes_a_cookie_and_nothing_else_does() {
    let service = Service::start().await;
    let token = service.token("ops", &[Scope::Read, Scope::Write]).await;
    let mut person = Person::new(&service);
    let answer = person.get("/sources?tag=a%26b").await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.headers["location"], "/login?next=%2Fsources%3Ftag%3Da%2526b");
    let wrong = person.log_in("freshet_wrong").await;
    assert_eq!((wrong.status, wrong.headers.contains_key("set-cookie")), (401, false));
    assert!(wrong.body.contains("does not count") && !wrong.body.contains("freshet_wrong"));
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
    // Whoever had a form open is told to log in, not to send a header.
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
    let mut person = Person::new(&service);
    person.log_in(&token).await;
    is_page(&person.get("/").await, "/");
    service.daemon.handle().remove_token("ops".to_owned()).await.unwrap();
    assert_eq!(person.get("/").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_tokens_is_slowed_down() {
    let service = Service::start().await;
    service.token("ops", &[Scope::Read]).await;
    let mut person = Person::new(&service);
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
    let mut person = Person::new(&service);
    person.log_in(&token).await;
    for path in PAGES {
        is_page(&person.get(path).await, path);
    }
    // Nothing is offered that would be refused.
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
    assert!(answer.body.contains("not allowed"), "{}", answer.body);
    let answer = person.post("/", "/settings/tokens", &[("name", "x"), ("scope", "read")]).await;
    assert_eq!(answer.status, 403);
    let settings = service.daemon.handle().settings().await.unwrap();
    assert_eq!(settings.adjusted.budget, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_somebody_else_does_nothing() {
    let service = Service::start().await;
    let person = Person::new(&service);
    let good = key(&person.get("/settings").await);
    let fields = [("budget", "7/day")];
    for bad in ["", "0", "ffffffffffffffffffffffffffffffff"] {
        assert_eq!(person.post_with(bad, "/settings/budget", &fields).await.status, 403);
    }
    // With the key, but from a page elsewhere.
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
    let json = service.ask("POST", "/settings/budget", json!({ "key": good })).await;
    assert_eq!(json.status, 415);
    let handle = service.daemon.handle();
    assert_eq!(handle.settings().await.unwrap().adjusted.budget, None);
    let answer = person.post_with(&good, "/settings/budget", &fields).await;
    assert!(told(&person, &answer).await.contains("The budget is 7/day from now on."));
    assert_eq!(handle.settings().await.unwrap().adjusted.budget.as_deref(), Some("7/day"));
    for (name, said, what) in
        [("budget", "lots", "The budget stays"), ("objective", "luck", "The objective stays")]
    {
        let path = format!("/settings/{name}");
        let answer = person.post("/settings", &path, &[(name, said)]).await;
        assert!(told(&person, &answer).await.contains(what), "{name}");
    }
    // A form without a choice does not take back what is set.
    assert_eq!(person.post("/settings", "/settings/objective", &[]).await.status, 400);
    assert_eq!(handle.settings().await.unwrap().adjusted.budget.as_deref(), Some("7/day"));
    let answer = person.post("/settings", "/settings/budget", &[("reset", "1")]).await;
    assert_eq!(answer.status, 303);
    assert_eq!(handle.settings().await.unwrap().adjusted.budget, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_one_session_are_no_use_in_another() {
    let service = Service::start().await;
    let token = service.token("ops", &[Scope::Read, Scope::Write]).await;
    let mut people = [Person::new(&service), Person::new(&service)];
    for person in &mut people {
        person.log_in(&token).await;
    }
    let [one, other] = people;
    let stolen = key(&other.get("/settings").await);
    let answer = one.post_with(&stolen, "/settings/budget", &[("budget", "7/day")]).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_if_says_what_budgets_buy_and_makes_one_hold() {
    let service = Service::start().await;
    let ids = service.add(&["https://a.example/a", "https://a.example/b"]).await;
    service.serve_texts(ids[0], &["one", "two", "three"]).await;
    let person = Person::new(&service);
    // What is typed is what would be set.
    let page = person.get("/what-if?budget=123456").await;
    assert!(page.body.contains("id=\"apply-budget\" value=\"123456\""), "{}", page.body);
    let page = person.get("/what-if?budget=1,500&goal=90").await;
    is_page(&page, "/what-if");
    assert!(page.body.contains("1,500 a day") && page.body.contains("90.0 %"), "{}", page.body);
    for (query, says) in [("budget=lots", "not a number"), ("goal=120", "between 0 and 100")] {
        let page = person.get(&format!("/what-if?{query}")).await;
        assert!(page.body.contains(says), "{query}");
    }
    let answer = person.post("/what-if", "/what-if", &[("budget", "1500")]).await;
    assert!(told(&person, &answer).await.contains("1,500 fetches a day from now on"));
    let settings = service.daemon.handle().settings().await.unwrap();
    assert_eq!(settings.budget, "1500/day");
    // From none at all it leads to one that does something: a fetch a day for each source.
    person.post("/settings", "/settings/budget", &[("budget", "0")]).await;
    let page = person.get("/what-if").await.body;
    assert!(page.contains("id=\"apply-budget\" value=\"2\"") && !page.contains("× 10"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_is_not_new_any_more() {
    let service = Service::start().await;
    let ids = service.add(&["https://a.example/a"]).await;
    service.serve_texts(ids[0], &["one", "two"]).await;
    let person = Person::new(&service);
    assert!(person.get("/changes").await.body.contains("class=\"unread\""));
    // Nothing that is to come can be read.
    let answer = person.post("/changes", "/changes/read", &[("until", "999999")]).await;
    assert!(!told(&person, &answer).await.contains("class=\"unread\""));
    service.serve_texts(ids[0], &["three"]).await;
    assert_eq!(person.get("/changes").await.body.matches("class=\"unread\"").count(), 1);
    // What was removed stays in the log, and leads nowhere.
    assert!(person.get("/changes").await.body.contains("href=\"/sources/"));
    let gone = service.send("DELETE", &format!("/v1/sources/{}", ids[0]), &[], "").await;
    assert!(gone.status < 300, "{gone:?}");
    let log = person.get("/changes").await.body;
    assert!(log.contains("removed since") && !log.contains("href=\"/sources/"), "{log}");
    let none = person.get("/changes?tag=nobody").await;
    assert!(none.body.contains("nothing like that"));
    assert!(person.get("/changes?importance=x").await.body.contains("not a number"));
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_is_told_and_told_no_more() {
    let service = Service::start().await;
    let person = Person::new(&service);
    let page = "/settings/destinations/new";
    let wrong = [("name", "a b"), ("way", "webhook"), ("webhook", "https://shop.example/h")];
    let answer = person.post(page, page, &wrong).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("https://shop.example/h"), "what was typed is there");
    let right = [
        ("name", "shop"),
        ("way", "webhook"),
        ("webhook", "http://127.0.0.1:1/hook"),
        ("tag", HOSTILE),
        ("kind", "changed"),
        ("digest", "1h"),
    ];
    let answer = person.post(page, page, &right).await;
    let shown = told(&person, &answer).await;
    assert!(shown.contains("whsec_") && shown.contains("shop is told from now on"), "{shown}");
    let place = answer.headers["location"].split('?').next().unwrap().to_owned();
    // Neither the secret nor what was told is shown again.
    let again = person.get(&answer.headers["location"]).await.body;
    assert!(!again.contains("whsec_") && !again.contains("<script>alert"), "{again}");
    let tested = person.post(&place, &format!("{place}/test"), &[]).await;
    assert!(told(&person, &tested).await.contains("It did not arrive"));
    for (action, fields, says) in [
        ("pause", vec![("paused", "1")], "Nothing is told for the time being"),
        ("pause", vec![("paused", "0")], "It is told again"),
        ("rotate", vec![], "whsec_"),
        ("remove", vec![("name", "other")], "Type its name"),
        ("remove", vec![("name", "shop")], "shop is told no more"),
    ] {
        let answer = person.post(&place, &format!("{place}/{action}"), &fields).await;
        assert!(told(&person, &answer).await.contains(says), "{action}");
    }
    assert_eq!(person.get(&place).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_made_by_who_may() {
    let service = Service::start().await;
    let token = service.token("root", &[Scope::Admin]).await;
    let mut person = Person::new(&service);
    person.log_in(&token).await;
    let fields = [("name", HOSTILE.trim_end_matches('\'')), ("scope", "read")];
    // A name cannot have `/`.
    let answer = person.post("/settings", "/settings/tokens", &fields).await;
    assert_eq!(answer.status, 400);
    let fields = [("name", "<b>reader</b>".trim_end_matches("/b>")), ("scope", "read")];
    let answer = person.post("/settings", "/settings/tokens", &fields).await;
    let shown = told(&person, &answer).await;
    assert!(shown.contains("freshet_") && !shown.contains("<b>reader"), "{shown}");
    let removed = person.post("/settings", "/settings/tokens/remove", &[("name", "root")]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(person.get("/settings").await.status, 303, "it ended its own session");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_text_is_text_on_every_page() {
    let service = Service::start().await;
    let person = Person::new(&service);
    let url = "https://a.example/?q=%22%3E%3Cscript%3E'\"<script>alert(1)</script>";
    let body = json!({ "sources": [{ "url": url, "tags": [HOSTILE] }] });
    let items = service.ask("PUT", "/v1/sources", body).await.ok();
    let id = items["items"][0]["id"].as_u64().unwrap();
    let texts = [HOSTILE.to_owned(), format!("{HOSTILE} more\n</pre><svg onload=alert(3)>")];
    service.serve_texts(id, &[&texts[0], &texts[1]]).await;
    let encoded: String = HOSTILE.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "%{byte:02X}");
        text
    });
    let mut pages: Vec<String> = PAGES.iter().map(|&it| it.to_owned()).collect();
    for path in ["/changes?tag=", "/changes?url=", "/changes?importance=", "/hosts?name="] {
        pages.push(format!("{path}{encoded}"));
    }
    for path in ["/what-if?budget=", "/what-if?goal=", "/login?next=", "/?span=", "/?said="] {
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
async fn what_goes_wrong_is_a_page_here_and_a_problem_there() {
    let service = Service::start().await;
    let here = service.get("/nowhere").await;
    assert_eq!(here.status, 404);
    assert_eq!(here.headers["content-type"], "text/html; charset=utf-8");
    assert!(here.body.contains("There is nothing here"));
    service.get("/v1/nowhere").await.refuses(404, None);
    assert_eq!(service.get("/sources/999").await.status, 404);
    assert_eq!(service.get("/assets/../web.rs").await.status, 404);
    assert_eq!(service.get("/assets/%2e%2e%2fCargo.toml").await.status, 404);
    let wrong = service.send("DELETE", "/what-if", &[], "").await;
    assert_eq!(wrong.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_comes_from_elsewhere() {
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
