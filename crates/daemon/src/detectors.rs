//! What counts of which source: settings of the source over those of patterns over those of all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;
use freshet_detect::{Detector, Layer, RawSettings, Settings};
use freshet_fetch::Pattern;
use url::Url;

/// Detectors that are kept; with more different settings, they are made again.
const KEPT: usize = 4096;

/// What is said for all sources, and for some.
#[derive(Clone)]
pub struct Rules {
    all: RawSettings,
    some: Vec<(Pattern, RawSettings)>,
}

impl Rules {
    /// Rules, with all that can be checked without a source.
    pub(crate) fn new(all: RawSettings, some: Vec<(String, RawSettings)>) -> Result<Self, String> {
        let mut patterns = Vec::new();
        Settings::resolve(&[Layer { name: "all sources", settings: &all }])
            .map_err(|why| why.to_string())?;
        for (text, settings) in some {
            let pattern: Pattern = text.parse().map_err(|why| format!("rules: `{text}`: {why}"))?;
            Settings::resolve(&[Layer { name: &format!("rules: `{text}`"), settings: &settings }])
                .map_err(|why| why.to_string())?;
            patterns.push((pattern, settings));
        }
        Ok(Self { all, some: patterns })
    }

    /// What counts of a source, with its own settings as JSON.
    ///
    /// # Errors
    /// What is wrong with its settings.
    pub fn detector(&self, url: &Url, own: &str) -> Result<Detector, String> {
        let own = parse(own)?;
        let mut layers = vec![Layer { name: url.as_str(), settings: &own }];
        // Of patterns the later one counts.
        let some = self.some.iter().rev().filter(|(pattern, _)| pattern.matches(url));
        layers.extend(some.map(|(_, settings)| Layer { name: "rules", settings }));
        layers.push(Layer { name: "all sources", settings: &self.all });
        Ok(Detector::new(Settings::resolve(&layers).map_err(|why| why.to_string())?))
    }

    /// Whether no URL has other settings than another one.
    fn are_for_all(&self) -> bool {
        self.some.is_empty()
    }
}

fn parse(own: &str) -> Result<RawSettings, String> {
    if own.is_empty() {
        return Ok(RawSettings::default());
    }
    serde_json::from_str(own).map_err(|why| format!("its settings cannot be read: {why}"))
}

/// Detectors by what is said for their sources, each made once.
pub(crate) struct Detectors {
    rules: Rules,
    kept: Mutex<HashMap<String, Arc<Detector>, FixedState>>,
}

impl Detectors {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, kept: Mutex::default() }
    }

    /// The detector of a source. What cannot be meant in its settings does not count: it was refused
    /// when it was said.
    pub(crate) fn of(&self, url: &Url, own: &str) -> Arc<Detector> {
        let key = if self.rules.are_for_all() { own.to_owned() } else { format!("{own}\n{url}") };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(detector) = kept.get(&key) {
            return Arc::clone(detector);
        }
        let made = self.rules.detector(url, own).or_else(|_| self.rules.detector(url, ""));
        let detector = Arc::new(made.unwrap_or_default());
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&detector));
        detector
    }
}
