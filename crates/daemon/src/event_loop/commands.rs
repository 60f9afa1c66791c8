//! Commands from handles.

use std::sync::Arc;

use freshet_engine::{Engine, Event, SourceBelief, SourcePhase};
use freshet_store::{LearnedState, Store, StoreError, StoredReason};
use tokio::sync::oneshot;

use super::{CheckResult, Command, CompletedEdit, EventLoop, engine_settings};
use crate::budget_plan::{BudgetPlan, SourceSnapshotPage};
use crate::config::Config;
use crate::host_status;
use crate::settings_overrides::{EffectiveSettings, SettingsOverrides};
use crate::signal_sources::{SignalReport, SignalSourceChange};
use crate::source_edit::EditError;
use crate::source_explanation::SourceExplanation;
use crate::status::DaemonStatus;
use crate::writer::{AppliedEdit, WriteOrder};

impl EventLoop {
    pub(super) fn handle_command(&mut self, ask: Command) {
        match ask {
            Command::Edit(edit, reply) => {
                let (sender, answer) = oneshot::channel();
                let now = self.context.clock.now();
                if self.writer.send(WriteOrder::Edit(edit, now, sender)).is_ok() {
                    self.in_flight.edits.spawn(async move {
                        let edited = answer.await.unwrap_or(Err(EditError::Stopped));
                        CompletedEdit { edited, reply }
                    });
                }
            }
            // The receiver may be gone.
            Command::Explain(id, reply) => {
                self.handle_event(Event::Tick);
                let _ = reply.send(SourceExplanation::from_engine(&self.engine, id));
            }
            Command::Check(id, reply) => self.check_source(id, reply),
            Command::RequestPermit(request, reply) => {
                let permit = self.lend_permit(&request);
                let _ = reply.send(permit);
            }
            Command::ReturnPermit(permit_return, reply) => {
                self.record_outside_visit(&permit_return);
                let _ = reply.send(());
            }
            Command::Status(reply) => {
                let _ = reply.send(self.current_status());
            }
            Command::Backup(path, force, reply) => {
                // Queued behind earlier writes.
                let _ = self.writer.send(WriteOrder::Backup(path, force, reply));
            }
            Command::Write(work) => {
                // The caller notices a stopped writer through its dropped reply channel.
                let _ = self.writer.send(WriteOrder::Other(work));
            }
            Command::Claim(max, length, reply) => self.claim_sources(max, length, reply),
            Command::Report(sender, reply) => self.record_reports(sender, reply),
            Command::Signal(ids, signal_source, reply) => {
                let _ = reply.send(self.receive_api_signals(ids, signal_source));
            }
            Command::ReceiveSignals(signal_source, reports, reply) => {
                let _ = reply.send(self.receive_signals(signal_source, &reports));
            }
            Command::ChangeSignalSources(change, reply) => {
                self.change_signal_sources(change, reply)
            }
            Command::PendingSignals(id, reply) => {
                self.handle_event(Event::Tick);
                let _ = reply.send(self.engine.pending_signals(id));
            }
            Command::SignalSourceReports(numbers, reply) => {
                let _ = reply.send(self.signal_source_reports(&numbers));
            }
            Command::Plan(reply) => {
                let plan = BudgetPlan::from_engine(&self.engine);
                let _ = reply.send(BudgetPlan { sources: self.page_count() as u64, ..plan });
            }
            Command::Sample(max, reply) => {
                let mut sample = sample_beliefs(&self.engine, max);
                sample.retain(|(id, _)| !self.in_flight.signal_sources.is_document_source(*id));
                let _ = reply.send(sample);
            }
            Command::Hosts(ids, reply) => {
                let _ = reply.send(host_status::host_statuses(&self.engine, &ids));
            }
            Command::WorstHosts(max, reply) => {
                let _ = reply.send(host_status::worst_hosts(&self.engine, max));
            }
            Command::SourceSnapshots(from, reply) => {
                let mut sights = SourceSnapshotPage::collect(&self.engine, from);
                sights
                    .sources
                    .retain(|it| !self.in_flight.signal_sources.is_document_source(it.id()));
                let _ = reply.send(sights);
            }
            Command::SourceStatuses(ids, reply) => {
                let each = ids.into_iter().filter_map(|id| self.engine.source_status(id));
                let _ = reply.send(each.collect());
            }
            Command::EffectiveSettings(reply) => {
                let _ = reply.send(EffectiveSettings::new(
                    &self.config,
                    &self.file_config,
                    &self.overrides,
                ));
            }
            Command::OverrideSettings(adjusted, reply) => self.override_settings(adjusted, reply),
            Command::Reload(config) => self.reload(*config),
            Command::Stop => {}
        }
    }

    /// Fetches a source at once, unless it is being fetched already.
    fn check_source(&mut self, id: u32, reply: oneshot::Sender<CheckResult>) {
        let Some(it) = self.engine.explain(id) else {
            let _ = reply.send(CheckResult::NoSource);
            return;
        };
        let was_out = self.in_flight.claims.release(id);
        if it.phase == SourcePhase::InFlight && was_out {
            // The client that holds it may take long: fetch it here, already paid for.
            self.in_flight.granted_capacity += 1;
            self.in_flight.outbox.push_front(id);
        } else if it.phase != SourcePhase::InFlight {
            self.in_flight.granted_capacity += 1;
            self.remember_decision(id, StoredReason::Requested);
            self.handle_event(Event::FetchStarted(id));
            self.in_flight.outbox.push_front(id);
        } else if let Some(place) = self.in_flight.outbox.iter().position(|&held| held == id) {
            self.in_flight.outbox.swap(0, place);
        }
        self.in_flight.on_demand.insert(id);
        self.in_flight.check_waiters.entry(id).or_default().push(reply);
    }

    pub(super) fn on_edit_done(&mut self, done: Option<CompletedEdit>) {
        let Some(CompletedEdit { edited, reply }) = done else { return };
        self.adopt_unlisted_hosts();
        let applied = edited.map(
            |AppliedEdit { result: applied, updated: described, restored: expected }| {
                if !expected.is_empty() {
                    self.handle_event(Event::SourcesRestored(expected));
                }
                if !described.is_empty() {
                    self.handle_event(Event::SourcesDescribed(described));
                }
                if !applied.removed_ids.is_empty() {
                    for id in &applied.removed_ids {
                        self.in_flight.decisions.remove(id);
                    }
                    self.handle_event(Event::SourcesRemoved(applied.removed_ids.clone()));
                }
                applied
            },
        );
        self.update_engine_settings();
        let _ = reply.send(applied);
    }

    /// Receives the signals of an API client. A source whose changes are all announced is taken to
    /// have changed; for others the signal counts by the learned precision. Returns the number of
    /// sources that exist.
    fn receive_api_signals(&mut self, ids: Vec<u32>, signal_source: u32) -> u64 {
        let is_observed = |it: &Self, id| it.engine.source_belief(id).is_some_and(|it| it.observed);
        let (observed, others): (Vec<u32>, Vec<u32>) =
            ids.into_iter().partition(|&id| is_observed(self, id));
        let known =
            observed.into_iter().filter(|&id| self.signal_observed_source(id)).count() as u64;
        let others: Vec<SignalReport> = others
            .into_iter()
            .map(|source| SignalReport { source, changed_between: None })
            .collect();
        known + self.receive_signals(signal_source, &others)
    }

    /// Signals a change of a source whose changes are all announced. Returns false if it does not
    /// exist.
    fn signal_observed_source(&mut self, id: u32) -> bool {
        self.handle_event(Event::ChangeObserved(id));
        let Some(learned) = self.engine.learned_state(id) else { return false };
        let due = learned.due_day().map(crate::clock::millis_from_days);
        let learned = LearnedState { source: id, learned: Some(learned.to_bytes()), due_at: due };
        self.in_flight.batch.learned.push(learned);
        self.in_flight.needs_write = true;
        true
    }

    /// Applies overrides that persist until they are removed, whatever the file says.
    fn override_settings(
        &mut self,
        adjusted: SettingsOverrides,
        reply: oneshot::Sender<Result<(), StoreError>>,
    ) {
        let text = adjusted.to_json();
        let keep = move |store: &mut Store| {
            let _ = reply.send(store.set_meta(SettingsOverrides::KEY, &text));
        };
        let _ = self.writer.send(WriteOrder::Other(Box::new(keep)));
        self.overrides = adjusted;
        self.apply_config(self.file_config.clone());
        tracing::info!(
            budget = %self.config.budget,
            objective = %self.config.objective,
            "settings overrides changed"
        );
    }

    fn reload(&mut self, config: Config) {
        let (configured, now) = (config.signals.clone(), self.context.clock.now());
        self.apply_config(config);
        let change = self.context.readers.with_reader(|reader| {
            Ok(SignalSourceChange::to_match_config(reader, &configured, now))
        });
        match change {
            Ok(Ok(change)) if !change.is_empty() => {
                self.change_signal_sources(change, oneshot::channel().0);
            }
            Ok(Err(error)) => {
                tracing::warn!("cannot update signal sources from the configuration: {error}")
            }
            Err(error) => {
                tracing::warn!("cannot update signal sources from the configuration: {error}")
            }
            Ok(Ok(_)) => {}
        }
        tracing::info!("configuration reloaded");
    }

    fn apply_config(&mut self, file: Config) {
        let mut config = file.clone();
        self.file_config = file;
        if let Err(error) = self.overrides.apply(&mut config) {
            // It was rejected when it was set.
            tracing::warn!("{error}");
        }
        self.concurrency.set_setting(config.fetch_concurrency);
        self.byte_budget = self.byte_budget.with_limit(config.bytes_per_day, self.engine.now());
        let now = self.context.clock.now();
        let keep = WriteOrder::SetLimits(
            config.retention,
            config.max_store_bytes,
            config.alert_thresholds,
            now,
        );
        let _ = self.writer.send(keep);
        self.context = self.context.with_config(&config);
        self.context_updates.send_replace(Arc::clone(&self.context));
        self.config = config;
        let settings = engine_settings(&self.config, self.page_count(), &self.byte_budget);
        self.handle_event(Event::SettingsChanged(settings));
    }

    pub(super) fn current_status(&mut self) -> DaemonStatus {
        let unwritten =
            self.in_flight.batch.fetches.len() + self.in_flight.fetches_being_written.unwrap_or(0);
        let waiting = u32::try_from(unwritten).unwrap_or(u32::MAX);
        let active = u32::try_from(self.in_flight.tasks.len()).unwrap_or(u32::MAX);
        let (wake, budget) = (self.engine.next_tick(), self.engine.settings().budget);
        DaemonStatus {
            at: self.context.clock.now(),
            sources: self.page_count() as u64,
            signal_sources: self.in_flight.signal_sources.len() as u64,
            signals: self.in_flight.signal_sources.signal_counts.clone(),
            budget,
            bytes_per_day: self.config.bytes_per_day,
            freshness: self.engine.freshness().unwrap_or(0.0),
            price: self.engine.price(),
            long_run_price: self.engine.long_run_price(),
            saturated_hosts: self.engine.host_prices().count() as u64,
            prepaid: (self.in_flight.ledgered - self.in_flight.prepaid).max(0.0),
            next_wake_at: (wake.is_finite() && budget > 0.0)
                .then(|| crate::clock::millis_from_days(wake)),
            concurrency: self.concurrency.status(active, waiting),
            claimed: self.in_flight.claims.claimed_count() as u64,
            ..self.counters.clone()
        }
    }
}

/// Returns beliefs about at most `most` sources, evenly spread.
fn sample_beliefs(engine: &Engine, max: usize) -> Vec<(u32, SourceBelief)> {
    let step = (engine.id_bound() as usize).div_ceil(max.max(1)).max(1);
    let ids = (0..engine.id_bound()).step_by(step);
    ids.filter_map(|id| Some((id, engine.source_belief(id)?))).collect()
}
