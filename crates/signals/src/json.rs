//! JSON Feed, item by item.

mod loose;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::defect::Defect;
use crate::draft::{Draft, Rank, Run};
use crate::entry::Kind;
use crate::entry_sink::EntrySink;
use crate::published_date::Form;
use crate::report::Format;
use crate::text::{Piece, Text};
use loose::{Loose, anything_else};

/// What versions of feeds begin with.
const VERSION: &str = "jsonfeed.org/version/";

/// Reads a feed; says whether it was read to its end.
pub(crate) fn read(text: &mut Text<'_>, teller: &mut EntrySink<'_>) -> bool {
    let piece = text.piece();
    piece.begin();
    let mut json = serde_json::Deserializer::from_reader(text);
    let mut feed = Feed { teller, draft: Draft::new(), piece: piece.clone(), version: false };
    let result = Top(&mut feed).deserialize(&mut json);
    let Feed { version, teller, .. } = feed;
    let is_feed = teller.format == Format::Json;
    if teller.stopped {
        return false;
    }
    match result {
        Ok(()) => {
            if is_feed && !version {
                teller.defects.add(Defect::WrongNamespace);
            }
            return is_feed;
        }
        Err(_) if piece.is_too_long() => teller.defects.add(Defect::LongPiece),
        // Said of all formats alike.
        Err(error) if error.is_eof() => {}
        Err(_) => teller.defects.add(Defect::BadJson),
    }
    false
}

struct Feed<'t, 'a> {
    teller: &'t mut EntrySink<'a>,
    draft: Draft,
    piece: Piece,
    /// Whether it says that it is a feed.
    version: bool,
}

/// The whole document.
struct Top<'f, 't, 'a>(&'f mut Feed<'t, 'a>);
/// The items of a feed.
struct Items<'f, 't, 'a>(&'f mut Feed<'t, 'a>);
/// One of them.
struct Item<'f, 't, 'a>(&'f mut Feed<'t, 'a>);
/// The hubs of a feed.
struct Hubs<'f, 't, 'a>(&'f mut Feed<'t, 'a>);

/// What a seed and its visitor have in common.
macro_rules! read_any {
    ($($name:ident)*) => {$(
        impl<'de> DeserializeSeed<'de> for $name<'_, '_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
                json.deserialize_any(self)
            }
        }
    )*};
}

read_any! { Top Items Item Hubs }

impl<'de> Visitor<'de> for Top<'_, '_, '_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let feed = self.0;
        while let Some(Loose(name)) = map.next_key()? {
            match name.as_deref().unwrap_or_default() {
                "version" => {
                    let Loose(version) = map.next_value()?;
                    let version = version.is_some_and(|it| it.contains(VERSION));
                    feed.version |= version;
                    if version && feed.teller.format == Format::Unknown {
                        feed.teller.found(Format::Json);
                    }
                }
                "feed_url" => {
                    let Loose(url) = map.next_value()?;
                    let base = feed.teller.base;
                    feed.teller.links.add("self", &url.unwrap_or_default(), base);
                }
                "hubs" => map.next_value_seed(Hubs(feed))?,
                "items" => map.next_value_seed(Items(feed))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            feed.piece.begin();
        }
        Ok(())
    }

    anything_else!(but_map);
}

impl<'de> Visitor<'de> for Items<'_, '_, '_> {
    type Value = ();

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let feed = self.0;
        if feed.teller.format == Format::Unknown {
            feed.teller.found(Format::Json);
        }
        loop {
            feed.piece.begin();
            if items.next_element_seed(Item(feed))?.is_none() {
                return Ok(());
            }
        }
    }

    anything_else!(but_seq);
}

impl<'de> Visitor<'de> for Hubs<'_, '_, '_> {
    type Value = ();

    fn visit_seq<A: SeqAccess<'de>>(self, mut hubs: A) -> Result<(), A::Error> {
        while let Some(hub) = hubs.next_element_seed(loose::Field("url"))? {
            let base = self.0.teller.base;
            self.0.teller.links.add("hub", &hub.unwrap_or_default(), base);
        }
        Ok(())
    }

    anything_else!(but_seq);
}

impl<'de> Visitor<'de> for Item<'_, '_, '_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Feed { teller, draft, .. } = self.0;
        draft.begin(Kind::Page);
        while let Some(Loose(name)) = map.next_key()? {
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
            let Loose(Some(text)) = map.next_value()? else { continue };
            draft.say_of(part, &text);
            match name.as_str() {
                "url" => draft.offer(Rank::Link, &Run::of(&text), None),
                "external_url" => draft.offer(Rank::About, &Run::of(&text), None),
                "id" if text.starts_with("http") => draft.offer(Rank::Id, &Run::of(&text), None),
                "date_modified" => {
                    draft.dated = true;
                    draft.updated = teller.date(&text, Form::W3c);
                }
                "date_published" => {
                    draft.dated = true;
                    draft.published = teller.date(&text, Form::W3c);
                }
                _ => {}
            }
        }
        match teller.tell(draft).is_break() {
            true => Err(A::Error::custom("read no further")),
            false => Ok(()),
        }
    }

    anything_else!(but_map);
}
