//! What any store must do, whatever it is made of. A case takes an opened, empty store; `cases!` opens
//! it, runs the case, and asks the store whether all is well with it.

#![allow(clippy::unwrap_used, missing_docs)]

mod changes;
mod finding;
mod heralds;
mod records;
mod service;
mod sources;
mod versions;

use freshet_store::{
    Batch, CompressedContent, FetchRecord, NewChange, NewSource, NewVersion, Store, StoredOutcome,
};

/// The store under test. A second kind of store runs the same cases from a list of its own.
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
        numbers_are_dense_and_never_used_again,
        a_known_url_keeps_its_number_and_what_is_not_given,
        what_is_expected_is_kept_until_there_is_more,
        a_url_that_is_named_twice_is_added_once,
        an_import_counts_what_is_new_and_what_was_known,
        values_that_cannot_be_meant_are_refused_and_nothing_is_added,
        a_change_says_only_what_it_says,
        a_source_that_is_removed_leaves_the_change_log_alone,
        a_source_can_move_to_another_host;
    finding:
        queries_give_what_a_look_at_every_source_gives,
        a_url_is_found_by_all_of_it,
        hosts_have_numbers_names_and_records,
        hosts_are_found_by_name_and_port,
        hosts_are_left_alone_by_name_and_robots_txt_is_remembered;
    records:
        outcomes_make_states_and_times,
        what_is_not_given_stays,
        fetches_of_unknown_sources_are_named_and_the_others_recorded,
        the_history_is_newest_first_and_has_at_least_what_is_promised,
        a_fetch_says_why_it_was_made,
        what_was_spent_adds_up,
        pulses_add_up_and_are_kept_for_400_days,
        loading_gives_every_source_as_it_is,
        jobs_come_in_the_order_asked_for;
    heralds:
        heralds_have_small_numbers_and_names_of_their_own,
        what_an_owner_says_of_a_herald_comes_first,
        what_is_read_to_hear_a_herald_is_no_page,
        a_page_and_a_herald_can_have_one_url,
        known_urls_are_found_with_what_was_said_of_them,
        what_was_said_and_learnt_is_kept_for_what_is_there,
        a_herald_goes_with_its_parts_and_what_it_said,
        a_herald_that_said_much_is_forgotten_bit_by_bit,
        nothing_is_told_of_what_is_read_to_hear_a_herald;
    changes:
        cursors_rise_and_pages_leave_nothing_out,
        filters_take_what_they_say,
        a_change_knows_its_versions,
        old_changes_go_and_it_is_said_up_to_where;
    service:
        failures_are_told_once_and_their_end_too,
        silence_is_told_once_for_each_time,
        what_has_been_so_for_a_while_is_told_once_when_somebody_asks,
        tokens_are_kept_by_name,
        a_lease_is_kept_for_what_is_not_reported,
        a_destination_goes_on_from_its_cursor,
        what_is_given_up_is_kept_up_to_a_number,
        subscriptions_are_kept_by_where_hubs_call_back;
    versions:
        content_comes_back_as_it_was,
        the_newest_versions_stay,
        old_versions_go_but_never_the_newest,
        tidying_ends;
}

/// So many sources `https://host-H.example/N` on hosts of ten.
fn some_sources(store: &mut Store, count: u32) {
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

/// A fetch that found this content.
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
