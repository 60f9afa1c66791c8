//! Decides from an opening tag whether the content of an element is excluded.
//!
//! A rule looks at one element and its ancestors, never at the page as a whole, so that a change in one
//! place does not decide what counts in another.

use memchr::memmem;

use super::exclusion::ExclusionReason;
use super::names::{NameFacts, NameMeaning};
use super::open_element::OpenElement;
use super::phrases::{PhraseKind, classify_phrase};
use super::tag::Tag;
use super::tokenizer::Attribute;
use crate::noise::TextHint;
use crate::word_list::{pair_list, word_list};

const ROLES: &[(&str, &str)] = pair_list!("names/roles.txt");
const TEXT_HEADERS: &[&str] = word_list!("names/text_headers.txt");

/// The attributes that rules use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElementAttributes<'a> {
    class: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) rel: Option<&'a str>,
    pub(crate) href: Option<&'a str>,
    label: Option<&'a str>,
    style: Option<&'a str>,
    is_aria_hidden: bool,
    is_advertising: bool,
    is_system_message: bool,
    is_hidden: bool,
    is_open: bool,
    is_shadow_root: bool,
}

impl<'a> ElementAttributes<'a> {
    /// Collects the attributes of a list. `class`: the class, if it is not in the list.
    #[inline(always)]
    pub(crate) fn new(class: Option<&'a str>, attributes: &[Attribute<'a>]) -> Self {
        let mut result = Self { class, ..Self::default() };
        for &(name, value) in attributes {
            if result.set(name, value) {
                continue;
            }
            if is_ad_attribute(name) {
                result.is_advertising = true;
            } else if name.bytes().any(|it| it.is_ascii_uppercase()) {
                result.set(&name.to_ascii_lowercase(), value);
            }
        }
        result
    }

    /// Sets an attribute by its name in lower case. Returns false if no rule uses it.
    #[inline]
    fn set(&mut self, name: &str, value: &'a str) -> bool {
        // The first of several attributes with one name counts.
        let set_first = |field: &mut Option<&'a str>| *field = field.or(Some(value));
        match name {
            "class" => set_first(&mut self.class),
            "id" => set_first(&mut self.id),
            "href" => set_first(&mut self.href),
            "rel" => set_first(&mut self.rel),
            "role" => set_first(&mut self.role),
            "style" => set_first(&mut self.style),
            "open" => self.is_open = true,
            // The reader can open an element with `until-found`.
            "hidden" => self.is_hidden = !value.eq_ignore_ascii_case("until-found"),
            "aria-label" => set_first(&mut self.label),
            "aria-hidden" => self.is_aria_hidden = value.eq_ignore_ascii_case("true"),
            // A declarative shadow root is visible.
            "shadowrootmode" => self.is_shadow_root = true,
            // Drupal's messages to the user.
            "data-drupal-messages" => self.is_system_message = true,
            _ => return false,
        }
        true
    }

    #[inline]
    fn has_role(&self, roles: &[&str]) -> bool {
        self.role.is_some_and(|it| roles.iter().any(|role| it.trim().eq_ignore_ascii_case(role)))
    }

    fn name_facts(&self, element_name: &str) -> NameFacts {
        let is_custom = element_name.contains('-');
        let own =
            if is_custom { NameFacts::from_class(element_name) } else { NameFacts::default() };
        let id = self.id.map(NameFacts::from_id).unwrap_or_default();
        own.merge(id).merge(self.class.map(NameFacts::from_class).unwrap_or_default())
    }
}

/// True for `data-ad`, `data-ad-slot` and `data-ads`, but not for `data-add-to-cart`.
#[inline]
fn is_ad_attribute(name: &str) -> bool {
    let rest = name.get(..7).filter(|it| it.eq_ignore_ascii_case("data-ad")).map(|_| &name[7..]);
    rest.is_some_and(|it| it.is_empty() || it == "s" || it.starts_with(['-', '_']))
}

/// A check at the end of an element that is excluded by its name: it is included if it turns out to be
/// this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeferredCheck {
    /// An item of a front page.
    FrontPageItem,
    /// The header of a text.
    TextHeader,
}

/// Maximum depth of the head and foot of a site: inside `html`, `body` and a few wrappers.
const MAX_SITE_PART_DEPTH: usize = 6;

/// A hint applies to the element with the name and to nested blocks down to this depth.
const HINT_DEPTH: u8 = 3;

/// Decides whether the text of an element is excluded, and what short texts in it are. `has_prose`: the
/// page has had a paragraph of prose before. `is_class_only`: the element has no attribute but `class`,
/// and its tag is neutral.
#[inline(always)]
pub(crate) fn classify(
    element: &mut OpenElement,
    name: &str,
    attributes: &ElementAttributes<'_>,
    depth: usize,
    has_prose: bool,
    is_class_only: bool,
) -> Option<DeferredCheck> {
    let tag = element.tag;
    if !is_class_only && let Some(reason) = hidden_reason(element, attributes) {
        element.reason = Some(reason);
        element.is_from_name = false;
        return None;
    }
    let is_main = tag == Tag::Main || attributes.has_role(&["main"]);
    if is_main || matches!(tag, Tag::Article | Tag::Section | Tag::Li | Tag::Td | Tag::Blockquote) {
        element.in_main |= tag != Tag::Td && tag != Tag::Li;
        element.in_article |= tag != Tag::Section && !is_main;
    }
    if element.reason.is_some() {
        return None;
    }
    if !is_class_only && let Some(reason) = landmark_reason(element, attributes) {
        element.reason = Some(reason);
        return None;
    }
    if is_class_only {
        // Built here, so that elements that return earlier do not pay for it.
        let attributes =
            &ElementAttributes { class: attributes.class, ..ElementAttributes::default() };
        return classify_by_names(element, name, attributes, depth, has_prose);
    }
    classify_by_names(element, name, attributes, depth, has_prose)
}

/// Applies the meaning of the names of an element.
fn classify_by_names(
    element: &mut OpenElement,
    name: &str,
    attributes: &ElementAttributes<'_>,
    depth: usize,
    has_prose: bool,
) -> Option<DeferredCheck> {
    let tag = element.tag;
    let is_main = tag == Tag::Main || attributes.has_role(&["main"]);
    // Names in code are those of syntax highlighting.
    if is_main || element.in_code || matches!(tag, Tag::Body | Tag::Html | Tag::Head | Tag::H1) {
        return None;
    }
    if tag == Tag::Other && name.eq_ignore_ascii_case("marquee") {
        element.reason = Some(ExclusionReason::Widget);
        return None;
    }
    let facts = attributes.name_facts(if tag == Tag::Other { name } else { "" });
    let is_metadata_tag =
        matches!(tag, Tag::Button | Tag::Small | Tag::Footer | Tag::Address | Tag::Time);
    let hint = if is_metadata_tag { facts.hint.max(TextHint::Metadata) } else { facts.hint };
    let hint = if facts.is_social && tag.is_inline() { TextHint::Social } else { hint };
    if hint != TextHint::None {
        (element.hint, element.hint_depth) = (hint.max(element.hint), HINT_DEPTH);
    }
    let meaning = facts.meaning?;
    // Tab panes are named after the menus that open them.
    let is_tab_pane = |it: &str| it.split_ascii_whitespace().any(|it| it == "tab-pane");
    if attributes.has_role(&["tabpanel"]) || attributes.class.is_some_and(is_tab_pane) {
        return None;
    }
    if let Some(reason) = name_reason(element, meaning, attributes, depth, has_prose) {
        element.reason = Some(reason);
        element.is_from_name = true;
        element.needs_content_check =
            reason == ExclusionReason::Counter || element.in_main && may_be_content(reason);
        if element.needs_content_check && reason == ExclusionReason::Sidebar {
            (element.hint, element.hint_depth) =
                (element.hint.max(TextHint::Metadata), HINT_DEPTH + 1);
        }
        if facts.is_item && element.in_main {
            return Some(DeferredCheck::FrontPageItem);
        }
        let is_page_header = |it: &str| it.split_ascii_whitespace().any(|it| it == "page-header");
        if reason == ExclusionReason::Header
            && tag == Tag::Div
            && attributes.class.is_some_and(is_page_header)
        {
            return Some(DeferredCheck::TextHeader);
        }
    }
    None
}

/// True if an element with such a name may be content in the main part: a list of advice may be named
/// `recommendations`.
fn may_be_content(reason: ExclusionReason) -> bool {
    use ExclusionReason::{
        Account, Consent, Counter, Newsletter, Overlay, Related, Sharing, Sidebar, Widget,
    };
    matches!(
        reason,
        Account | Sidebar | Consent | Counter | Newsletter | Overlay | Related | Sharing | Widget
    )
}

/// Returns the reason why an element is not visible.
fn hidden_reason(
    element: &OpenElement,
    attributes: &ElementAttributes<'_>,
) -> Option<ExclusionReason> {
    let tag = element.tag;
    // React streams late content into a hidden element, and a script moves it to its place.
    let is_streamed = attributes.id.is_some_and(|it| it.starts_with("S:"));
    match tag {
        Tag::Template if attributes.is_shadow_root => return None,
        Tag::Template | Tag::Datalist | Tag::Rp | Tag::Desc => {
            return Some(ExclusionReason::Hidden);
        }
        Tag::Title if element.in_svg => return Some(ExclusionReason::Hidden),
        Tag::Noscript
        | Tag::Iframe
        | Tag::Noembed
        | Tag::Noframes
        | Tag::Audio
        | Tag::Video
        | Tag::Canvas => return Some(ExclusionReason::NoScript),
        Tag::Dialog if !attributes.is_open => return Some(ExclusionReason::Hidden),
        Tag::Html | Tag::Body => return None,
        _ => {}
    }
    let is_hidden_by_style = attributes.style.is_some_and(style_hides);
    // A page under a dialog hides its main part from screen readers, not from the eye. An inline
    // element with this attribute is often the visible form of a text.
    let is_hidden_by_aria = attributes.is_aria_hidden
        && !tag.is_inline()
        && !matches!(tag, Tag::Main | Tag::Article)
        && !attributes.has_role(&["main"]);
    (attributes.is_hidden && !is_streamed || is_hidden_by_style || is_hidden_by_aria)
        .then_some(ExclusionReason::Hidden)
}

/// True if a `style` attribute makes an element invisible.
fn style_hides(style: &str) -> bool {
    let sets = |property: &str, value: &str| {
        style.split(';').filter_map(|it| it.split_once(':')).any(|(name, set)| {
            let set = set.trim();
            name.trim().eq_ignore_ascii_case(property)
                && set.get(..value.len()).is_some_and(|it| it.eq_ignore_ascii_case(value))
        })
    };
    sets("display", "none") || sets("visibility", "hidden")
}

/// Returns the reason that the tag, the role or the label of an element gives.
fn landmark_reason(
    element: &mut OpenElement,
    attributes: &ElementAttributes<'_>,
) -> Option<ExclusionReason> {
    let tag = element.tag;
    if attributes.has_role(&["note", "doc-footnote", "doc-endnotes", "doc-tip", "doc-notice"]) {
        return None;
    }
    if attributes.is_advertising {
        return Some(ExclusionReason::Advertising);
    }
    if attributes.is_system_message {
        return Some(ExclusionReason::Overlay);
    }
    let label_kind = attributes.label.and_then(classify_phrase);
    if label_kind == Some(PhraseKind::RelatedHeading) {
        return Some(ExclusionReason::Related);
    }
    if label_kind == Some(PhraseKind::AdLabel) {
        return Some(ExclusionReason::Advertising);
    }
    match tag {
        Tag::Nav => return Some(ExclusionReason::Navigation),
        Tag::Search => return Some(ExclusionReason::Navigation),
        Tag::Dialog => {
            element.needs_content_check = element.in_main;
            return Some(ExclusionReason::Overlay);
        }
        Tag::Header if !element.in_main => {
            return (!is_text_header(attributes)).then_some(ExclusionReason::Header);
        }
        Tag::Footer if !element.in_article => return Some(ExclusionReason::Footer),
        Tag::AsideElement => {
            let is_note = attributes
                .class
                .map(NameFacts::from_class)
                .is_some_and(|it| it.meaning == Some(NameMeaning::Note));
            let is_inner = element.in_article || element.in_main;
            element.is_inner_aside = is_inner && !is_note;
            return (!is_inner && !is_note).then_some(ExclusionReason::Sidebar);
        }
        _ => {}
    }
    if attributes.has_role(&["banner"]) && !element.in_main {
        return Some(ExclusionReason::Header);
    }
    role_reason(attributes.role?)
}

fn role_reason(role: &str) -> Option<ExclusionReason> {
    let (_, reason) = ROLES.iter().find(|(name, _)| role.trim().eq_ignore_ascii_case(name))?;
    ExclusionReason::from_name(reason)
}

/// True for a `header` that belongs to a text, not to the site.
fn is_text_header(attributes: &ElementAttributes<'_>) -> bool {
    let names_text = |names: &str| {
        let names = names.to_ascii_lowercase();
        let contains = |it: &&str| memmem::find(names.as_bytes(), it.as_bytes()).is_some();
        TEXT_HEADERS.iter().any(contains)
    };
    attributes.id.is_some_and(names_text) || attributes.class.is_some_and(names_text)
}

/// Returns the reason that the meaning of a name gives, for an element of this tag at this place.
fn name_reason(
    element: &mut OpenElement,
    meaning: NameMeaning,
    attributes: &ElementAttributes<'_>,
    depth: usize,
    has_prose: bool,
) -> Option<ExclusionReason> {
    let tag = element.tag;
    let is_table_part = matches!(
        tag,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Td | Tag::Th
    );
    let is_caption =
        matches!(tag, Tag::Dt | Tag::Dd | Tag::Caption | Tag::Figcaption | Tag::Summary);
    match meaning {
        NameMeaning::Exclude(reason) => {
            let applies = if is_table_part || is_caption {
                use ExclusionReason::{Advertising, Consent, Navigation, Sidebar};
                !is_caption && matches!(reason, Advertising | Sidebar | Consent | Navigation)
            } else if tag == Tag::Article {
                matches!(reason, ExclusionReason::Advertising | ExclusionReason::Related)
            } else {
                true
            };
            applies.then_some(reason)
        }
        NameMeaning::SiteHeader => {
            // Cards and boxes have headers too, but without an `id`.
            let max_depth =
                if attributes.id.is_some() { MAX_SITE_PART_DEPTH } else { MAX_SITE_PART_DEPTH - 2 };
            let is_site_part = !element.in_main && !element.in_article && depth <= max_depth;
            let is_block = tag.heading_level().is_none() && !tag.is_inline();
            (is_site_part && !is_table_part && !is_caption && is_block)
                .then_some(ExclusionReason::Header)
        }
        NameMeaning::SiteFooter => {
            let is_site_part = !element.in_article && depth <= MAX_SITE_PART_DEPTH + 1;
            (is_site_part && !is_table_part && !is_caption && tag.heading_level().is_none())
                .then_some(ExclusionReason::Footer)
        }
        NameMeaning::Menu => {
            element.in_menu = true;
            None
        }
        NameMeaning::Teaser => {
            (has_prose && tag != Tag::Article).then_some(ExclusionReason::Related)
        }
        NameMeaning::Note => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_that_hides_is_recognized() {
        for style in ["display:none", "color: red; DISPLAY : None", "visibility:hidden;"] {
            assert!(style_hides(style), "{style}");
        }
        for style in ["display:block", "displaynone", "nodisplay:none", ""] {
            assert!(!style_hides(style), "{style}");
        }
    }

    #[test]
    fn every_reason_in_the_data_file_is_known() {
        for (role, _) in ROLES {
            assert!(role_reason(role).is_some(), "{role}");
        }
    }
}
