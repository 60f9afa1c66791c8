//! Conformance tests of a store. A case gets an open, empty store; `cases!` opens it, runs the case, and checks the
//! integrity of the store afterwards.

#![allow(clippy::unwrap_used, missing_docs)]

mod changes;
mod queries;
mod records;
mod service;
mod signal_sources;
mod sources;
mod versions;

use freshet_store::{
    Batch, CompressedContent, FetchRecord, NewChange, NewSource, NewVersion, Store, StoredOutcome,
};

/// Runs a case on a new store, and checks the integrity of the store afterwards.
fn check(case: impl FnOnce(&mut Store)) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(&directory.path().join("freshet.db"), 1_000).unwrap();
    case(&mut store);
    let health = store.check_integrity().unwrap();
    assert!(health.is_ok(), "{:?}", health.faults);
}

macro_rules! cases {
    ($($module:ident: $($case:ident),+ $(,)?;)+) => {$($(
        #[test]
        fn $case() {
            check($module::$case);
        }
    )+)+};
}

cases! {
    sources:
        ids_are_dense_and_never_reused,
        an_existing_url_keeps_its_id_and_unpatched_settings,
        a_prior_belief_is_stored_for_new_sources_only,
        a_duplicate_url_in_a_batch_is_added_once,
        an_import_counts_new_and_existing_sources,
        invalid_values_are_refused_and_nothing_is_added,
        a_patch_changes_only_its_fields,
        removing_a_source_keeps_its_change_log,
        a_source_can_move_to_another_host;
    queries:
        queries_match_a_full_scan,
        a_url_is_found_by_exact_match,
        hosts_have_ids_names_and_state,
        hosts_are_found_by_name_and_port,
        cooldowns_and_robots_txt_are_stored_by_name;
    records:
        outcomes_set_state_and_times,
        fields_that_are_none_stay,
        unknown_sources_are_reported_and_the_others_recorded,
        the_history_is_newest_first_and_within_retention,
        decisions_are_stored,
        ledger_amounts_add_up,
        statistics_add_up_and_are_kept_for_400_days,
        loading_returns_every_source,
        jobs_come_in_the_requested_order;
    signal_sources:
        signal_sources_get_the_smallest_free_ids,
        settings_of_the_user_take_precedence,
        the_source_of_a_signal_source_is_no_page,
        a_page_and_a_signal_source_can_share_a_url,
        existing_urls_are_matched_with_their_latest_entry,
        signals_are_stored_for_existing_pairs_only,
        removing_a_signal_source_removes_its_parts_and_signals,
        many_signals_are_removed_step_by_step,
        no_events_are_logged_for_sources_of_signal_sources;
    changes:
        cursors_increase_and_pages_are_complete,
        filters_match_their_fields,
        a_change_has_its_version_numbers,
        old_changes_are_pruned_up_to_a_cursor;
    service:
        failing_and_recovered_are_logged_once,
        quiet_is_logged_once_per_period,
        a_scan_logs_each_condition_once,
        tokens_are_stored_by_name,
        a_lease_holds_unreported_sources_only,
        a_destination_continues_at_its_cursor,
        dead_letters_are_limited_in_number,
        subscriptions_are_stored_by_callback;
    versions:
        content_is_returned_unchanged,
        the_newest_versions_are_kept,
        old_versions_are_pruned_except_the_newest,
        pruning_ends;
}

/// Adds sources `https://host-H.example/N`, ten per host.
fn add_sources(store: &mut Store, count: u32) {
    let sources: Vec<NewSource> = (0..count).map(source).collect();
    store.add_sources(&sources).unwrap();
}

fn source(n: u32) -> NewSource {
    let host = format!("host-{}.example", n / 10);
    NewSource::new(format!("https://{host}/{n}"), host, 5)
}

fn record(store: &mut Store, fetches: Vec<FetchRecord>) -> Vec<Option<i64>> {
    store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap().cursors
}

/// Returns a fetch that found this content.
fn changed(source: u32, at: i64, content: &[u8]) -> FetchRecord {
    let digest = digest(content);
    let version = NewVersion {
        digest,
        content_kind: "text".to_owned(),
        content: CompressedContent::compress(content),
    };
    let change = NewChange {
        last_unchanged_at: Some(at - 1),
        first_changed_at: at,
        old_digest: None,
        new_digest: digest,
        old_size: None,
        new_size: content.len() as u64,
        similarity: 0.5,
        summary: format!("found at {at}"),
    };
    FetchRecord {
        version: Some(version),
        change: Some(change),
        ..FetchRecord::new(source, at, StoredOutcome::Changed)
    }
}

fn digest(content: &[u8]) -> [u8; 16] {
    let mut digest = [content.len() as u8; 16];
    for (at, byte) in content.iter().enumerate() {
        digest[at % 16] = digest[at % 16].rotate_left(3) ^ byte;
    }
    digest
}
