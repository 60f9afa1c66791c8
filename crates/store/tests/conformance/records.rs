use freshet_store::{
    Batch, Decision, FetchRecord, LearnedState, LedgerEntry, RecordResult, Retention, SourcePatch,
    SourceState, StatsBucket, Store, StoredOutcome, StoredReason, StoredValidators,
};

use crate::{add_sources, record};

pub(crate) fn outcomes_set_state_and_times(store: &mut Store) {
    add_sources(store, 1);
    let steps = [
        (StoredOutcome::Failed, SourceState::Failing, None, None, 1),
        (StoredOutcome::First, SourceState::Good, Some(2), None, 0),
        (StoredOutcome::Changed, SourceState::Good, Some(3), Some(3), 0),
        (StoredOutcome::Unchanged, SourceState::Good, Some(4), Some(3), 0),
        (StoredOutcome::Disallowed, SourceState::Disallowed, Some(4), Some(3), 1),
        (StoredOutcome::Failed, SourceState::Failing, Some(4), Some(3), 2),
        (StoredOutcome::Gone, SourceState::Gone, Some(4), Some(3), 3),
        (StoredOutcome::Unchanged, SourceState::Good, Some(8), Some(3), 0),
    ];
    assert_eq!(store.source(0).unwrap().unwrap().state, SourceState::New);
    for (at, (outcome, state, fetched, changed, failures)) in (1..).zip(steps) {
        let due = Some(at + 100);
        record(store, vec![FetchRecord { due_at: due, ..FetchRecord::new(0, at, outcome) }]);
        let source = store.source(0).unwrap().unwrap();
        assert_eq!((source.state, source.fetched_at, source.changed_at), (state, fetched, changed));
        assert_eq!(
            (source.attempted_at, source.due_at, source.failures),
            (Some(at), due, failures)
        );
        assert_eq!(source.fetches, at as u64);
    }
}

pub(crate) fn fields_that_are_none_stay(store: &mut Store) {
    add_sources(store, 1);
    let validators =
        StoredValidators { etag: Some("\"a\"".to_owned()), last_modified: Some("then".to_owned()) };
    let full = FetchRecord {
        validators: Some(validators.clone()),
        snapshot: Some(vec![1; 176]),
        learned: Some(vec![2; 60]),
        ..FetchRecord::new(0, 10, StoredOutcome::First)
    };
    record(store, vec![full, FetchRecord::new(0, 11, StoredOutcome::Unchanged)]);
    let job = store.fetch_job(0).unwrap().unwrap();
    assert_eq!((&job.validators, job.snapshot.len()), (&validators, 176));
    let learned = |store: &Store| {
        let mut seen = Vec::new();
        store.load_schedule(|row| seen.push((row.learned.to_vec(), row.due_at))).unwrap();
        seen
    };
    assert_eq!(learned(store), [(vec![2; 60], None)]);

    let only = StoredValidators { etag: None, last_modified: Some("now".to_owned()) };
    record(
        store,
        vec![FetchRecord {
            validators: Some(only.clone()),
            ..FetchRecord::new(0, 12, StoredOutcome::Unchanged)
        }],
    );
    let job = store.fetch_job(0).unwrap().unwrap();
    assert_eq!((job.validators, job.snapshot), (only, vec![1; 176]));

    let states = vec![
        LearnedState { source: 0, learned: Some(vec![3]), due_at: Some(50) },
        LearnedState { source: 9, learned: None, due_at: None },
    ];
    let recorded = store.record_batch(&Batch { learned: states, ..Batch::default() }).unwrap();
    assert_eq!(recorded.unknown, [9]);
    assert_eq!(learned(store), [(vec![3], Some(50))]);
    assert_eq!(store.history(0, 10).unwrap().len(), 3);
}

pub(crate) fn unknown_sources_are_reported_and_the_others_recorded(store: &mut Store) {
    add_sources(store, 3);
    store.remove_sources(&[1]).unwrap();
    let fetches = (0..5).map(|id| crate::changed(id, 10, b"page")).collect();
    let recorded = store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
    assert_eq!(
        recorded,
        RecordResult { cursors: vec![Some(1), None, Some(2), None, None], unknown: vec![1, 3, 4] }
    );
    assert!(store.history(1, 10).unwrap().is_empty());
    assert_eq!(store.history(2, 10).unwrap().len(), 1);
}

pub(crate) fn the_history_is_newest_first_and_within_retention(store: &mut Store) {
    add_sources(store, 2);
    store.set_retention(Retention { observations_per_source: 20, ..Retention::default() });
    for at in 0..30 {
        let status = 200 + at as u16;
        let fetch = |id| FetchRecord {
            status,
            bytes: 1 << 40,
            duration_ms: 7,
            note: if at == 29 { "the last".to_owned() } else { String::new() },
            ..FetchRecord::new(id, at, StoredOutcome::Unchanged)
        };
        record(store, vec![fetch(0), fetch(1)]);
    }
    let history = store.history(0, 5).unwrap();
    let times: Vec<i64> = history.iter().map(|it| it.at).collect();
    assert_eq!(times, [29, 28, 27, 26, 25]);
    let last = &history[0];
    assert_eq!(
        (last.fetch_number, last.status, last.bytes, last.duration_ms),
        (30, 229, 1 << 40, 7)
    );
    assert_eq!((last.note.as_str(), history[1].note.as_str()), ("the last", ""));
    while store.prune(100).unwrap().has_more {}
    for id in [0, 1] {
        let times: Vec<i64> = store.history(id, 99).unwrap().iter().map(|it| it.at).collect();
        assert_eq!(times, (10..30).rev().collect::<Vec<i64>>());
    }
}

pub(crate) fn decisions_are_stored(store: &mut Store) {
    add_sources(store, 1);
    let (value, price) = (Some(2.5), Some(2.25));
    let (rate_before, rate_after) = (Some(1.0), Some(0.5));
    let requested =
        Decision { reason: StoredReason::Requested, value, price, rate_before, rate_after };
    let new = Decision {
        reason: StoredReason::New,
        value: None,
        price: None,
        rate_before,
        rate_after: None,
    };
    let decisions = [None, Some(new), Some(requested)];
    let fetches = decisions.into_iter().map(|decision| FetchRecord {
        decision,
        ..FetchRecord::new(0, 1, StoredOutcome::Unchanged)
    });
    record(store, fetches.collect());
    let stored: Vec<_> = store.history(0, 9).unwrap().iter().rev().map(|it| it.decision).collect();
    assert_eq!(stored, decisions);
}

pub(crate) fn ledger_amounts_add_up(store: &mut Store) {
    let spend = |store: &mut Store, at, fetches, bytes| {
        let ledger =
            vec![LedgerEntry { at, fetches, bytes }, LedgerEntry { at: at + 1, fetches, bytes }];
        store
            .record_batch(&Batch {
                ledger,
                engine_checkpoint: Some(vec![at as u8]),
                ..Batch::default()
            })
            .unwrap();
    };
    assert_eq!(store.engine_checkpoint().unwrap(), None);
    spend(store, 10, 1.0, 100);
    spend(store, 11, 2.5, 50);
    assert_eq!(store.engine_checkpoint().unwrap(), Some(vec![11]));
    let all = store.ledger(0).unwrap();
    let amounts: Vec<_> = all.iter().map(|spent| (spent.at, spent.fetches, spent.bytes)).collect();
    assert_eq!(amounts, [(10, 1.0, 100), (11, 3.5, 150), (12, 2.5, 50)]);
    assert_eq!(store.ledger(11).unwrap(), all[1..]);
    let days = 86_400_000;
    store.prune(2 * days + 12).unwrap();
    assert_eq!(store.ledger(0).unwrap(), all[2..]);
    store.set_meta("budget", "500/day").unwrap();
    store.set_meta("budget", "20 %/day").unwrap();
    assert_eq!(store.meta("budget").unwrap().as_deref(), Some("20 %/day"));
    assert_eq!(store.meta("nothing").unwrap(), None);
}

pub(crate) fn statistics_add_up_and_are_kept_for_400_days(store: &mut Store) {
    let save = |store: &mut Store, stats: Vec<StatsBucket>| {
        store.record_batch(&Batch { stats, ..Batch::default() }).unwrap();
    };
    let quarter = StatsBucket::WIDTH_MS;
    let at =
        |n: i64| StatsBucket { fetches: 2, changed: 1, ..StatsBucket::containing(n * quarter + 7) };
    save(store, vec![StatsBucket { price: Some(3.0), freshness: Some(0.5), ..at(8) }]);
    save(
        store,
        vec![
            StatsBucket {
                held_days: 1.5,
                fresh_days: 1.0,
                expected_fresh_days: 1.25,
                bytes: 10,
                ..at(8)
            },
            at(9),
        ],
    );
    save(store, vec![StatsBucket { price: Some(4.0), failed: 3, ..at(8) }, at(12)]);
    let all = store.stats_buckets(0, i64::MAX, quarter).unwrap();
    let first = StatsBucket {
        at: 8 * quarter,
        fetches: 6,
        changed: 3,
        failed: 3,
        bytes: 10,
        held_days: 1.5,
        fresh_days: 1.0,
        expected_fresh_days: 1.25,
        freshness: Some(0.5),
        price: Some(4.0),
        budget: None,
    };
    assert_eq!(all, [first, at(9), at(12)]);
    // Buckets of an hour: the third starts with the eighth quarter.
    let hours = store.stats_buckets(0, i64::MAX, 4 * quarter).unwrap();
    let amounts: Vec<_> = hours.iter().map(|it| (it.at / quarter, it.fetches, it.price)).collect();
    assert_eq!(amounts, [(8, 8, Some(4.0)), (12, 2, None)]);
    assert_eq!(store.stats_buckets(9 * quarter, 12 * quarter, quarter).unwrap(), all[1..2]);
    let days = 86_400_000;
    store.prune(400 * days + 9 * quarter).unwrap();
    assert_eq!(store.stats_buckets(0, i64::MAX, quarter).unwrap(), all[1..]);
}

pub(crate) fn loading_returns_every_source(store: &mut Store) {
    add_sources(store, 9_000);
    store.remove_sources(&(100..2_500).collect::<Vec<u32>>()).unwrap();
    let patch = SourcePatch {
        importance: Some(2.5),
        cost: Some(3.0),
        min_interval: Some(0.25),
        max_interval: Some(7.0),
        paused: Some(true),
        goal: Some("age – é".to_owned()),
        ..SourcePatch::default()
    };
    store.update_sources(&[0, 4_095, 4_096, 8_999], &patch).unwrap();
    let fetches = (0..9_000_u32).step_by(7).map(|id| FetchRecord {
        learned: Some(id.to_be_bytes().repeat(id as usize % 9)),
        due_at: Some(i64::from(id) * 1_000),
        ..FetchRecord::new(id, i64::from(id), StoredOutcome::Unchanged)
    });
    record(store, fetches.collect());

    let mut next = 0;
    let mut rows = 0;
    store
        .load_schedule(|row| {
            assert!(row.id >= next, "in order");
            next = row.id + 1;
            rows += 1;
            let source = store.source(row.id).unwrap().unwrap();
            assert_eq!((row.host, row.goal), (source.host, source.goal.as_str()));
            assert_eq!((row.importance, row.cost), (source.importance, source.cost));
            let intervals = (source.min_interval, source.max_interval);
            assert_eq!((row.min_interval, row.max_interval), intervals);
            assert_eq!((row.paused, row.observed), (source.paused, source.observed));
            let times = (source.fetched_at, source.due_at, source.state);
            assert_eq!((row.fetched_at, row.due_at, row.state), times);
            let fetched = row.id % 7 == 0;
            let learned = row.id.to_be_bytes().repeat(row.id as usize % 9);
            assert_eq!(row.learned, if fetched { learned.as_slice() } else { &[] });
        })
        .unwrap();
    assert_eq!(rows, 6_600);
}

pub(crate) fn jobs_come_in_the_requested_order(store: &mut Store) {
    add_sources(store, 20);
    let patch =
        SourcePatch { settings: Some("select = '#main'".to_owned()), ..SourcePatch::default() };
    store.update_sources(&[7], &patch).unwrap();
    let jobs = store.fetch_jobs(&[7, 99, 3, 7]).unwrap();
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [7, 3, 7]);
    assert_eq!(jobs[0].settings, "select = '#main'");
    assert_eq!(jobs[1].url, crate::source(3).url);
    assert_eq!(Some(&jobs[1]), store.fetch_job(3).unwrap().as_ref());
}
