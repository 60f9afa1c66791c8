//! Lines and small parts of pages. `[[old||new]]` changes.

use crate::{assert_no_faults, describe_false_alarm, describe_miss};

/// Pages around a part.
const PAGES: [&str; 3] = [
    "<html><head><title>Plan</title></head><body><main><h1>Plan</h1><p>The council approved the plan after a long debate about costs.</p>@</main></body></html>",
    "<div id=page><div class=content><h1>Plan</h1><p>The council approved the plan after a long debate about costs.</p>@</div></div>",
    "<article><h2>Plan</h2>@<p>The council approved the plan after a long debate about costs.</p></article>",
];

/// Returns the page before and after the change.
fn apply_change(page: &str, part: &str) -> (String, String) {
    let (mut old, mut new, mut rest) = (String::new(), String::new(), part);
    while let Some((before, after)) = rest.split_once("[[") {
        let (choice, after) = after.split_once("]]").unwrap();
        let (a, b) = choice.split_once("||").unwrap();
        old = old + before + a;
        new = new + before + b;
        rest = after;
    }
    (page.replace('@', &(old + rest)), page.replace('@', &(new + rest)))
}

pub(crate) fn check_parts(parts: &[&str], describe_fault: fn(&str, &str, &str) -> Option<String>) {
    let mut faults = Vec::new();
    for part in parts {
        for page in PAGES {
            let (old, new) = apply_change(page, part);
            faults.extend(describe_fault(part, &old, &new));
        }
    }
    assert_no_faults(&faults);
}

#[test]
fn content_counts() {
    check_parts(
        &[
            "<p>Price: [[40||41]] | Views: 12</p>",
            "<p>Stand: [[03.03.2024||04.03.2024]] | Aufrufe: 1.204</p>",
            "<p>Posted [[2024-03-03||2024-03-04]] Comments: 12</p>",
            "<pre>if a:\n[[    ||  ]]b()</pre>",
            "<pre>a[[\n||  ]]b</pre>",
            "<pre>[[12||13]] views\n3 minutes ago</pre>",
            "<p>Run <code>tail -n [[12||13]] views</code> first.</p>",
            "<p><code>[[12||13]] comments</code></p>",
            "<textarea>Views: [[12||13]]</textarea>",
            "<p>[[500||600]] shares were sold</p>",
            "<p><b>[[500||600]] shares</b> were sold on Friday.</p>",
            "<p>founded [[30||31]] years ago</p>",
            "<p>The shop closed [[3||4]] days ago.</p>",
            "<p>Er wurde vor [[30||31]] Jahren gebaut.</p>",
            "<p>[[12||13]] people are looking for work</p>",
            "<p>The film had [[1,204||1,305]] views.</p>",
            "<table><tr><td>Free</td><td>[[10,000||20,000]] views</td></tr></table>",
            "<table><tr><td><p>Free</p></td><td><p>[[10,000||20,000]] views</p></td></tr></table>",
            "<table><tr><th>Comments</th></tr><tr><td>[[100||200]] comments</td></tr></table>",
            "<ul><li>[[500||600]] subscribers</li><li>Mail support</li></ul>",
            "<dl><dt>Volume</dt><dd>[[120,331||120,402]] shares</dd></dl>",
            "<p>Session: [[12B||12C]], room 4</p>",
            "<p>Current time limit: [[12:30||12:45]]</p>",
            "<p>Time: [[12:00:00||12:30:00]]</p>",
            "<p>Generated in [[1999||1998]] by hand</p>",
            "<p>Request ID format: [[eight||nine]] digits</p>",
            "<p>Last updated: [[3 March 2026||4 March 2026]]</p>",
            "<p>Good morning Vietnam is a film of [[1987||1988]].</p>",
            "<h2>[[12||13]] views of Mount Fuji</h2>",
            "<h2>[[500||600]] shares</h2>",
            "<p>Only [[3||2]] left</p>",
            "<p>Only <span class=count>[[3||2]]</span> left in stock</p>",
            "<p>Rated <b>[[4.5||4.4]]</b> stars</p>",
            "<p>★ [[4.5||4.4]]</p>",
            "<p>Capacity: [[500||600]] people</p>",
            "<p>[[12||13]] members attended</p>",
            "<p>Followers of the sect: [[500||600]]</p>",
            "<p>Answer: [[12||13]]</p>",
            "<p>Reads at [[300||400]] MB/s</p>",
            "<p>Version 2 | [[12||13]] downloads a day are free</p>",
            "<li>Free plan: [[100||200]] comments, 3 users</li>",
            "<p>Bus 12 leaves in [[5||10]] minutes' walk of the station.</p>",
            "<p>Ends [[3 March||4 March]]</p>",
            "<div class=meta>Fee: [[12||14]] €</div>",
            "<div class=info><p>Capacity [[500||600]]</p></div>",
            "<p class=date>[[3 March 2026||4 March 2026]]</p>",
            "<span class=author>[[Ann||Eve]]</span>",
            "<div class=rating>[[4.5||4.4]] / 5</div>",
            "<div class=stats><b>[[3||4]]</b> goals</div>",
            "<div class=score>[[2||3]]</div>",
            "<div class=votes>Yes: [[120||121]] %</div>",
            "<table><tr><td>Ja-Stimmen</td><td class=votes>[[120||121]]</td></tr></table>",
            "<div class=footer-note><p>Rooms from [[40||45]] euros a night, breakfast included, dogs on request only.</p></div>",
            "<p>Updated: [[3 March 2026||5 March 2026]]</p>",
            "<p>Today: [[soup||stew]]</p>",
            "<p>Yesterday's price: [[40||41]]</p>",
            "<h3>[[Today||Tomorrow]]</h3>",
            "<p>Shares: [[500||600]] at 12 €</p>",
            "<p>Heute geöffnet bis [[18||19]] Uhr</p>",
            "<p>Il y a [[5||6]] classes à l'école</p>",
            "<p>Hace [[30||31]] grados</p>",
            "<p>Vor [[12||13]] Uhr geschlossen</p>",
            "<p>[[12||13]]日前売り券</p>",
            "<p>Read [[12||13]] books</p>",
            "<p>Play [[12||13]] plays</p>",
            "<p>Breakfast served [[7:00||7:30]]–10:00</p>",
            "<p>Lunch served from [[12:00||12:30]] to 14:00</p>",
            "<p>Processing time: [[10||20]] minutes</p>",
            "<p>Response time: [[24||48]] hours</p>",
            "<p>Loading time: [[10||20]] min</p>",
            "<p>Hello, [[world||there]]</p>",
            "<p>Good morning [[Vietnam||Berlin]]</p>",
            "<p>(c) [[20||30]] days notice in writing</p>",
            "<p>Total visitors 2025: [[120,331||120,402]]</p>",
            "<p>Visitors 2025: [[120,331||120,402]]</p>",
            "<div class=ticker-price>[[42.15||42.16]]</div>",
            "<div class=tab-pane id=nav-home>Open [[9||10]] to 17</div>",
            "<div id=bottom><p>Fee: [[40||45]] euros</p></div>",
            "<p>Online</p><p>[[12||13]]</p>",
            "<p>Last seen: [[3 March||4 March]]</p>",
            "<p>Printed on [[A4||A5]] paper</p>",
            "<p>Rating: [[4.5||4.4]]</p>",
            "<p>Rating: [[4||5]]</p>",
            "<p>Average rating: [[4.0||3.9]] (12 votes)</p>",
            "<p>Share: [[12||13]]</p>",
            "<div class=comments><p>How many? <b>[[12||13]]</b></p></div>",
            "<p>[[12||13]] votes</p>",
            "<p>Views are [[2||3]] times faster.</p>",
            "<p>Downloads: [[12||13]] new files are there for members.</p>",
            "<p>Tue Mar 3 [[10:32:11||10:32:12]] UTC 2026</p>",
            "<p>Build [[2026-03-03||2026-03-04]]</p>",
            "<p>He likes to swim, and has done so for [[30||31]] years.</p>",
            "<p>Open today until [[18:00||19:00]]</p>",
            "<p>Closed [[today||yesterday]]</p>",
            "<p>© Reuters [[Jane Roe||John Doe]]</p>",
            "<s>€[[89||99]]</s> <b>€59</b>",
            "<p>The road is [[||not ]]closed.</p>",
            "<p>−[[4||14]] °C</p>",
            "<p>[[+||-]]0.35 %</p>",
            "<p>12 [[km||mi]]</p>",
            "<ol><li>[[a||b]]</li><li>[[b||a]]</li></ol>",
            "<button>[[Buy||Sold out]]</button>",
            "<p>Mindestalter: [[16||18]] | Dauer: 90 min</p>",
            "<p>Prix : [[40||45]] € | 12 vues</p>",
            "<p>Precio: [[40||45]] € – 12 visitas</p>",
            "<p>500株を[[売却||購入]]した。</p>",
            "<p>[[500||600]]人が参加しました</p>",
            "<p>[[12||13]] человек ищут работу</p>",
            "<div class=stats><p>Einwohner: [[1.204||1.311]]</p></div>",
            "<div class=info>Opens [[9:00||10:00]]</div>",
            "<span class=count>Room [[12||13]]</span>",
            "<div class=likes><p>He likes to swim in the lake, and she prefers to [[run||ride]] in the woods.</p></div>",
        ],
        describe_miss,
    );
}

#[test]
fn prose_counts_with_any_class_name() {
    let prose = "The society has [[1,204||1,305]] members, and the fee is to be raised to 45 euros next year, since the \
                 costs of the hall have risen by a third within two years.";
    let mut faults = Vec::new();
    for name in [
        "recommendations",
        "newsletter",
        "social",
        "related-content",
        "teaser",
        "counter",
        "modal-body",
        "popup",
        "likes",
        "views",
        "sidebar",
        "share",
        "testimonial",
        "weather-widget",
        "cookie-policy",
        "subscribe",
        "tooltip",
        "similar",
        "trending",
    ] {
        let part = format!("<div class='{name}'><p>{prose}</p></div>");
        let (old, new) = apply_change(PAGES[0], &part);
        faults.extend(describe_miss(name, &old, &new));
        let (old, new) = apply_change("<main>@</main>", &part);
        faults.extend(describe_miss(name, &old, &new));
    }
    let (old, new) = apply_change(PAGES[0], &format!("<dialog open><p>{prose}</p></dialog>"));
    faults.extend(describe_miss("dialog", &old, &new));
    assert_no_faults(&faults);
}

#[test]
fn template_text_does_not_count() {
    check_parts(
        &[
            "<p><span>[[1,203||1,207]] views</span><span>3 comments</span></p>",
            "<p class=post-meta>By Ann | 3 March 2026 | [[231||240]] views</p>",
            "<p>By Ann | 3 March 2026 | [[231||240]] views</p>",
            "<p>[[120||131]] points by bob [[2||3]] hours ago</p>",
            "<dl class=postprofile><dt>bob</dt><dd>Posts: [[512||513]]</dd><dd>Reputation: [[4||5]]</dd></dl>",
            "<div class=user-info>bob<br>Posts: [[512||513]]<br>Joined: March 2014</div>",
            "<p>The time now is [[10:03 AM||11:04 PM]].</p>",
            "<p>All times are [[GMT||GMT+1]].</p>",
            "<button>👍 [[12||13]]</button>",
            "<span>▲ [[120||121]]</span>",
            "<div>♥ [[33||34]]</div>",
            "<button class=vote>[[12||13]]</button>",
            "<p>[[1,204||1,305]] downloads</p>",
            "<p>[[27||31]] applicants</p>",
            "<p>This page has been accessed [[1,204||1,309]] times.</p>",
            "<p>Accessed [[12||13]] times</p>",
            "<p>Cart ([[0||2]])</p>",
            "<p>Warenkorb ([[0||2]])</p>",
            "<div class=news-ticker>[[Rain||Snow]] expected</div>",
            "<div id=siteNotice>[[Donate||Vote]] now</div>",
            "<p>Read also: <a href=/1>[[Rain||Snow]] expected</a></p>",
            "<p><b>Lesen Sie auch:</b> <a href=/1>[[Regen||Schnee]]</a></p>",
            "<p>Lire aussi : <a href=/1>[[Pluie||Neige]]</a></p>",
            "<a rel=prev href=/1>[[Rain||Snow]]</a> <a rel=next href=/2>[[Sun||Wind]]</a>",
            "<p>Next article: <a href=/1>[[Rain||Snow]]</a></p>",
            "<div id='google_ads_iframe_1'>[[Fly||Drive]]</div>",
            "<div class=g-recaptcha>[[3 + 4||4 + 5]]</div>",
            "<div class=countdown>[[2 days 3 hours||1 day 4 hours]]</div>",
            "<p class=date>[[yesterday||2 days ago]]</p>",
            "<p>Updated [[yesterday||2 days ago]]</p>",
            "<p>[[il y a 5 minutes||il y a 2 heures]]</p>",
            "<p>[[vor 5 Minuten||vor 2 Stunden]]</p>",
            "<p>[[hace 5 minutos||hace 2 horas]]</p>",
            "<p>Gelesen: [[12||13]]</p>",
            "<p>[[5 分前||2 時間前]]</p>",
            "<p>[[5分钟前||2小时前]]</p>",
            "<p>[[5 минут назад||2 часа назад]] · [[12||13]] комментариев</p>",
            "<p>[[5 minuti fa||2 ore fa]] · [[12||13]] commenti</p>",
            "<p>[[há 5 minutos||há 2 horas]] – [[12||13]] visualizações</p>",
            "<p>[[5 minuten geleden||2 uur geleden]] | [[12||13]] reacties</p>",
            "<p>[[5 minut temu||2 godziny temu]] · Odsłon: [[12||13]]</p>",
            "<p>閲覧数：[[1204||1311]]</p>",
            "<p>阅读 [[1204||1311]]</p>",
            "<p>조회수 [[1204||1311]]</p>",
            "<p>Café [[caf\u{e9}||cafe\u{301}]]</p>",
            "<p>Server time: [[10:03:22||11:04:23]]</p>",
            "<p>Request ID: [[8f3a11bc-1||77b290aa-2]]</p>",
            "<p>Page rendered in [[0.12||0.31]] s</p>",
            "<time datetime=2026>[[3 hours ago||yesterday]]</time>",
            "<relative-time datetime='2026-11-10'>[[Nov 10||last week]]</relative-time>",
            "<h3>Comments ([[12||13]])</h3>",
            "<h3>[[12||13]] Comments</h3>",
            "<p><a href='#c'>[[12||13]] comments</a></p>",
            "<ul class=post-stats><li>[[12||13]] views</li><li>[[3||4]] likes</li></ul>",
            "<span class=view-count>[[1.2K||1.3K]]</span>",
            "<p>[[45||47]] users online</p>",
            "<p>Posted by <a href=/u>ann</a> on 3 March 2026 · [[12||13]] comments</p>",
            "<p>3 March 2026 · [[5||6]] min ago · [[12||13]] likes</p>",
            "<div class=byline>Ann Lee, [[2 hours ago||3 hours ago]]</div>",
            "<p>Last activity [[2 hours ago||3 hours ago]]</p>",
            "<span class=likes>[[12||13]]</span>",
            "<div class=share-count>[[120||121]]</div>",
            "<p>[[1.2K||1.3K]] followers</p>",
            "<a class=comment-link href='#c'>Comments [[12||13]]</a>",
            "<p>Besucher: [[12||13]]</p>",
            "<p>Vu [[12||13]] fois</p>",
            "<p>Visto [[12||13]] veces</p>",
            "<p>[[12||13]] mal gelesen</p>",
            "<p>Прочитано: [[12||13]]</p>",
            "<p>Hits: [[12||13]]</p>",
            "<p>Seen by [[12||13]] people</p>",
            "<p>[[23||25]] people are looking at this right now</p>",
        ],
        describe_false_alarm,
    );
}

#[test]
fn page_parts_are_recognized_in_several_languages() {
    let mut faults = Vec::new();
    for id in [
        "kopf",
        "menue",
        "menu",
        "fuss",
        "foot",
        "seitenleiste",
        "wetter",
        "entete",
        "pied",
        "cabecera",
        "pie",
        "navegacion",
        "rodape",
        "barra-lateral",
        "barre-laterale",
        "kopfzeile",
        "fusszeile",
        "header",
        "footer",
        "navbar",
        "breaking",
        "sitenotice",
        "captcha",
        "cookie-banner",
    ] {
        let page = format!(
            "<body><div id='{id}'><a href=/1>[[One||Two]]</a></div><div id=inhalt><h1>Plan</h1><p>The council approved \
             the plan after a long debate about costs.</p></div></body>"
        );
        let (old, new) = apply_change("@", &page);
        faults.extend(describe_false_alarm(id, &old, &new));
    }
    assert_no_faults(&faults);
}
