//! Reasons why a part of a document is excluded.

/// The reason why a part of a document does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExclusionReason {
    /// A selector in `drop` matches it.
    Dropped,
    /// No selector in `select` matches it.
    NotSelected,
    /// It is not visible.
    Hidden,
    /// It is for browsers without scripts.
    NoScript,
    /// Navigation: menus, breadcrumbs, page numbers.
    Navigation,
    /// The head of the site, but not the main heading.
    Header,
    /// The foot of the site.
    Footer,
    /// Text beside the main text.
    Sidebar,
    /// Advertising.
    Advertising,
    /// A request for consent to cookies.
    Consent,
    /// Buttons to share or follow.
    Sharing,
    /// Links to related articles or products.
    Related,
    /// A prompt to subscribe.
    Newsletter,
    /// An overlay: dialogs, messages, tooltips.
    Overlay,
    /// The user's account and cart.
    Account,
    /// A count of views, comments and the like, or a relative time.
    Counter,
    /// The time, duration or identifier of the request or the page generation.
    Request,
    /// A widget for something else: the weather, a ticker.
    Widget,
    /// Removed by `ignore_text`, or not kept by `keep_text`.
    Filtered,
}

impl ExclusionReason {
    const ALL: [Self; 19] = [
        Self::Dropped,
        Self::NotSelected,
        Self::Hidden,
        Self::NoScript,
        Self::Navigation,
        Self::Header,
        Self::Footer,
        Self::Sidebar,
        Self::Advertising,
        Self::Consent,
        Self::Sharing,
        Self::Related,
        Self::Newsletter,
        Self::Overlay,
        Self::Account,
        Self::Counter,
        Self::Request,
        Self::Widget,
        Self::Filtered,
    ];

    /// Returns the reason with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the name in output.
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
            Self::Sidebar => "aside",
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

    /// True if the part is visible, so that it counts on a page without main text.
    pub(crate) fn is_visible(self) -> bool {
        !matches!(self, Self::Dropped | Self::NotSelected | Self::Hidden | Self::NoScript)
    }
}
