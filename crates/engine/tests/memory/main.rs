//! Memory per source. A separate test binary, so that nothing else is in the process.

use freshet_engine::{Action, Engine, EngineSettings, Event, FetchResult, SourceDescription};

const SOURCES: u32 = 1_000_000;
const PER_HOST: u32 = 20;
/// Bytes per source.
const MOST: f64 = 150.0;

/// Resident memory in bytes; `None` if the system does not report it.
fn resident() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages = pages.split(' ').nth(1)?.parse::<usize>().ok()?;
    Some(pages * 4096)
}

/// A million sources, described, fetched once each on average, with a budget that changes.
#[test]
#[allow(clippy::print_stderr)]
fn a_source_takes_less_than_150_bytes() {
    let Some(before) = resident() else {
        eprintln!("skipped: this system does not say how much memory is in use");
        return;
    };
    let budget = f64::from(SOURCES) / 5.0;
    let settings = EngineSettings { budget, host_gap: 0.0, ..EngineSettings::default() };
    let mut engine = Engine::new(0.0, settings);
    let mut actions = Vec::new();
    engine.step(0.0, Event::CapacityAdded(u32::MAX), &mut actions);
    for first in (0..SOURCES).step_by(1000) {
        let describe = |id: u32| {
            let importance = 1.0 + f64::from(id % 97);
            let fetched = Some(-f64::from(id % 1009) / 200.0);
            SourceDescription {
                host: id / PER_HOST,
                importance,
                last_fetch: fetched,
                ..SourceDescription::new(id)
            }
        };
        engine.step(
            0.0,
            Event::SourcesDescribed((first..first + 1000).map(describe).collect()),
            &mut actions,
        );
    }
    let mut asked: Vec<u32> = Vec::new();
    let mut fetches = 0_u32;
    while fetches < SOURCES {
        if fetches >= SOURCES / 2 && engine.settings().budget <= budget {
            let settings = EngineSettings { budget: 2.0 * budget, ..settings };
            engine.step(engine.now(), Event::SettingsChanged(settings), &mut actions);
        }
        match asked.pop() {
            Some(id) => {
                let outcome = if (id + fetches).is_multiple_of(3) {
                    FetchResult::Changed
                } else {
                    FetchResult::Unchanged
                };
                engine.step(engine.now(), Event::FetchFinished { id, outcome }, &mut actions);
                fetches += 1;
            }
            None => engine.step(engine.next_tick(), Event::Tick, &mut actions),
        }
        asked.extend(actions.drain(..).filter_map(|it| match it {
            Action::Fetch { id, .. } => Some(id),
            _ => None,
        }));
    }
    let each = (resident().unwrap_or(usize::MAX) - before) as f64 / f64::from(SOURCES);
    assert!(each < MOST, "{each:.0} bytes");
    assert!(each > 64.0, "{each:.0} bytes are too few: nothing was measured");
}
