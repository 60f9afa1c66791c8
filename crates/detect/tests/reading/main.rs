//! Documents of every kind through the public interface.

#![allow(clippy::unwrap_used)]

mod fixed;
mod kinds;
mod selecting;
mod setting;
mod similar;
mod verdict;

use freshet_detect::{Detector, Document, Layer, RawSettings, Reading, Settings};

fn detector(toml: &str) -> Detector {
    let raw: RawSettings = toml::from_str(toml).unwrap();
    Detector::new(Settings::resolve(&[Layer { name: "test", settings: &raw }]).unwrap())
}

fn read(toml: &str, text: &str) -> Reading {
    detector(toml).read(&Document::new(text.as_bytes()))
}
