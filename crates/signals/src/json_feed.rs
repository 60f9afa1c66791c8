//! Reads JSON Feed item by item.

mod loose_text;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::defect::Defect;
use crate::entry::EntryTarget;
use crate::entry_draft::{AddressRank, BoundedText, EntryDraft};
use crate::entry_sink::EntrySink;
use crate::published_date::DateFormat;
use crate::report::DocumentFormat;
use crate::text_reader::{PieceLength, TextReader};
use loose_text::{LooseText, anything_else};

/// Prefix of the version of a feed.
const VERSION_PREFIX: &str = "jsonfeed.org/version/";

/// Reads a feed; returns true if it was read to its end.
pub(crate) fn read(text: &mut TextReader<'_>, sink: &mut EntrySink<'_>) -> bool {
    let piece = text.piece();
    piece.reset();
    let mut deserializer = serde_json::Deserializer::from_reader(text);
    let mut feed =
        FeedState { sink, draft: EntryDraft::new(), piece: piece.clone(), has_version: false };
    let result = FeedSeed(&mut feed).deserialize(&mut deserializer);
    let FeedState { has_version: version, sink, .. } = feed;
    let is_feed = sink.format == DocumentFormat::JsonFeed;
    if sink.stopped {
        return false;
    }
    match result {
        Ok(()) => {
            if is_feed && !version {
                sink.defects.add(Defect::WrongNamespace);
            }
            return is_feed;
        }
        Err(_) if piece.is_too_long() => sink.defects.add(Defect::LongPiece),
        // Reported for all formats alike.
        Err(error) if error.is_eof() => {}
        Err(_) => sink.defects.add(Defect::BadJson),
    }
    false
}

struct FeedState<'t, 'a> {
    sink: &'t mut EntrySink<'a>,
    draft: EntryDraft,
    piece: PieceLength,
    /// True if the document declares that it is a feed.
    has_version: bool,
}

/// Whole document.
struct FeedSeed<'f, 't, 'a>(&'f mut FeedState<'t, 'a>);
/// Items of a feed.
struct ItemsSeed<'f, 't, 'a>(&'f mut FeedState<'t, 'a>);
/// One item.
struct ItemSeed<'f, 't, 'a>(&'f mut FeedState<'t, 'a>);
/// Hubs of a feed.
struct HubsSeed<'f, 't, 'a>(&'f mut FeedState<'t, 'a>);

/// Implements the part of the seeds that is the same for all.
macro_rules! read_any {
    ($($name:ident)*) => {$(
        impl<'de> DeserializeSeed<'de> for $name<'_, '_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    )*};
}

read_any! { FeedSeed ItemsSeed ItemSeed HubsSeed }

impl<'de> Visitor<'de> for FeedSeed<'_, '_, '_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let feed = self.0;
        while let Some(LooseText(name)) = map.next_key()? {
            match name.as_deref().unwrap_or_default() {
                "version" => {
                    let LooseText(version) = map.next_value()?;
                    let version = version.is_some_and(|it| it.contains(VERSION_PREFIX));
                    feed.has_version |= version;
                    if version && feed.sink.format == DocumentFormat::Unknown {
                        feed.sink.set_format(DocumentFormat::JsonFeed);
                    }
                }
                "feed_url" => {
                    let LooseText(url) = map.next_value()?;
                    let base = feed.sink.base;
                    feed.sink.links.add_link("self", &url.unwrap_or_default(), base);
                }
                "hubs" => map.next_value_seed(HubsSeed(feed))?,
                "items" => map.next_value_seed(ItemsSeed(feed))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            feed.piece.reset();
        }
        Ok(())
    }

    anything_else!(but_map);
}

impl<'de> Visitor<'de> for ItemsSeed<'_, '_, '_> {
    type Value = ();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let feed = self.0;
        if feed.sink.format == DocumentFormat::Unknown {
            feed.sink.set_format(DocumentFormat::JsonFeed);
        }
        loop {
            feed.piece.reset();
            if items.next_element_seed(ItemSeed(feed))?.is_none() {
                return Ok(());
            }
        }
    }

    anything_else!(but_seq);
}

impl<'de> Visitor<'de> for HubsSeed<'_, '_, '_> {
    type Value = ();

    fn visit_seq<A: SeqAccess<'de>>(self, mut hubs: A) -> Result<(), A::Error> {
        while let Some(hub) = hubs.next_element_seed(loose_text::FieldSeed("url"))? {
            let base = self.0.sink.base;
            self.0.sink.links.add_link("hub", &hub.unwrap_or_default(), base);
        }
        Ok(())
    }

    anything_else!(but_seq);
}

impl<'de> Visitor<'de> for ItemSeed<'_, '_, '_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let FeedState { sink, draft, .. } = self.0;
        draft.reset(EntryTarget::Page);
        while let Some(LooseText(name)) = map.next_key()? {
            let name = name.unwrap_or_default();
            let part = match name.as_str() {
                "id" => b'i',
                "url" | "external_url" => b'a',
                "date_modified" | "date_published" => b'd',
                "title" | "content_html" | "content_text" | "summary" => b't',
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let LooseText(Some(text)) = map.next_value()? else { continue };
            draft.hash_field(part, &text);
            match name.as_str() {
                "url" => {
                    draft.offer_address(AddressRank::Link, &BoundedText::from_text(&text), None)
                }
                "external_url" => {
                    draft.offer_address(AddressRank::About, &BoundedText::from_text(&text), None)
                }
                "id" if text.starts_with("http") => {
                    draft.offer_address(AddressRank::Id, &BoundedText::from_text(&text), None)
                }
                "date_modified" => {
                    draft.has_date = true;
                    draft.updated = sink.parse_date(&text, DateFormat::W3c);
                }
                "date_published" => {
                    draft.has_date = true;
                    draft.published = sink.parse_date(&text, DateFormat::W3c);
                }
                _ => {}
            }
        }
        match sink.emit(draft).is_break() {
            true => Err(A::Error::custom("read no further")),
            false => Ok(()),
        }
    }

    anything_else!(but_map);
}
