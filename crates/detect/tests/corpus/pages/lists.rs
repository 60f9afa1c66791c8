//! Pages of lists: an additional or missing entry is a change.

pub(crate) const PAGES: &[(&str, &str)] = &[
    (
        "product",
        r##"<!DOCTYPE html><html><head><title>Kettle | Store</title>{{head}}</head><body>{{top}}<header class="header"><a href="/">Store</a></header>
<div class="page"><div class="product-detail"><h1 class="product-title">Kettle [[K200|K201]]</h1>{{before}}<div class="product-header"><span class="price">€[[39.90|34.90]]</span>
<span class="availability">[[In stock|Sold out]]</span></div><select name="size"><option>1 l</option>[[<option>2 l</option>|]]</select><button type="submit">[[Add to cart|Notify me]]</button>
{{within}}<div class="description"><p>Boils a litre in [[three|two]] minutes.</p><ul class="features"><li>Steel</li><li>[[2200 W|2400 W]]</li></ul></div>
<table class="specs"><tr><th>Weight</th><td>[[1.2 kg|1.1 kg]]</td></tr><tr class="footer"><th>Warranty</th><td>[[2 years|3 years]]</td></tr></table>
<p>Only [[3|2]] left, rated [[4.5|4.4]] stars</p></div></div>{{side}}<footer>{{foot}}</footer></body></html>"##,
    ),
    (
        "front page",
        r##"<!DOCTYPE html><html><head><title>The Daily</title>{{head}}</head><body>{{top}}<nav><a href="/">Home</a></nav><main>{{before}}
<article class="teaser"><h2><a href="/1">[[Bridge reopens|Bridge collapses]]</a></h2><p>After two years, cars can cross again.</p></article>
<article class="teaser"><h2><a href="/2">School wins prize</a></h2><p>[[Forty|Fifty]] pupils sang.</p></article>{{within}}
[[|<article class="teaser"><h2><a href="/3">Rain expected</a></h2><p>Take an umbrella.</p></article>]]
<section><h2>Sport</h2><ul><li><a href="/s1">[[Bears 89 – Wolves 76|Bears 89 – Wolves 77]]</a></li><li><a href="/s2">Cup draw</a></li></ul></section></main>
<aside>{{side}}</aside><footer>{{foot}}</footer></body></html>"##,
    ),
    (
        "link collection in divs",
        r##"<html><head><title>Links</title>{{head}}</head><body>{{top}}<div class="content"><h1>Good links</h1>{{before}}<ul><li><a href="https://a.example">A site about [[ants|bees]]</a></li>
<li><a href="https://b.example">All about bread</a></li>[[|<li><a href="https://c.example">Cats of the world</a></li>]]</ul>{{within}}
<ul><li><a href="/x">[[Old|New]] maps</a></li><li><a href="/y">Trains</a></li></ul></div>{{side}}<div class="footer">{{foot}}</div></body></html>"##,
    ),
    (
        "forum thread",
        r##"<html><head><title>Engine noise - Forum</title>{{head}}</head><body>{{top}}<div id="thread"><h1>Engine noise</h1>{{before}}
<div class="post" id="p1"><div class="author">bob<br>Posts: 512</div><div class="body">It rattles when [[cold|warm]]. What can I do about it, before I take it to the garage next week?</div></div>
<div class="post" id="p2"><div class="author">ann</div><div class="body">[[Check the belt.|Check the chain.]]</div></div>{{within}}[[|<div class="post" id="p3"><div class="author">eve</div><div class="body">Same here.</div></div>]]
</div>{{side}}<div id="footer">{{foot}}</div></body></html>"##,
    ),
    (
        "job list",
        r##"<!DOCTYPE html><html><head><title>Jobs</title>{{head}}</head><body>{{top}}<main><h1>Open positions</h1>{{before}}<ul class="jobs"><li><a href="/j1"><span class="title">[[Welder|Senior welder]]</span> <span class="place">[[Bern|Basel]]</span></a></li>
<li><a href="/j2"><span class="title">Cook</span> <span class="place">Thun</span></a></li>[[<li><a href="/j3"><span class="title">Driver</span> <span class="place">Biel</span></a></li>|]]</ul>{{within}}</main>{{side}}<footer>{{foot}}</footer></body></html>"##,
    ),
    (
        "data table",
        r##"<html><head><title>Levels</title>{{head}}</head><body>{{top}}<h1>Water levels</h1>{{before}}<table border=1><caption>[[Monday|Tuesday]]</caption><tr><th>Station<th>cm<tr><td>Upper bridge<td>[[212|215]]<tr><td>Mill<td>180[[|<tr><td>Weir<td>99]]</table>{{within}}
<p>Measured by the water office, all values without warranty of any kind or completeness.</p>{{side}}{{foot}}</body></html>"##,
    ),
    (
        "changelog",
        r##"<html><head><title>Changes</title>{{head}}</head><body>{{top}}<div class="markdown-body"><h1>Changelog</h1>{{before}}[[|<h2>1.3.0</h2><ul><li>New: everything</li></ul>]]<h2>1.2.[[0|1]] <small>2026-02-01</small></h2><ul><li>Fixed [[a crash|a leak]]</li><li>Faster</li></ul>{{within}}<h2>1.1.0</h2><ul><li>First <code>[[--json|--yaml]]</code></li></ul></div>{{side}}<div class="site-footer">{{foot}}</div></body></html>"##,
    ),
];
