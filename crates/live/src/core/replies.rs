//! What others ask of the loop.

use freshet_engine::{Event, Standing};
use tokio::sync::oneshot;

use super::{Ask, Checked, Core, EditOver, engine_settings};
use crate::config::Config;
use crate::edit::EditError;
use crate::explained::Explained;
use crate::status::Status;
use crate::writer::{Edited, Write};

impl Core {
    pub(super) fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Edit(edit, reply) => {
                let (told, answer) = oneshot::channel();
                let now = self.shop.clock.now();
                if self.writer.send(Write::Edit(edit, now, told)).is_ok() {
                    self.flow.edits.spawn(async move {
                        let edited = answer.await.unwrap_or(Err(EditError::Stopped));
                        EditOver { edited, reply }
                    });
                }
            }
            // Who asked may have gone.
            Ask::Explain(id, reply) => {
                self.tell(Event::Tick);
                let _ = reply.send(self.engine.explain(id).map(|it| Explained::of(&it)));
            }
            Ask::Check(id, reply) => self.check(id, reply),
            Ask::Lend(want, reply) => {
                let turn = self.lend(&want);
                let _ = reply.send(turn);
            }
            Ask::Heard(left, reply) => {
                self.heard(&left);
                let _ = reply.send(());
            }
            Ask::Status(reply) => {
                let _ = reply.send(self.state());
            }
            Ask::Backup(path, force, reply) => {
                // It waits in line with all else that is written.
                let _ = self.writer.send(Write::Backup(path, force, reply));
            }
            Ask::Reload(config) => self.reload(*config),
            Ask::Stop => {}
        }
    }

    /// Fetches a source at once, unless it is under way.
    fn check(&mut self, id: u32, reply: oneshot::Sender<Checked>) {
        let Some(it) = self.engine.explain(id) else {
            let _ = reply.send(Checked::NoSource);
            return;
        };
        if it.standing != Standing::Asked {
            self.flow.given += 1;
            self.tell(Event::Fetching(id));
            self.flow.outbox.push_front(id);
        } else if let Some(place) = self.flow.outbox.iter().position(|&held| held == id) {
            self.flow.outbox.swap(0, place);
        }
        self.flow.checked.insert(id);
        self.flow.waiting.entry(id).or_default().push(reply);
    }

    pub(super) fn was_edited(&mut self, over: Option<EditOver>) {
        let Some(EditOver { edited, reply }) = over else { return };
        let applied = edited.map(|Edited { applied, described }| {
            if !described.is_empty() {
                self.tell(Event::Described(described));
            }
            if !applied.gone.is_empty() {
                self.tell(Event::Removed(applied.gone.clone()));
            }
            applied
        });
        self.meet();
        self.adapt();
        let _ = reply.send(applied);
    }

    fn reload(&mut self, config: Config) {
        self.crew.set(config.crew);
        self.allowance = self.allowance.resume(config.bytes, self.engine.now());
        let _ = self.writer.send(Write::Keep(config.retention, config.size));
        self.shop = self.shop.with(&config);
        self.config = config;
        let settings = engine_settings(&self.config, self.engine.len(), &self.allowance);
        self.tell(Event::Settings(settings));
        tracing::info!("the configuration was read again");
    }

    pub(super) fn state(&mut self) -> Status {
        let unwritten = self.flow.batch.fetches.len() + self.flow.writing.unwrap_or(0);
        let waiting = u32::try_from(unwritten).unwrap_or(u32::MAX);
        let active = u32::try_from(self.flow.tasks.len()).unwrap_or(u32::MAX);
        let wake = self.engine.wake();
        Status {
            at: self.shop.clock.now(),
            sources: self.engine.len() as u64,
            budget: self.engine.settings().budget,
            bytes_budget: self.config.bytes,
            freshness: self.engine.freshness().unwrap_or(0.0),
            price: self.engine.price(),
            outlook: self.engine.outlook(),
            saturated_hosts: self.engine.host_prices().count() as u64,
            wake: wake.is_finite().then(|| crate::clock::millis(wake)),
            crew: self.crew.state(active, waiting),
            ..self.count.clone()
        }
    }
}
