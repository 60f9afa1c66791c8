//! Unusual pages, and transformations that tools apply to all pages.

use freshet_detect::TextScope;

use crate::pages::pages;
use crate::{
    assert_different_content, assert_no_faults, assert_same_content, describe_false_alarm, extract,
    extract_bytes,
};

#[track_caller]
fn check_scope(html: &str, expect: TextScope, text: &str) {
    let extraction = extract(html);
    assert_eq!((extraction.scope, extraction.text.as_str()), (expect, text), "{html}");
}

#[test]
fn a_page_with_text_is_never_empty() {
    check_scope("<nav>Only a menu</nav>", TextScope::Visible, "Only a menu\n");
    check_scope("<footer>Only a footer</footer>", TextScope::Visible, "Only a footer\n");
    check_scope("<div hidden>Only hidden</div>", TextScope::Hidden, "Only hidden\n");
    check_scope(
        "<noscript>Please enable scripts</noscript>",
        TextScope::Hidden,
        "Please enable scripts\n",
    );
    check_scope("<p>1,234 views</p>", TextScope::Main, "1,234 views\n");
    check_scope("<p>3 minutes ago", TextScope::Main, "3 minutes ago\n");
    check_scope("plain words", TextScope::Main, "plain words\n");
    check_scope("", TextScope::Addresses, "");
}

#[test]
fn a_page_built_by_scripts_has_its_structured_data() {
    let shell = |price: &str, bundle: &str| {
        format!(
            "<html><head><title>Store</title><meta name=description content='Kettles'>\
             <script type='application/ld+json'>{{\"name\": \"Kettle\", \"price\": {price}}}</script>\
             </head><body><div id=root></div><script src='/main.{bundle}.js'></script></body></html>"
        )
    };
    let found = extract(&shell("12", "1"));
    assert_eq!(found.scope, TextScope::Structured);
    assert_eq!(found.text, "Store\nKettles\n{\"name\":\"Kettle\",\"price\":12}\n");
    assert_same_content("another bundle", &shell("12", "1"), &shell("12.0", "2"));
    assert_different_content("another price", &shell("12", "1"), &shell("13", "1"));
}

#[test]
fn a_page_of_images_has_their_urls() {
    assert_same_content("a cache buster", "<img src='/a.png?v=1'>", "<img src='/a.png?v=2'>");
    assert_different_content("another picture", "<img src='/a.png'>", "<img src='/b.png'>");
    assert_different_content(
        "another frame",
        "<frameset><frame src='/a'>",
        "<frameset><frame src='/b'>",
    );
}

#[test]
fn headings_in_a_header_count() {
    assert_different_content(
        "title of a document",
        "<header id='title-block-header'><h1>A</h1><p class=date>1 May</p></header><p>Some text that is long enough to count.</p>",
        "<header id='title-block-header'><h1>A</h1><p class=date>2 May</p></header><p>Some text that is long enough to count.</p>",
    );
    assert_different_content(
        "main heading",
        "<header><a href=/>Site</a><h1>A</h1></header><p>Some text that is long enough to count.</p>",
        "<header><a href=/>Site</a><h1>B</h1></header><p>Some text that is long enough to count.</p>",
    );
}

#[test]
fn misleading_names_do_not_exclude_the_main_part() {
    let main =
        "<main><h1>Title</h1><p>Enough text to be the main part of a page, VERSION.</p></main>";
    for around in [
        "<div class='sidebar'>@</div>",
        "<div class='nav'>@</div>",
        "<div id='header'>@</div>",
        "<div class='page sidebar-right'>@<div class='sidebar'><p>Beside it</p></div></div>",
        "<div class='popup'>@</div>",
    ] {
        let page = |version: &str| around.replace('@', &main.replace("VERSION", version));
        assert_different_content(around, &page("1"), &page("2"));
    }
}

#[test]
fn the_menu_of_a_restaurant_counts() {
    let page = |price: &str| {
        format!(
            "<div id=menu><h2>Soups</h2><p>Tomato soup, {price} €</p><p>Onion soup with cheese and bread, 7 €</p></div>"
        )
    };
    assert_different_content("price of a dish", &page("5"), &page("6"));
}

#[test]
fn the_weather_on_a_weather_page_counts() {
    let page = |now: &str| {
        format!(
            "<main><h1>Weather in Bern</h1><div class='weather'><span class='temperature'>{now}°</span> and cloudy, with some wind from the west</div></main>"
        )
    };
    assert_different_content("temperature", &page("12"), &page("14"));
}

#[test]
fn text_hidden_from_screen_readers_only_counts() {
    let page = |price: &str| {
        format!(
            "<p>A kettle of steel for every kitchen. <span class=price aria-label='Price'><span aria-hidden=true>{price}</span></span></p>"
        )
    };
    assert_different_content("a price for the eye", &page("12.99"), &page("13.99"));
    let modal = |text: &str| {
        format!(
            "<div id=app><main aria-hidden=true><p>Under a dialog: {text}, and what belongs to it.</p></main></div><div role=dialog>Log in</div>"
        )
    };
    assert_different_content("a page under a dialog", &modal("a"), &modal("b"));
}

#[test]
fn the_text_of_a_button_counts() {
    let page = |text: &str| {
        format!(
            "<h1>Concert</h1><p>A long evening with songs from all over the world.</p><form><input type=submit value='{text}'></form>"
        )
    };
    assert_different_content("tickets", &page("Buy tickets"), &page("Sold out"));
}

#[test]
fn a_paragraph_after_related_links_counts() {
    let page = |end: &str| {
        format!(
            "<article><p>Some words that open the text, and a few more of them.</p><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul>\
             <p>This paragraph goes on with the text of the article, at some length, up to its very {end}.</p></article>"
        )
    };
    assert_different_content("the last paragraph", &page("end"), &page("close"));
}

#[test]
fn comments_after_related_links_count() {
    let page = |comment: &str| {
        format!(
            "<article><p>Some words that open the text, and a few more of them.</p><h3>You may also like</h3><ul><li><a href=/1>One</a></li></ul>\
             <h3>Comments</h3><p>{comment}</p></article>"
        )
    };
    assert_different_content("a comment", &page("Yes."), &page("No."));
}

#[test]
fn a_title_counts_without_its_number_of_messages() {
    let page = |title: &str| {
        format!("<title>{title}</title><p>Some text that is long enough to count.</p>")
    };
    assert_same_content("messages", &page("(3) Inbox"), &page("(12) Inbox"));
    assert_different_content("title", &page("Inbox"), &page("Outbox"));
}

#[test]
fn an_encoding_is_not_content() {
    let text = "<html><head><meta charset=\"@\"></head><body><p>Größe und Maß für jeden, der es wissen will.</p></body></html>";
    let utf8 = extract_bytes(text.replace('@', "utf-8").as_bytes());
    let latin: Vec<u8> = text
        .replace('@', "windows-1252")
        .chars()
        .map(|it| u8::try_from(u32::from(it)).unwrap())
        .collect();
    let latin = extract_bytes(&latin);
    assert_eq!(utf8.digests.fingerprint, latin.digests.fingerprint);
    assert!(latin.text.contains("Größe und Maß"));
}

/// Returns the transformations of a page that do not change its content.
fn equivalent_pages(html: &str) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("comments", html.replace("<p", "<!-- x --><p").replace("</p>", "</p><!-- y -->")),
        ("class names", html.replace("<p>", "<p class='css-1x2y3z sc-bdVaJa'>")),
        ("data attributes", html.replace("<div", "<div data-react='42' data-v-7ba5bd90")),
        ("lines", html.replace("><", ">\n  <").replace("<pre>\n  <", "<pre><")),
        ("invisible characters", html.replace("e", "e\u{200b}").replace("\u{200b}", "")),
        ("soft hyphens", html.replace("bridge", "brid\u{ad}ge").replace("Bridge", "Brid&shy;ge")),
        ("spaces", html.replace(". ", ".&nbsp; ")),
    ];
    // Tag names are case-insensitive, but text is not: only tags become upper case.
    let upper = html.replace("<p>", "<P>").replace("</p>", "</P>").replace("<div", "<DIV");
    all.push(("upper case", upper));
    all.retain(|(_, page)| page != html);
    all
}

#[test]
fn equivalent_markup_has_the_same_content() {
    let mut faults = Vec::new();
    for page in pages() {
        let plain = page.plain();
        for (name, equivalent) in equivalent_pages(&plain) {
            // Between words of a line, white space is text.
            if name == "lines" && plain.contains("<code>") {
                continue;
            }
            faults.extend(describe_false_alarm(
                &format!("{}, {name}", page.name),
                &plain,
                &equivalent,
            ));
        }
    }
    assert_no_faults(&faults);
}

#[test]
fn the_order_of_attributes_is_not_significant() {
    assert_same_content(
        "order",
        "<div class='related b' id=x><p>no</p></div><p id=a class=b title=c>Text that is long enough to count for itself.</p>",
        "<div id=x class='b related'><p>no, not at all</p></div><p title=c class='b' id='a'>Text that is long enough to count for itself.</p>",
    );
}

#[test]
fn generated_class_names_are_not_significant() {
    let page = |hash: &str, teaser: &str| {
        format!(
            "<div class='Layout_root__{hash}'><div class='Sidebar_sidebar__{hash}'><p>{teaser}</p></div>\
             <div class='Article_body__{hash}'><p>Text that is long enough to count for itself.</p></div></div>"
        )
    };
    assert_same_content("hashes", &page("x7Ga2", "One"), &page("abcde", "Two"));
}

#[test]
fn relative_times_in_a_time_element_are_ignored() {
    let page = |time: &str| {
        format!(
            "<article><h1>Title</h1><time datetime='2026-11-16'>{time}</time><p>Text that is long enough to count for itself.</p></article>"
        )
    };
    assert_same_content("hours", &page("2h"), &page("3h"));
    assert_same_content("days", &page("yesterday"), &page("3 days ago"));
    assert_different_content("dates", &page("12 March"), &page("13 March"));
}

#[test]
fn labelled_advertising_is_excluded() {
    let page =
        |ad: &str| format!("<main><p>Text that is long enough to count for itself.</p>{ad}</main>");
    let plain = page("");
    assert_same_content(
        "inline label",
        &plain,
        &page("<p><span>Sponsored</span> <a href=/x>Buy a car</a> today</p>"),
    );
    assert_same_content("attribute", &plain, &page("<div data-ad-slot='1'>Buy a car</div>"));
    assert_different_content("cart", &plain, &page("<div data-add-to-cart='1'>Buy a car</div>"));
    assert_different_content("prose", &plain, &page("<p><b>Ad</b> hominem is no argument</p>"));
}

#[test]
fn a_box_with_the_price_beside_the_product_counts() {
    let page = |price: &str| {
        format!(
            "<main><h1>Kettle</h1><p>A kettle of steel for every kitchen, and a good one.</p><aside class='buy-box'><b>{price} €</b><button>Buy</button></aside></main>"
        )
    };
    assert_different_content("price", &page("12"), &page("13"));
    let card = |price: &str| {
        format!(
            "<div class='product-sidebar'>{price} €</div><p>A kettle of steel for every kitchen, and a good one.</p>"
        )
    };
    assert_different_content("price", &card("12"), &card("13"));
    let header = |title: &str| {
        format!(
            "<div class=page><div class=cards><div class=card><div class=header>{title}</div><p>A kettle of steel for every kitchen, and a good one.</p></div></div></div>"
        )
    };
    assert_different_content("title of a card", &header("Sale"), &header("No sale"));
}

#[test]
fn a_long_line_of_text_nodes_has_valid_boundaries() {
    // Found by scripts/fuzz-detect: an offset of a boundary was not updated when the line was
    // trimmed.
    let row = "<td>“quoted” </td><td> </td><td>é “quoted”</td>".repeat(12);
    let title = format!("<title>(3) {}</title>", "é “quoted” <b>".repeat(20));
    assert!(extract(&format!("{title}<table><tr>{row}</table>")).text.contains("| é “quoted”"));
}

#[test]
fn a_short_main_part_is_the_main_text() {
    let page = |stock: &str, ad: &str| {
        format!(
            "<nav><a href=/>Home</a></nav><main><p>{stock}</p></main><footer>{ad}, and a good deal more about it</footer>"
        )
    };
    assert_same_content(
        "around it",
        &page("In stock", "Buy a car"),
        &page("In stock", "Cheap flights to many places of this world"),
    );
    assert_different_content(
        "in it",
        &page("In stock", "Buy a car"),
        &page("Sold out", "Buy a car"),
    );
}

#[test]
fn text_after_related_links_counts() {
    let page = |comment: &str| {
        format!(
            "<div id=content><p>Some words that open the text, and a few more of them.</p><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul>\
             <div id=comments><div><b>Bob</b> {comment}</div></div></div>"
        )
    };
    assert_different_content("a comment", &page("Yes."), &page("No."));
}

#[test]
fn an_ad_label_in_a_text_excludes_only_its_own_element() {
    let page = |end: &str| {
        format!(
            "<article><p>Some words that open the text.</p><p>Advertisement</p><p>And some that {end} it.</p></article>"
        )
    };
    assert_different_content("the text", &page("end"), &page("close"));
}

#[test]
fn hidden_text_in_a_paragraph_stays_hidden() {
    let page = |token: &str| {
        format!(
            "<article><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul><p>This paragraph goes on with the text of the \
             article, at some length, <span hidden>{token}</span> up to its end.</p></article>"
        )
    };
    assert_same_content("a token", &page("1"), &page("2"));
}

#[test]
fn unusual_noise_is_ignored_and_similar_content_counts() {
    let page = |part: &str| {
        format!(
            "<div id=page><div class=content><h1>Plan</h1><p>The council approved the plan after a long debate about costs.</p>{part}</div></div>"
        )
    };
    for part in [
        "<div class='adv'>Buy @</div>",
        "<div class='sponsored-content'><a href=x>Buy @</a></div>",
        "<div id='counter'>@</div>",
        "<p>This page has been viewed @ times</p>",
        "<div class='alert-cookie'>We use @ cookies.</div>",
        "<button class='like-button'>♥ @</button>",
        "<p>Likes: @ | Shares: @</p>",
    ] {
        assert_same_content(part, &page(&part.replace('@', "12")), &page(&part.replace('@', "13")));
    }
    for part in [
        "<p>Population: @</p>",
        "<p>@ votes</p>",
        "<div class='score'>2:@</div>",
        "<div class='banner'>Closed on day @</div>",
        "<table><tr><td>Comments</td><td>@</td></tr></table>",
        "<h2>Share capital</h2><p>@</p>",
        "<p>Event starts 10:@</p>",
        "<p>Time: 10:02:@</p>",
    ] {
        assert_different_content(
            part,
            &page(&part.replace('@', "12")),
            &page(&part.replace('@', "13")),
        );
    }
}
