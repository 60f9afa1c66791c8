//! freshet without its store: the engine, the fetcher and the detector in one small loop.

use std::collections::HashMap;
use std::time::Duration;

use freshet_demo::Assignment;
use freshet_detect::{Detector, Document, Stored};
use freshet_engine::{Action, Blame, Description, Engine, Event, Outcome, Settings};
use freshet_fetch::{Fetcher, Request, Validators, Wait};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Default)]
struct Kept {
    stored: Option<Stored>,
    validators: Option<Validators>,
}

/// Keeps copies until it is told to stop.
pub(crate) async fn keep(mut it: Assignment) -> Result<(), Failure> {
    let fetcher = Fetcher::new(it.fetch.clone().try_into()?);
    let now = it.clock.now();
    let settings = Settings {
        budget: it.terms.budget,
        burst: Some(it.terms.burst),
        host_gap: it.terms.host_gap,
        host_connections: it.terms.host_connections,
        ..Settings::default()
    };
    let mut engine = Engine::new(now, settings);
    let mut actions = Vec::new();
    engine.step(now, Event::Described(described(&it)?), &mut actions);
    engine.step(now, Event::Capacity(it.terms.connections), &mut actions);
    let mut kept = vec![Kept::default(); it.sources.len()];
    let mut fetches = JoinSet::new();
    loop {
        for action in actions.drain(..) {
            if let Action::Fetch { id, .. } = action {
                let request = Request::new(&it.sources[id as usize].url)?;
                let (fetcher, old) = (fetcher.clone(), kept[id as usize].clone());
                fetches.spawn(async move { fetch(&fetcher, id, request, old).await });
            }
        }
        let wait = it.clock.real(engine.wake() - it.clock.now()).min(Duration::from_millis(50));
        tokio::select! {
            _ = it.stop.wait_for(|stop| *stop) => return Ok(()),
            Some(came) = fetches.join_next() => {
                let (id, outcome, new) = came?;
                if let Some(new) = new {
                    kept[id as usize] = new;
                }
                let now = it.clock.now();
                engine.step(now, Event::Fetched { id, outcome }, &mut actions);
                engine.step(now, Event::Capacity(1), &mut actions);
            }
            () = tokio::time::sleep(wait) => {
                engine.step(it.clock.now(), Event::Tick, &mut actions);
            }
        }
    }
}

fn described(it: &Assignment) -> Result<Vec<Description>, Failure> {
    let mut hosts: HashMap<String, u32> = HashMap::new();
    let mut all = Vec::new();
    for (id, source) in it.sources.iter().enumerate() {
        let request = Request::new(&source.url)?;
        let next = hosts.len() as u32;
        let host =
            *hosts.entry(request.url().host_str().unwrap_or_default().into()).or_insert(next);
        let importance = source.importance;
        all.push(Description { host, importance, ..Description::new(id as u32) });
    }
    Ok(all)
}

async fn fetch(
    fetcher: &Fetcher,
    id: u32,
    request: Request,
    old: Kept,
) -> (u32, Outcome, Option<Kept>) {
    let request = match old.validators {
        Some(validators) => request.since(validators),
        None => request,
    };
    let answer = fetcher.fetch(&request).await;
    let blame = answer.blame();
    let validators = answer.trace.validators.filter(|it| !it.is_empty());
    match answer.outcome {
        freshet_fetch::Outcome::NotModified => {
            (id, Outcome::Unchanged, Some(Kept { stored: old.stored, validators }))
        }
        freshet_fetch::Outcome::Content(content) => {
            let content_type = content.media_type.as_deref();
            let document = Document { bytes: &content.body, content_type, charset: None };
            let detector = Detector::default();
            let reading = detector.read(&document);
            let is_same = old
                .stored
                .is_some_and(|stored| !detector.judge(&stored, None, &reading).is_change());
            let outcome = if is_same { Outcome::Unchanged } else { Outcome::Changed };
            (id, outcome, Some(Kept { stored: Some(reading.stored()), validators }))
        }
        freshet_fetch::Outcome::Gone => (id, Outcome::Gone, None),
        _ => {
            let blame = match blame {
                Some(freshet_fetch::Blame::Host) => Blame::Host,
                Some(freshet_fetch::Blame::Source) | None => Blame::Source,
                Some(freshet_fetch::Blame::Us) => Blame::Us,
            };
            let retry_after = match answer.trace.retry_after {
                Some(Wait::For(time)) => Some(time.as_secs_f64() / 86_400.0),
                _ => None,
            };
            (id, Outcome::Failed { blame, retry_after }, None)
        }
    }
}
