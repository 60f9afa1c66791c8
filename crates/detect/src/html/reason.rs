//! Why a part of a page is left out.

/// Why a part of a page does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Matched by a selector in `drop`.
    Dropped,
    /// Not in anything that `select` names.
    NotSelected,
    /// Cannot be seen.
    Hidden,
    /// For browsers without scripts.
    NoScript,
    /// Navigation: menus, breadcrumbs, numbers of pages.
    Navigation,
    /// The head of the site, but for its main heading.
    Header,
    /// The foot of the site.
    Footer,
    /// Beside the main thing.
    Aside,
    /// Advertising.
    Advertising,
    /// Asks for consent to cookies.
    Consent,
    /// Buttons to share or follow.
    Sharing,
    /// What else one might read or buy.
    Related,
    /// Asks to subscribe.
    Newsletter,
    /// Lies over the page: dialogs, messages, hints.
    Overlay,
    /// Who is signed in, and what is in the cart.
    Account,
    /// A count of views, comments and the like, or how long ago.
    Counter,
    /// When and how the page was made, and for which request.
    Request,
    /// A small window on something else: the weather, a ticker.
    Widget,
    /// Removed by `ignore_text`, or not kept by `keep_text`.
    Filtered,
}

impl Reason {
    /// In a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::NotSelected => "not selected",
            Self::Hidden => "hidden",
            Self::NoScript => "no script",
            Self::Navigation => "navigation",
            Self::Header => "header",
            Self::Footer => "footer",
            Self::Aside => "aside",
            Self::Advertising => "advertising",
            Self::Consent => "consent",
            Self::Sharing => "sharing",
            Self::Related => "related",
            Self::Newsletter => "newsletter",
            Self::Overlay => "overlay",
            Self::Account => "account",
            Self::Counter => "counter",
            Self::Request => "request",
            Self::Widget => "widget",
            Self::Filtered => "filtered",
        }
    }

    /// Whether it is there for all to see, so that it counts where there is nothing else.
    pub(crate) fn is_visible(self) -> bool {
        !matches!(self, Self::Dropped | Self::NotSelected | Self::Hidden | Self::NoScript)
    }
}
