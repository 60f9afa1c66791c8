//! The web as a client sees it, through freshet's fetcher.

use std::sync::Arc;

use freshet_demo::{Client, Clock, Server, Site, World};
use freshet_detect::{Detector, Document};
use freshet_fetch::{FetchOutcome, FetchRequest, FetchResponse, Fetcher, RetryAfter, Validators};

/// A web on a day on which time stands still.
struct FrozenWeb {
    site: Arc<Site>,
    server: Server,
    fetcher: Fetcher,
}

impl FrozenWeb {
    async fn at(seed: u64, day: f64, lively: bool) -> Self {
        let world = World::made(seed, 300).unwrap();
        let site = Arc::new(Site::new(world, Clock::start_at(day, 0.0), lively, true));
        let server = Server::open(&site).await.unwrap();
        let fetcher = Fetcher::new(site.fetch_settings().try_into().unwrap());
        Self { site, server, fetcher }
    }

    fn url(&self, page: u32) -> String {
        self.site.world.url(page, self.server.address(Client::Freshet).port())
    }

    async fn get(&self, page: u32) -> FetchResponse {
        self.fetcher.fetch(&FetchRequest::new(&self.url(page)).unwrap()).await
    }

    async fn since(&self, page: u32, old: &Validators) -> FetchResponse {
        let request = FetchRequest::new(&self.url(page)).unwrap();
        let (etag, modified) = (old.etag.as_deref(), old.last_modified.as_deref());
        let validators = Validators::new(request.url(), etag, modified).unwrap();
        self.fetcher.fetch(&request.with_validators(validators)).await
    }
}

fn text(answer: &FetchResponse) -> String {
    let FetchOutcome::Content(content) = &answer.outcome else { panic!("{answer:?}") };
    let content_type = content.media_type.as_deref();
    let document = Document { bytes: &content.body, content_type, charset: None };
    Detector::default().extract(&document).text
}

fn validators(answer: &FetchResponse) -> Option<Validators> {
    answer.trace.validators.clone().filter(|it| !it.is_empty())
}

#[tokio::test]
async fn a_page_with_validators_is_sent_again_only_if_it_changed() {
    let (before, after) = (FrozenWeb::at(3, 1.0, false).await, FrozenWeb::at(3, 2.0, false).await);
    let (mut with, mut without, mut changed) = (0, 0, 0);
    for page in 0..120 {
        let first = before.get(page).await;
        let version = |still: &FrozenWeb, day| still.site.truth().version(page, day).number;
        let is_changed = version(&before, 1.0) != version(&after, 2.0);
        let Some(kept) = validators(&first) else {
            without += 1;
            continue;
        };
        with += 1;
        let again = before.since(page, &kept).await;
        assert!(matches!(again.outcome, FetchOutcome::NotModified), "page {page}: {again:?}");
        assert_eq!(again.trace.status(), Some(304));
        let later = after.since(page, &kept).await;
        let is_sent = matches!(later.outcome, FetchOutcome::Content(_));
        assert_eq!(is_sent, is_changed, "page {page}: {later:?}");
        if is_changed {
            changed += 1;
            assert_ne!(text(&first), text(&later));
        }
    }
    assert!(with > 80 && without > 5 && changed > 20, "{with} {without} {changed}");
}

#[tokio::test]
async fn the_bytes_of_a_page_differ_each_time_and_its_text_does_not() {
    let still = FrozenWeb::at(5, 3.0, false).await;
    for page in 0..20 {
        let (one, two) = (still.get(page).await, still.get(page).await);
        let (FetchOutcome::Content(a), FetchOutcome::Content(b)) = (&one.outcome, &two.outcome)
        else {
            panic!("{one:?} {two:?}")
        };
        assert_ne!(a.body, b.body);
        assert!((5_000..10_000).contains(&a.body.len()), "{}", a.body.len());
        assert_eq!(text(&one), text(&two));
    }
}

#[tokio::test]
async fn the_same_seed_is_the_same_web() {
    let (one, two) = (FrozenWeb::at(6, 2.5, false).await, FrozenWeb::at(6, 2.5, false).await);
    let other = FrozenWeb::at(7, 2.5, false).await;
    let all = |still: &FrozenWeb| {
        let world = &still.site.world;
        let urls: Vec<String> = (0..300).map(|page| world.url(page, 1)).collect();
        (urls, world.importance().collect::<Vec<_>>(), world.order(), world.history(5.0))
    };
    assert_eq!(all(&one), all(&two));
    assert_ne!(all(&one), all(&other));
    for page in 0..10 {
        let (a, b) = (one.get(page).await, two.get(page).await);
        assert_eq!(text(&a), text(&b));
        let said =
            |answer: &FetchResponse| validators(answer).map(|it| (it.etag, it.last_modified));
        assert_eq!(said(&a), said(&b));
    }
}

#[tokio::test]
async fn what_robots_txt_forbids_is_not_asked_for() {
    let still = FrozenWeb::at(1, 0.0, false).await;
    let page = still.url(0);
    let (start, _) = page.rsplit_once('/').unwrap();
    let (host, _) = start.rsplit_once('/').unwrap();
    for path in ["/private/click/1", "/search?q=rope"] {
        let request = FetchRequest::new(&format!("{host}{path}")).unwrap();
        let answer = still.fetcher.fetch(&request).await;
        assert!(matches!(answer.outcome, FetchOutcome::Disallowed(_)), "{answer:?}");
    }
    let answer = still.get(0).await;
    assert!(matches!(answer.outcome, FetchOutcome::Content(_)));
    let tally = still.site.truth().tally(Client::Freshet);
    assert_eq!((tally.robots, tally.forbidden, tally.requests), (1, 0, 1));
}

#[tokio::test]
async fn nothing_is_where_nothing_should_be() {
    let still = FrozenWeb::at(1, 0.0, false).await;
    let page = still.url(0);
    let other_host = still.site.world.hosts().iter().find(|host| !page.contains(*host)).unwrap();
    let (_, path) = page.rsplit_once(".localhost").unwrap();
    for url in [format!("{page}9999"), format!("{page}x"), format!("http://{other_host}{path}")] {
        let answer = still.fetcher.fetch(&FetchRequest::new(&url).unwrap()).await;
        assert!(matches!(answer.outcome, FetchOutcome::Gone), "{url}: {answer:?}");
    }
    assert_eq!(still.site.truth().tally(Client::Freshet).requests, 0);
}

#[tokio::test]
async fn things_go_wrong_now_and_then_and_for_all_alike() {
    let (mut broken, mut dropped, mut busy, mut well) = (0, 0, 0, 0);
    for moment in 0..12 {
        let still = FrozenWeb::at(2, f64::from(moment) * 0.083, true).await;
        for page in 0..300 {
            let answer = still.get(page).await;
            match (&answer.outcome, answer.trace.status()) {
                (FetchOutcome::Content(_), _) => well += 1,
                (_, Some(500)) => broken += 1,
                (_, Some(429)) => {
                    busy += 1;
                    let wait = answer.trace.retry_after;
                    let Some(RetryAfter::Delay(wait)) = wait else { panic!("{wait:?}") };
                    assert!((1..=600).contains(&wait.as_secs()));
                }
                (FetchOutcome::Failed(_), None) => dropped += 1,
                other => panic!("{other:?}"),
            }
        }
        let truth = still.site.truth();
        let tally = truth.tally(Client::Freshet);
        assert_eq!(tally.answered as usize, truth.fetched(Client::Freshet).len());
        assert!(tally.requests >= 300);
    }
    assert!(broken > 0 && dropped > 0 && busy > 0, "{broken} {dropped} {busy}");
    assert!(well > 3300, "{well}");
}

#[tokio::test]
async fn clients_are_told_apart_by_their_port() {
    let still = FrozenWeb::at(1, 0.0, false).await;
    let port = still.server.address(Client::Nutch).port();
    let url = still.site.world.url(4, port);
    still.fetcher.fetch(&FetchRequest::new(&url).unwrap()).await;
    let standing = still.site.standing();
    assert_eq!(standing.tallies.map(|it| it.requests), [0, 0, 1]);
    assert!(standing.fresh[2] > 0.0 && standing.fresh[0] == 0.0);
    let heads = FetchRequest::new(&url).unwrap().head_only();
    still.fetcher.fetch(&heads).await;
    let tally = still.site.truth().tally(Client::Nutch);
    assert_eq!((tally.requests, tally.answered), (2, 1), "a head is no copy");
}
