//! freshet without its store: the engine, the fetcher and the detector in one small loop.

use std::collections::HashMap;
use std::time::Duration;

use freshet_demo::Assignment;
use freshet_detect::{ContentSignature, Detector, Document};
use freshet_engine::{
    Action, Engine, EngineSettings, Event, FailureCause, FetchResult, SourceDescription,
};
use freshet_fetch::{FetchRequest, Fetcher, RetryAfter, Validators};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Default)]
struct Kept {
    stored: Option<ContentSignature>,
    validators: Option<Validators>,
}

/// Keeps copies until it is told to stop.
pub(crate) async fn keep(mut it: Assignment) -> Result<(), Failure> {
    let fetcher = Fetcher::new(it.fetch.clone().try_into()?);
    let now = it.clock.now();
    let settings = EngineSettings {
        budget: it.terms.budget,
        burst: Some(it.terms.burst),
        host_gap: it.terms.host_gap,
        host_connections: it.terms.host_connections,
        ..EngineSettings::default()
    };
    let mut engine = Engine::new(now, settings);
    let mut actions = Vec::new();
    engine.step(now, Event::SourcesDescribed(described(&it)?), &mut actions);
    engine.step(now, Event::CapacityAdded(it.terms.connections), &mut actions);
    let mut kept = vec![Kept::default(); it.sources.len()];
    let mut fetches = JoinSet::new();
    loop {
        for action in actions.drain(..) {
            if let Action::Fetch { id, .. } = action {
                let request = FetchRequest::new(&it.sources[id as usize].url)?;
                let (fetcher, old) = (fetcher.clone(), kept[id as usize].clone());
                fetches.spawn(async move { fetch(&fetcher, id, request, old).await });
            }
        }
        let wait =
            it.clock.real(engine.next_tick() - it.clock.now()).min(Duration::from_millis(50));
        tokio::select! {
            _ = it.stop.wait_for(|stop| *stop) => return Ok(()),
            Some(came) = fetches.join_next() => {
                let (id, outcome, new) = came?;
                if let Some(new) = new {
                    kept[id as usize] = new;
                }
                let now = it.clock.now();
                engine.step(now, Event::FetchFinished { id, outcome }, &mut actions);
                engine.step(now, Event::CapacityAdded(1), &mut actions);
            }
            () = tokio::time::sleep(wait) => {
                engine.step(it.clock.now(), Event::Tick, &mut actions);
            }
        }
    }
}

fn described(it: &Assignment) -> Result<Vec<SourceDescription>, Failure> {
    let mut hosts: HashMap<String, u32> = HashMap::new();
    let mut all = Vec::new();
    for (id, source) in it.sources.iter().enumerate() {
        let request = FetchRequest::new(&source.url)?;
        let next = hosts.len() as u32;
        let host =
            *hosts.entry(request.url().host_str().unwrap_or_default().into()).or_insert(next);
        let importance = source.importance;
        all.push(SourceDescription { host, importance, ..SourceDescription::new(id as u32) });
    }
    Ok(all)
}

async fn fetch(
    fetcher: &Fetcher,
    id: u32,
    request: FetchRequest,
    old: Kept,
) -> (u32, FetchResult, Option<Kept>) {
    let request = match old.validators {
        Some(validators) => request.with_validators(validators),
        None => request,
    };
    let answer = fetcher.fetch(&request).await;
    let blame = answer.blame();
    let validators = answer.trace.validators.filter(|it| !it.is_empty());
    match answer.outcome {
        freshet_fetch::FetchOutcome::NotModified => {
            (id, FetchResult::Unchanged, Some(Kept { stored: old.stored, validators }))
        }
        freshet_fetch::FetchOutcome::Content(content) => {
            let content_type = content.media_type.as_deref();
            let document = Document { bytes: &content.body, content_type, charset: None };
            let detector = Detector::default();
            let reading = detector.extract(&document);
            let is_same = old
                .stored
                .is_some_and(|stored| !detector.compare(&stored, None, &reading).is_change());
            let outcome = if is_same { FetchResult::Unchanged } else { FetchResult::Changed };
            (id, outcome, Some(Kept { stored: Some(reading.signature()), validators }))
        }
        freshet_fetch::FetchOutcome::Gone => (id, FetchResult::Gone, None),
        _ => {
            let blame = match blame {
                Some(freshet_fetch::FetchBlame::Host) => FailureCause::Host,
                Some(freshet_fetch::FetchBlame::Source) | None => FailureCause::Source,
                Some(freshet_fetch::FetchBlame::Us) => FailureCause::Us,
            };
            let retry_after = match answer.trace.retry_after {
                Some(RetryAfter::Delay(time)) => Some(time.as_secs_f64() / 86_400.0),
                _ => None,
            };
            (id, FetchResult::Failed { cause: blame, retry_after }, None)
        }
    }
}
