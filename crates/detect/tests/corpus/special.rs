//! Pages that are unlike others, and what tools do to all pages.

use freshet_detect::Basis;

use crate::pages::pages;
use crate::{alarm, differ, none, read, read_bytes, same};

#[track_caller]
fn basis(html: &str, expect: Basis, text: &str) {
    let reading = read(html);
    assert_eq!((reading.basis, reading.text.as_str()), (expect, text), "{html}");
}

#[test]
fn a_page_with_text_is_never_empty() {
    basis("<nav>Only a menu</nav>", Basis::Visible, "Only a menu\n");
    basis("<footer>Only a footer</footer>", Basis::Visible, "Only a footer\n");
    basis("<div hidden>Only hidden</div>", Basis::Hidden, "Only hidden\n");
    basis("<noscript>Please enable scripts</noscript>", Basis::Hidden, "Please enable scripts\n");
    basis("<p>1,234 views</p>", Basis::Main, "1,234 views\n");
    basis("<p>3 minutes ago", Basis::Main, "3 minutes ago\n");
    basis("plain words", Basis::Main, "plain words\n");
    basis("", Basis::Addresses, "");
}

#[test]
fn a_shell_for_scripts_is_what_it_says_of_itself() {
    let shell = |price: &str, bundle: &str| {
        format!(
            "<html><head><title>Shop</title><meta name=description content='Kettles'>\
             <script type='application/ld+json'>{{\"name\": \"Kettle\", \"price\": {price}}}</script>\
             </head><body><div id=root></div><script src='/main.{bundle}.js'></script></body></html>"
        )
    };
    let found = read(&shell("12", "1"));
    assert_eq!(found.basis, Basis::Structured);
    assert_eq!(found.text, "Shop\nKettles\n{\"name\":\"Kettle\",\"price\":12}\n");
    same("another bundle", &shell("12", "1"), &shell("12.0", "2"));
    differ("another price", &shell("12", "1"), &shell("13", "1"));
}

#[test]
fn a_page_of_pictures_is_their_addresses() {
    same("a cache buster", "<img src='/a.png?v=1'>", "<img src='/a.png?v=2'>");
    differ("another picture", "<img src='/a.png'>", "<img src='/b.png'>");
    differ("another frame", "<frameset><frame src='/a'>", "<frameset><frame src='/b'>");
}

#[test]
fn headings_in_the_head_of_a_page_count() {
    differ(
        "title of a document",
        "<header id='title-block-header'><h1>A</h1><p class=date>1 May</p></header><p>Some text that is long enough to count.</p>",
        "<header id='title-block-header'><h1>A</h1><p class=date>2 May</p></header><p>Some text that is long enough to count.</p>",
    );
    differ(
        "main heading",
        "<header><a href=/>Site</a><h1>A</h1></header><p>Some text that is long enough to count.</p>",
        "<header><a href=/>Site</a><h1>B</h1></header><p>Some text that is long enough to count.</p>",
    );
}

#[test]
fn names_that_mislead_do_not_hide_the_main_part() {
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
        differ(around, &page("1"), &page("2"));
    }
}

#[test]
fn a_restaurant_has_a_menu() {
    let page = |price: &str| {
        format!(
            "<div id=menu><h2>Soups</h2><p>Tomato soup, {price} €</p><p>Onion soup with cheese and bread, 7 €</p></div>"
        )
    };
    differ("price of a dish", &page("5"), &page("6"));
}

#[test]
fn a_page_of_the_weather_shows_the_weather() {
    let page = |now: &str| {
        format!(
            "<main><h1>Weather in Bern</h1><div class='weather'><span class='temperature'>{now}°</span> and cloudy, with some wind from the west</div></main>"
        )
    };
    differ("temperature", &page("12"), &page("14"));
}

#[test]
fn what_is_visible_to_people_counts() {
    let page = |price: &str| {
        format!(
            "<p>A kettle of steel for every kitchen. <span class=price aria-label='Price'><span aria-hidden=true>{price}</span></span></p>"
        )
    };
    differ("a price for the eye", &page("12.99"), &page("13.99"));
    let modal = |text: &str| {
        format!(
            "<div id=app><main aria-hidden=true><p>Under a dialog: {text}, and what belongs to it.</p></main></div><div role=dialog>Log in</div>"
        )
    };
    differ("a page under a dialog", &modal("a"), &modal("b"));
}

#[test]
fn a_button_says_something() {
    let page = |text: &str| {
        format!(
            "<h1>Concert</h1><p>A long evening with songs from all over the world.</p><form><input type=submit value='{text}'></form>"
        )
    };
    differ("tickets", &page("Buy tickets"), &page("Sold out"));
}

#[test]
fn a_paragraph_after_related_links_counts() {
    let page = |end: &str| {
        format!(
            "<article><p>Some words that open the text, and a few more of them.</p><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul>\
             <p>This paragraph goes on with the text of the article, at some length, up to its very {end}.</p></article>"
        )
    };
    differ("the last paragraph", &page("end"), &page("close"));
}

#[test]
fn comments_after_related_links_count() {
    let page = |comment: &str| {
        format!(
            "<article><p>Some words that open the text, and a few more of them.</p><h3>You may also like</h3><ul><li><a href=/1>One</a></li></ul>\
             <h3>Comments</h3><p>{comment}</p></article>"
        )
    };
    differ("a comment", &page("Yes."), &page("No."));
}

#[test]
fn a_title_counts_without_its_number_of_messages() {
    let page = |title: &str| {
        format!("<title>{title}</title><p>Some text that is long enough to count.</p>")
    };
    same("messages", &page("(3) Inbox"), &page("(12) Inbox"));
    differ("title", &page("Inbox"), &page("Outbox"));
}

#[test]
fn an_encoding_is_not_content() {
    let text = "<html><head><meta charset=\"@\"></head><body><p>Größe und Maß für jeden, der es wissen will.</p></body></html>";
    let utf8 = read_bytes(text.replace('@', "utf-8").as_bytes());
    let latin: Vec<u8> = text
        .replace('@', "windows-1252")
        .chars()
        .map(|it| u8::try_from(u32::from(it)).unwrap())
        .collect();
    let latin = read_bytes(&latin);
    assert_eq!(utf8.mark.fingerprint, latin.mark.fingerprint);
    assert!(latin.text.contains("Größe und Maß"));
}

/// What tools do to the source of a page without changing it.
fn disguises(html: &str) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("comments", html.replace("<p", "<!-- x --><p").replace("</p>", "</p><!-- y -->")),
        ("class names", html.replace("<p>", "<p class='css-1x2y3z sc-bdVaJa'>")),
        ("data attributes", html.replace("<div", "<div data-react='42' data-v-7ba5bd90")),
        ("lines", html.replace("><", ">\n  <").replace("<pre>\n  <", "<pre><")),
        ("invisible characters", html.replace("e", "e\u{200b}").replace("\u{200b}", "")),
        ("soft hyphens", html.replace("bridge", "brid\u{ad}ge").replace("Bridge", "Brid&shy;ge")),
        ("spaces", html.replace(". ", ".&nbsp; ")),
    ];
    // Tags are not text: only there may names be written otherwise.
    let upper = html.replace("<p>", "<P>").replace("</p>", "</P>").replace("<div", "<DIV");
    all.push(("upper case", upper));
    all.retain(|(_, page)| page != html);
    all
}

#[test]
fn the_same_page_in_other_clothes() {
    let mut faults = Vec::new();
    for page in pages() {
        let plain = page.plain();
        for (what, disguised) in disguises(&plain) {
            // Between words of a line, white space is text.
            if what == "lines" && plain.contains("<code>") {
                continue;
            }
            faults.extend(alarm(&format!("{}, {what}", page.name), &plain, &disguised));
        }
    }
    none(&faults);
}

#[test]
fn attributes_in_another_order() {
    same(
        "order",
        "<div class='related b' id=x><p>no</p></div><p id=a class=b title=c>Text that is long enough to count for itself.</p>",
        "<div id=x class='b related'><p>no, not at all</p></div><p title=c class='b' id='a'>Text that is long enough to count for itself.</p>",
    );
}

#[test]
fn names_that_tools_make() {
    let page = |hash: &str, teaser: &str| {
        format!(
            "<div class='Layout_root__{hash}'><div class='Sidebar_sidebar__{hash}'><p>{teaser}</p></div>\
             <div class='Article_body__{hash}'><p>Text that is long enough to count for itself.</p></div></div>"
        )
    };
    same("hashes", &page("x7Ga2", "One"), &page("abcde", "Two"));
}

#[test]
fn times_relative_to_now_in_their_own_element() {
    let page = |time: &str| {
        format!(
            "<article><h1>Title</h1><time datetime='2026-11-16'>{time}</time><p>Text that is long enough to count for itself.</p></article>"
        )
    };
    same("hours", &page("2h"), &page("3h"));
    same("days", &page("yesterday"), &page("3 days ago"));
    differ("dates", &page("12 March"), &page("13 March"));
}

#[test]
fn what_is_paid_for_by_its_label() {
    let page =
        |ad: &str| format!("<main><p>Text that is long enough to count for itself.</p>{ad}</main>");
    let plain = page("");
    same(
        "inline label",
        &plain,
        &page("<p><span>Sponsored</span> <a href=/x>Buy a car</a> today</p>"),
    );
    same("attribute", &plain, &page("<div data-ad-slot='1'>Buy a car</div>"));
    differ("cart", &plain, &page("<div data-add-to-cart='1'>Buy a car</div>"));
    differ("prose", &plain, &page("<p><b>Ad</b> hominem is no argument</p>"));
}

#[test]
fn a_box_with_the_price_beside_the_product_counts() {
    let page = |price: &str| {
        format!(
            "<main><h1>Kettle</h1><p>A kettle of steel for every kitchen, and a good one.</p><aside class='buy-box'><b>{price} €</b><button>Buy</button></aside></main>"
        )
    };
    differ("price", &page("12"), &page("13"));
    let card = |price: &str| {
        format!(
            "<div class='product-sidebar'>{price} €</div><p>A kettle of steel for every kitchen, and a good one.</p>"
        )
    };
    differ("price", &card("12"), &card("13"));
    let header = |title: &str| {
        format!(
            "<div class=page><div class=cards><div class=card><div class=header>{title}</div><p>A kettle of steel for every kitchen, and a good one.</p></div></div></div>"
        )
    };
    differ("title of a card", &header("Sale"), &header("No sale"));
}

#[test]
fn a_long_line_of_pieces_with_spaces_between() {
    // Found by scripts/fuzz-detect: where pieces met was kept from before the line was trimmed.
    let row = "<td>“quoted” </td><td> </td><td>é “quoted”</td>".repeat(12);
    let title = format!("<title>(3) {}</title>", "é “quoted” <b>".repeat(20));
    assert!(read(&format!("{title}<table><tr>{row}</table>")).text.contains("| é “quoted”"));
}

#[test]
fn a_short_main_part_is_one() {
    let page = |stock: &str, ad: &str| {
        format!(
            "<nav><a href=/>Home</a></nav><main><p>{stock}</p></main><footer>{ad}, and a good deal more about it</footer>"
        )
    };
    same(
        "around it",
        &page("In stock", "Buy a car"),
        &page("In stock", "Cheap flights to many places of this world"),
    );
    differ("in it", &page("In stock", "Buy a car"), &page("Sold out", "Buy a car"));
}

#[test]
fn what_stands_after_related_links_counts() {
    let page = |comment: &str| {
        format!(
            "<div id=content><p>Some words that open the text, and a few more of them.</p><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul>\
             <div id=comments><div><b>Bob</b> {comment}</div></div></div>"
        )
    };
    differ("a comment", &page("Yes."), &page("No."));
}

#[test]
fn a_label_of_advertising_in_a_text_takes_only_what_it_stands_in() {
    let page = |end: &str| {
        format!(
            "<article><p>Some words that open the text.</p><p>Advertisement</p><p>And some that {end} it.</p></article>"
        )
    };
    differ("the text", &page("end"), &page("close"));
}

#[test]
fn what_is_hidden_in_a_paragraph_stays_hidden() {
    let page = |token: &str| {
        format!(
            "<article><h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul><p>This paragraph goes on with the text of the \
             article, at some length, <span hidden>{token}</span> up to its end.</p></article>"
        )
    };
    same("a token", &page("1"), &page("2"));
}

#[test]
fn names_and_lines_of_pages_that_nobody_planned_for() {
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
        same(part, &page(&part.replace('@', "12")), &page(&part.replace('@', "13")));
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
        differ(part, &page(&part.replace('@', "12")), &page(&part.replace('@', "13")));
    }
}
