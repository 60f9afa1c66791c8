//! Whole demos, small ones.

use std::time::Duration;

use freshet_demo::{Assignment, Client, DemoError, Finished, Options, Show, Style, World, run};

use crate::stand_in::keep;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Returns a demo in which a second shows half a day.
async fn demo(seed: u64, style: Style, seconds: u64) -> (Finished, String) {
    let world = World::made(seed, 200).unwrap();
    let options = Options {
        factor: 43_200.0,
        budget: 4.0,
        length: Some(Duration::from_secs(seconds)),
        record: true,
        ..Options::new(world)
    };
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, style);
    let finished = run(options, &mut show, std::future::pending(), keep).await.unwrap();
    (finished, String::from_utf8(out).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_make_equally_many_requests_and_keep_to_the_budget() {
    let (finished, _) = demo(1, Style::Silent, 1).await;
    let made = Client::ALL.map(|client| finished.tally(client).requests);
    let budget = 800.0 * finished.days();
    for requests in made {
        // The initial burst and the requests in flight; a dropped connection is tried twice.
        let most = budget + 40.0 + 64.0 + 0.01 * budget;
        assert!((1.0..most).contains(&(requests as f64)), "{made:?} of {budget}");
        assert!(requests.abs_diff(made[0]) <= 40 + 64 + 5, "{made:?}");
    }
    for client in Client::ALL {
        let tally = finished.tally(client);
        assert_eq!(tally.forbidden, 0);
        assert!(tally.robots <= 25, "{tally:?}");
        let fetched = finished.fetched(client);
        assert!(fetched.len() as u64 >= tally.answered && finished.freshness(client) > 0.0);
        assert!(fetched.is_sorted_by(|a, b| a.day <= b.day));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_numbers_come_as_text_as_json_and_as_a_picture() {
    let (finished, shown) = demo(2, Style::Lines, 1).await;
    assert!(shown.starts_with("day 1, "), "{shown}");
    assert!(!shown.contains('\x1b'), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&finished.to_json().unwrap()).unwrap();
    assert_eq!(json["pages"], 200);
    assert_eq!(json["seed"], 2);
    let summary = finished.summary();
    for (at, client) in Client::ALL.into_iter().enumerate() {
        let row = &json["clients"][at];
        assert_eq!(row["name"], client.key());
        assert_eq!(row["requests"], finished.tally(client).requests);
        assert_eq!(row["freshness"], finished.freshness(client));
        let percent = format!("{:.1} %", 100.0 * finished.freshness(client));
        assert!(summary.contains(&percent), "{summary}");
        assert!(summary.lines().any(|line| line.starts_with(client.name())), "{summary}");
    }
    let picture = finished.picture();
    assert!(picture.starts_with("<svg"));
    for client in Client::ALL {
        assert!(
            picture.contains(&client.name().replace('\'', "&#39;"))
                || picture.contains(client.name())
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_terminal_the_same_lines_are_drawn_again() {
    let (_, shown) = demo(3, Style::Redrawn, 3).await;
    assert!(shown.matches("\x1b[4A").count() >= 2, "{shown}");
    assert!(shown.ends_with("\x1b[4A\r\x1b[J"), "what was drawn is gone at the end");
    assert!(shown.matches("freshet").count() <= 14, "not more than a few times in a second");
}

#[tokio::test]
async fn it_ends_when_it_is_told_to() {
    let options = Options::new(World::made(1, 50).unwrap());
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, Style::Silent);
    let finished = run(options, &mut show, async {}, keep).await.unwrap();
    assert!(finished.days() < 1.0);
    assert!(!finished.sentence().contains("NaN") && !finished.summary().contains("NaN"));
    assert!(finished.picture().starts_with("<svg"));
}

#[tokio::test]
async fn freshet_that_ends_early_is_an_error() {
    let options = || Options::new(World::made(1, 50).unwrap());
    let never = std::future::pending;
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, Style::Silent);
    let fail = |_: Assignment| async { Err::<(), Failure>("no room on the disk".into()) };
    match run(options(), &mut show, never(), fail).await {
        Err(DemoError::Daemon(why)) => assert_eq!(why.to_string(), "no room on the disk"),
        other => panic!("{other:?}"),
    }
    let leave = |_: Assignment| async { Ok::<(), Failure>(()) };
    let left = run(options(), &mut show, never(), leave).await;
    assert!(matches!(left, Err(DemoError::Daemon(_))), "{left:?}");
    let panic = |_: Assignment| async { panic!("on purpose") };
    let broke = run::<_, _, Failure>(options(), &mut show, never(), panic).await;
    assert!(matches!(broke, Err(DemoError::Daemon(_))), "{broke:?}");
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    assert!(matches!(World::made(1, 0), Err(DemoError::Pages { pages: 0, .. })));
    assert!(matches!(World::made(1, 2_000_000), Err(DemoError::Pages { .. })));
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, Style::Silent);
    for (factor, budget) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, -1.0), (1.0, f64::INFINITY)] {
        let world = World::made(1, 5).unwrap();
        let options = Options { factor, budget, ..Options::new(world) };
        let refused = run(options, &mut show, async {}, keep).await;
        assert!(matches!(refused, Err(DemoError::Number { .. })), "{factor} {budget}");
    }
}
