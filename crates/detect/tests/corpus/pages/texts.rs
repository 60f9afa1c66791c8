//! Pages of text.

pub(crate) const PAGES: &[(&str, &str)] = &[
    (
        "news article",
        r##"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Bridge to reopen – The Daily</title>{{head}}</head>
<body class="article-page">{{top}}<header class="site-header"><a href="/">The Daily</a></header>
<nav class="main-nav"><ul><li><a href="/">Home</a></li><li class="active"><a href="/local">Local</a></li></ul></nav>
<main><article class="story"><header><h1>[[Old bridge to reopen|Old bridge to stay closed]] in spring</h1>
<p class="byline">By <a href="/ann">Ann Miller</a> · <time datetime="2026-03-12">[[12 March 2026|13 March 2026]]</time></p></header>
{{before}}<p>The old bridge over the river will reopen [[in April|in May]], the council said on Monday, after [[two|three]] years of
repairs that cost [[4.2|4.7]] million euros.</p>
<p>Residents had waited for a long time. “We are [[glad|relieved]],” said one of them.</p>{{within}}
<blockquote><p>It is a good day.</p><footer>— [[Mayor Jane Roe|Deputy mayor Jim Poe]]</footer></blockquote>
<h2>What comes [[next|later]]</h2><p>Work on the northern ramp starts at once. It was closed 3 years ago.</p>
<figure><img src="/a.jpg" alt="Bridge"><figcaption>The bridge in [[winter|autumn]]</figcaption></figure>
[[<p>A paragraph that goes away later, with a few words in it.</p>|]]</article></main>
<aside class="sidebar">{{side}}</aside><footer class="site-footer">{{foot}}<p>The Daily, Main Street 1</p></footer></body></html>"##,
    ),
    (
        "blog in divs",
        r##"<html><head><title>Notes</title>{{head}}</head><body><div id="wrapper"><div id="header"><div class="logo"><a href="/">Notes</a></div>{{top}}</div>
<div id="content"><div class="post"><h2 class="post-title"><a href="/p/1">[[On bread|On cake]]</a></h2><div class="entry-content">
{{before}}<p>I bake every [[Sunday|Saturday]]. The oven must be at [[240|250]] degrees, and the dough must rest for a night.</p>
<ol><li>Mix flour and water.</li><li>[[Wait.|Wait for an hour.]]</li><li>Bake.</li></ol>
<pre><code>flour = [[500|600]]
water = 350
</code></pre>{{within}}<p>That is all there is to it; try it, and tell me how it went with your own oven at home.</p></div></div>
<div id="comments"><div class="comment"><b>Bob</b><p>[[Great, thanks!|Great, thank you!]]</p></div>[[|<div class="comment"><b>Eve</b><p>Mine burnt.</p></div>]]</div></div>
<div id="sidebar">{{side}}</div><div id="footer">{{foot}}Powered by a blog engine</div></div></body></html>"##,
    ),
    (
        "documentation",
        r##"<!doctype html><html><head><title>Install – Tool 2</title>{{head}}</head><body>{{top}}
<div class="navbar"><a href="/">Tool</a> <a href="/docs">Docs</a></div><div class="layout"><div class="sidebar-nav"><ul><li><a href="/i">Install</a></li><li><a href="/u">Use</a></li></ul>{{side}}</div>
<main class="content"><nav class="breadcrumb"><a href="/">Docs</a> › Install</nav><h1>Install</h1>{{before}}
<p>You need version [[2.14.1|2.14.2]] or later. Run this command in a terminal of your choice:</p>
<pre>curl [[-sS|-fsS]] https://example.org/install | sh</pre>
<aside class="note"><p>On Windows, use [[the installer|winget]] instead, as the script needs a shell.</p></aside>
<h2 id="options">Options</h2><dl><dt>--verbose</dt><dd>Say [[more|much more]].</dd><dt>--dry-run</dt><dd>Do nothing.</dd></dl>
{{within}}<table><thead><tr><th>System</th><th>Supported</th></tr></thead><tbody><tr><td>Linux</td><td>[[yes|partly]]</td></tr><tr><td>Plan 9</td><td>no</td></tr></tbody></table>
<details><summary>More</summary><p>It also runs on [[BSD|Solaris]].</p></details></main></div><footer>{{foot}}<p>Built with a site generator</p></footer></body></html>"##,
    ),
    (
        "government notice",
        r##"<html><head><title>Notice 12/2026</title>{{head}}</head><body>{{top}}<div class="container">{{before}}<h1>Notice [[12|13]]/2026</h1>
<p>Applications are accepted until [[31 March 2026|30 April 2026]]. The fee is [[25|30]] euros.</p>{{within}}<p>Office hours: [[8:00–12:00|9:00–12:00]]</p>
<form action="/apply"><label>Name <input name="n"></label><button>[[Apply now|Applications closed]]</button></form></div>{{side}}
<div class="footer">{{foot}}City of Example</div></body></html>"##,
    ),
    (
        "wiki page",
        r##"<!DOCTYPE html><html><head><title>River – Wiki</title>{{head}}</head><body class="mw"><div id="mw-page-base"></div><div id="content" role="main">
<h1 id="firstHeading">River</h1><div id="bodyContent">{{before}}<p>A <b>river</b> is a natural [[stream of water|watercourse]] that flows to a sea,
a lake or another river<sup>[1]</sup>. It was described <span>3 years ago</span> at length by the society of geographers.</p>{{within}}
<h2>Length</h2><p>The longest is [[6,650|6,695]] km long.</p><h2>See also</h2><ul><li><a href="/w/Stream">Stream</a></li>[[|<li><a href="/w/Creek">Creek</a></li>]]</ul>
<table class="infobox"><tr><th>Mouth</th><td>[[Delta|Estuary]]</td></tr></table></div></div>
<div id="mw-navigation" role="navigation"><a href="/e">Edit</a>{{side}}</div><div id="mw-head" class="navigation">{{top}}</div>
<footer id="footer">{{foot}}<ul><li>This page was last edited on 3 March 2026, at 10:32 (UTC).</li></ul></footer></body></html>"##,
    ),
    (
        "legacy tables",
        r##"<HTML><HEAD><TITLE>Club</TITLE>{{head}}</HEAD><BODY BGCOLOR="#ffffff">{{top}}<TABLE WIDTH="100%"><TR><TD COLSPAN=2 class=banner-top><FONT SIZE=5>Chess Club</FONT></TD></TR>
<TR><TD WIDTH=150 VALIGN=top><A HREF="/">Home</A><BR><A HREF="/k">Contact</A><BR><A HREF="/l">Links</A><BR><A HREF="/g">Guestbook</A>{{side}}</TD>
<TD>{{before}}<P>The next evening is on [[Friday|Thursday]] at [[19:30|20:00]] in the old school. Everybody who can play is welcome to come.
<P>Results of the league:{{within}}<BR>Club – Rooks [[5:3|4:4]]<BR>Club – Pawns 6:2</TD></TR></TABLE>
<CENTER>{{foot}}<FONT SIZE=1>Best viewed with any browser</FONT></CENTER></BODY></HTML>"##,
    ),
    (
        "form around everything",
        r##"<html><head><title>Permits</title>{{head}}</head><body><form method="post" action="./Default.aspx" id="form1">{{top}}
<div id="main-content">{{before}}<h1>Building permits</h1><span id="lblStatus">Status: [[pending|granted]]</span><div>Inspector: [[A. Smith|B. Jones]]</div>{{within}}
<p>The file can be seen at the office during opening hours by anyone who lives in the street.</p></div>{{side}}<div id="footer">{{foot}}</div></form></body></html>"##,
    ),
    (
        "German",
        r##"<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"><title>Rathaus</title>{{head}}</head><body>{{top}}<nav><a href="/">Startseite</a></nav><main>
<h1>Sperrung der [[Hauptstraße|Bahnhofstraße]]</h1>{{before}}<p>Die Straße ist ab [[3. Oktober 2026|5. Oktober 2026]] gesperrt. Eine Umleitung ist ausgeschildert, der Bus fährt über den Markt.</p>
{{within}}<p>Kosten: [[1,2|1,4]] Mio. €</p></main><aside>{{side}}</aside><footer>{{foot}}<a href="/impressum">Impressum</a></footer></body></html>"##,
    ),
    (
        "Japanese",
        r##"<!DOCTYPE html><html lang="ja"><head><meta charset="utf-8"><title>お知らせ</title>{{head}}</head><body>{{top}}<div class="main"><h1>お知らせ</h1>{{before}}
<p>図書館は[[四月一日|四月三日]]から開館時間を変更します。新しい開館時間は午前九時から[[午後八時|午後七時]]までです。</p>{{within}}<p>料金：[[500|600]]円</p></div>{{side}}<div class="footer">{{foot}}</div></body></html>"##,
    ),
    (
        "Arabic",
        r##"<!DOCTYPE html><html lang="ar" dir="rtl"><head><meta charset="utf-8"><title>خبر</title>{{head}}</head><body>{{top}}<article><h1>افتتاح [[المكتبة|المدرسة]] الجديدة</h1>{{before}}
<p>أعلنت البلدية اليوم عن افتتاح المكتبة الجديدة في وسط المدينة بعد أعمال استمرت [[عامين|ثلاثة أعوام]] وبكلفة [[12|15]] مليون.</p>{{within}}</article><aside>{{side}}</aside><footer>{{foot}}</footer></body></html>"##,
    ),
    (
        "text in the body alone",
        r##"{{head}}{{top}}Opening hours: [[9|10]] to 17.<br>{{before}}Closed on [[Sundays|Mondays]].<p>{{within}}Telephone [[555-1234|555-1235]], ask for the manager if you have a question.{{side}}{{foot}}"##,
    ),
];
