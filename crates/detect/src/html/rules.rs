//! What an opening tag says of whether its content counts. Each rule looks at one element and at
//! what it stands in, never at the page as a whole, so that what changes in one place of a page
//! does not change what counts in another.

use memchr::memmem;

use super::frame::Frame;
use super::names::{Named, Says};
use super::phrases::{Phrase, phrase};
use super::reason::Reason;
use super::tag::Tag;
use super::tokenizer::Attribute;
use crate::noise::Hint;

/// The attributes that the rules look at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks<'a> {
    class: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) rel: Option<&'a str>,
    pub(crate) href: Option<&'a str>,
    label: Option<&'a str>,
    style: Option<&'a str>,
    aria_hidden: bool,
    advertising: bool,
    message: bool,
    hidden: bool,
    open: bool,
    shown: bool,
}

impl<'a> Marks<'a> {
    /// Of a `class` that comes before all others, if one is known, and of a list.
    #[inline(always)]
    pub(crate) fn of(class: Option<&'a str>, attributes: &[Attribute<'a>]) -> Self {
        let mut marks = Self { class, ..Self::default() };
        for &(name, value) in attributes {
            if marks.take(name, value) {
                continue;
            }
            if is_advertising(name) {
                marks.advertising = true;
            } else if name.bytes().any(|it| it.is_ascii_uppercase()) {
                marks.take(&name.to_ascii_lowercase(), value);
            }
        }
        marks
    }

    /// Takes an attribute in lower case, and says whether it is one of those looked at.
    #[inline]
    fn take(&mut self, name: &str, value: &'a str) -> bool {
        // The first of several counts.
        let set = |mark: &mut Option<&'a str>| *mark = mark.or(Some(value));
        match name {
            "class" => set(&mut self.class),
            "id" => set(&mut self.id),
            "href" => set(&mut self.href),
            "rel" => set(&mut self.rel),
            "role" => set(&mut self.role),
            "style" => set(&mut self.style),
            "open" => self.open = true,
            // `until-found` is for parts that a reader opens.
            "hidden" => self.hidden = !value.eq_ignore_ascii_case("until-found"),
            "aria-label" => set(&mut self.label),
            "aria-hidden" => self.aria_hidden = value.eq_ignore_ascii_case("true"),
            // Part of the page, though not of its document.
            "shadowrootmode" => self.shown = true,
            // What a content management system tells its user.
            "data-drupal-messages" => self.message = true,
            _ => return false,
        }
        true
    }

    #[inline]
    fn is_role(&self, roles: &[&str]) -> bool {
        self.role.is_some_and(|it| roles.iter().any(|role| it.trim().eq_ignore_ascii_case(role)))
    }

    fn named(&self, name: &str) -> Named {
        let own = if name.contains('-') { Named::list(name) } else { Named::default() };
        let id = self.id.map(Named::id).unwrap_or_default();
        own.or(id).or(self.class.map(Named::list).unwrap_or_default())
    }
}

/// `data-ad`, `data-ad-slot`, `data-ads`, but not `data-add-to-cart`.
#[inline]
fn is_advertising(name: &str) -> bool {
    let rest = name.get(..7).filter(|it| it.eq_ignore_ascii_case("data-ad")).map(|_| &name[7..]);
    rest.is_some_and(|it| it.is_empty() || it == "s" || it.starts_with(['-', '_']))
}

/// What else an element may be than its name says; known at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// One of the things that a front page shows.
    Item,
    /// The head of a text.
    Head,
}

/// Elements deeper than this are no head or foot of a site: `html`, `body` and a few wrappers.
const SHALLOW: usize = 6;

/// Fills in what the element says of its own text. `long_text`: whether something to read came
/// before it. `mute`: it has no mark but its class, and is none of the elements that tell by themselves.
#[inline(always)]
pub(crate) fn judge(
    frame: &mut Frame,
    name: &str,
    marks: &Marks<'_>,
    depth: usize,
    long_text: bool,
    mute: bool,
) -> Option<Look> {
    let tag = frame.tag;
    if !mute && let Some(reason) = unseen(frame, marks) {
        frame.reason = Some(reason);
        frame.guessed = false;
        return None;
    }
    let main = tag == Tag::Main || marks.is_role(&["main"]);
    if main || matches!(tag, Tag::Article | Tag::Section | Tag::Li | Tag::Td | Tag::Blockquote) {
        frame.in_main |= tag != Tag::Td && tag != Tag::Li;
        frame.in_article |= tag != Tag::Section && !main;
    }
    if frame.reason.is_some() {
        return None;
    }
    if !mute && let Some(reason) = landmark(frame, marks) {
        frame.reason = Some(reason);
        return None;
    }
    if mute {
        // Made only for the few that come here.
        let marks = &Marks { class: marks.class, ..Marks::default() };
        return by_names(frame, name, marks, depth, long_text);
    }
    by_names(frame, name, marks, depth, long_text)
}

/// What its names say of it.
fn by_names(
    frame: &mut Frame,
    name: &str,
    marks: &Marks<'_>,
    depth: usize,
    long_text: bool,
) -> Option<Look> {
    let tag = frame.tag;
    let main = tag == Tag::Main || marks.is_role(&["main"]);
    // Names within code are those of its words.
    if main || frame.in_code || matches!(tag, Tag::Body | Tag::Html | Tag::Head | Tag::H1) {
        return None;
    }
    if tag == Tag::Other && name.eq_ignore_ascii_case("marquee") {
        frame.reason = Some(Reason::Widget);
        return None;
    }
    let found = marks.named(if tag == Tag::Other { name } else { "" });
    let meta = matches!(tag, Tag::Button | Tag::Small | Tag::Footer | Tag::Address | Tag::Time);
    let hint = if meta { found.hint.max(Hint::Meta) } else { found.hint };
    let hint = if found.social && tag.is_inline() { Hint::Social } else { hint };
    if hint != Hint::None {
        (frame.hint, frame.reach) = (hint.max(frame.hint), REACH);
    }
    let says = found.says?;
    // Panes are named after the menus that open them.
    let pane = |it: &str| it.split_ascii_whitespace().any(|it| it == "tab-pane");
    if marks.is_role(&["tabpanel"]) || marks.class.is_some_and(pane) {
        return None;
    }
    if let Some(reason) = named(frame, says, marks, depth, long_text) {
        frame.reason = Some(reason);
        frame.guessed = true;
        frame.doubted = reason == Reason::Counter || frame.in_main && is_doubtful(reason);
        if frame.doubted && reason == Reason::Aside {
            (frame.hint, frame.reach) = (frame.hint.max(Hint::Meta), REACH + 1);
        }
        if found.item && frame.in_main {
            return Some(Look::Item);
        }
        let header = |it: &str| it.split_ascii_whitespace().any(|it| it == "page-header");
        if reason == Reason::Header && tag == Tag::Div && marks.class.is_some_and(header) {
            return Some(Look::Head);
        }
    }
    None
}

/// A name speaks for its element and for blocks in it, not for those further in.
const REACH: u8 = 3;

/// Whether a name may be that of the thing itself: advice is called `recommendations` too.
fn is_doubtful(reason: Reason) -> bool {
    use Reason::{Account, Aside, Consent, Counter, Newsletter, Overlay, Related, Sharing, Widget};
    matches!(
        reason,
        Account | Aside | Consent | Counter | Newsletter | Overlay | Related | Sharing | Widget
    )
}

/// Whether it cannot be seen.
fn unseen(frame: &Frame, marks: &Marks<'_>) -> Option<Reason> {
    let tag = frame.tag;
    // A script puts what comes late into its place.
    let late = marks.id.is_some_and(|it| it.starts_with("S:"));
    match tag {
        Tag::Template if marks.shown => return None,
        Tag::Template | Tag::Datalist | Tag::Rp | Tag::Desc => return Some(Reason::Hidden),
        Tag::Title if frame.in_svg => return Some(Reason::Hidden),
        Tag::Noscript
        | Tag::Iframe
        | Tag::Noembed
        | Tag::Noframes
        | Tag::Audio
        | Tag::Video
        | Tag::Canvas => return Some(Reason::NoScript),
        Tag::Dialog if !marks.open => return Some(Reason::Hidden),
        Tag::Html | Tag::Body => return None,
        _ => {}
    }
    let styled = marks.style.is_some_and(hides);
    // Pages under a dialog hide their main part from screen readers, not from people; and a short
    // piece of a line with this mark is what people see of it.
    let unread = marks.aria_hidden
        && !tag.is_inline()
        && !matches!(tag, Tag::Main | Tag::Article)
        && !marks.is_role(&["main"]);
    (marks.hidden && !late || styled || unread).then_some(Reason::Hidden)
}

/// Whether a `style` makes an element invisible.
fn hides(style: &str) -> bool {
    let says = |property: &str, value: &str| {
        style.split(';').filter_map(|it| it.split_once(':')).any(|(name, set)| {
            let set = set.trim();
            name.trim().eq_ignore_ascii_case(property)
                && set.get(..value.len()).is_some_and(|it| it.eq_ignore_ascii_case(value))
        })
    };
    says("display", "none") || says("visibility", "hidden")
}

/// What HTML's own elements and roles say.
fn landmark(frame: &mut Frame, marks: &Marks<'_>) -> Option<Reason> {
    let tag = frame.tag;
    if marks.is_role(&["note", "doc-footnote", "doc-endnotes", "doc-tip", "doc-notice"]) {
        return None;
    }
    if marks.advertising {
        return Some(Reason::Advertising);
    }
    if marks.message {
        return Some(Reason::Overlay);
    }
    let labelled = marks.label.and_then(phrase);
    if labelled == Some(Phrase::Related) {
        return Some(Reason::Related);
    }
    if labelled == Some(Phrase::Label) {
        return Some(Reason::Advertising);
    }
    match tag {
        Tag::Nav => return Some(Reason::Navigation),
        Tag::Search => return Some(Reason::Navigation),
        Tag::Dialog => {
            frame.doubted = frame.in_main;
            return Some(Reason::Overlay);
        }
        Tag::Header if !frame.in_main => {
            return (!is_of_a_text(marks)).then_some(Reason::Header);
        }
        Tag::Footer if !frame.in_article => return Some(Reason::Footer),
        Tag::Aside => {
            let note = marks.class.map(Named::list).is_some_and(|it| it.says == Some(Says::Note));
            let within = frame.in_article || frame.in_main;
            frame.undecided = within && !note;
            return (!within && !note).then_some(Reason::Aside);
        }
        _ => {}
    }
    let roles: [(&[&str], Reason); 5] = [
        (&["navigation", "search", "menu", "menubar", "directory", "tablist"], Reason::Navigation),
        (&["contentinfo"], Reason::Footer),
        (&["complementary"], Reason::Aside),
        (&["dialog", "alertdialog", "tooltip"], Reason::Overlay),
        (&["timer", "marquee"], Reason::Widget),
    ];
    marks.role?;
    if marks.is_role(&["banner"]) && !frame.in_main {
        return Some(Reason::Header);
    }
    roles.into_iter().find(|(roles, _)| marks.is_role(roles)).map(|(_, reason)| reason)
}

/// A header that belongs to a text, not to a site.
fn is_of_a_text(marks: &Marks<'_>) -> bool {
    let of_text = |names: &str| {
        let names = names.to_ascii_lowercase();
        ["title-block", "article", "post", "entry", "story", "product", "doc", "hero"]
            .iter()
            .any(|it| memmem::find(names.as_bytes(), it.as_bytes()).is_some())
    };
    marks.id.is_some_and(of_text) || marks.class.is_some_and(of_text)
}

/// What the names that a site gives its parts say.
fn named(
    frame: &mut Frame,
    says: Says,
    marks: &Marks<'_>,
    depth: usize,
    long_text: bool,
) -> Option<Reason> {
    let tag = frame.tag;
    let cell = matches!(
        tag,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Td | Tag::Th
    );
    let term = matches!(tag, Tag::Dt | Tag::Dd | Tag::Caption | Tag::Figcaption | Tag::Summary);
    match says {
        Says::Out(reason) => {
            let applies = if cell || term {
                use Reason::{Advertising, Aside, Consent, Navigation};
                !term && matches!(reason, Advertising | Aside | Consent | Navigation)
            } else if tag == Tag::Article {
                matches!(reason, Reason::Advertising | Reason::Related)
            } else {
                true
            };
            applies.then_some(reason)
        }
        Says::Header => {
            // Cards and boxes have headers too, but no names of their own.
            let most = if marks.id.is_some() { SHALLOW } else { SHALLOW - 2 };
            let site = !frame.in_main && !frame.in_article && depth <= most;
            (site && !cell && !term && tag.heading().is_none() && !tag.is_inline())
                .then_some(Reason::Header)
        }
        Says::Footer => {
            let site = !frame.in_article && depth <= SHALLOW + 1;
            (site && !cell && !term && tag.heading().is_none()).then_some(Reason::Footer)
        }
        Says::Menu => {
            frame.in_menu = true;
            None
        }
        Says::Teaser => (long_text && tag != Tag::Article).then_some(Reason::Related),
        Says::Note => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide() {
        for style in ["display:none", "color: red; DISPLAY : None", "visibility:hidden;"] {
            assert!(hides(style), "{style}");
        }
        for style in ["display:block", "displaynone", "nodisplay:none", ""] {
            assert!(!hides(style), "{style}");
        }
    }
}
