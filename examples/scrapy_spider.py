"""A Scrapy spider that lets freshet decide: it claims what is worth fetching, and reports what came.

    scrapy runspider scrapy_spider.py -a service=http://127.0.0.1:7343

With a token: FRESHET_TOKEN=… in the environment. With `crew = 0` in freshet.toml, freshet fetches
nothing by itself. Your own work on a page goes into `fetched`.
"""
import asyncio
import base64
import os

import scrapy
from scrapy.http import JsonRequest

# What a server says of a page that is no more, or the same as before.
OUTCOMES = {304: "unchanged", 404: "gone", 410: "gone"}


class FreshetSpider(scrapy.Spider):
    name = "freshet"
    service = "http://127.0.0.1:7343"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,  # freshet hands out work within its budget; manners are the crawler's
        "HTTPERROR_ALLOW_ALL": True,  # each answer is reported, whatever it is
        "RETRY_ENABLED": False,  # freshet says when to try again
        "HTTPCACHE_ENABLED": False,
        "DOWNLOAD_TIMEOUT": 60,
    }

    def ask(self, path, body, callback, **more):
        token = os.environ.get("FRESHET_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return JsonRequest(self.service + path, data=body, headers=headers, callback=callback,
                           dont_filter=True, **more)

    def claim(self):
        return self.ask("/v1/claims", {"max": 20, "lease_seconds": 300}, self.claimed,
                        errback=self.claim_failed)

    async def start(self):
        yield self.claim()

    async def claimed(self, response):
        claim = response.json() if response.status == 200 else {"items": []}
        for item in claim["items"]:
            headers = {"If-None-Match": item["etag"], "If-Modified-Since": item["last_modified"]}
            about = {"lease": claim["lease"], "source": item["source"]}
            yield scrapy.Request(item["url"], self.fetched, errback=self.failed, cb_kwargs={"about": about},
                                 headers={k: v for k, v in headers.items() if v}, dont_filter=True)
        if not claim["items"]:
            await asyncio.sleep(1)
        yield self.claim()

    async def claim_failed(self, failure):
        self.logger.warning("freshet does not answer: %s", failure.value)
        await asyncio.sleep(5)
        yield self.claim()

    def fetched(self, response, about):
        header = lambda name: response.headers.get(name, b"").decode("latin-1") or None
        report = dict(about, status=response.status, bytes=len(response.body))
        if response.status == 200:
            report |= {"outcome": "document", "base64": base64.b64encode(response.body).decode(),
                       "content_type": header("Content-Type"), "etag": header("ETag"),
                       "last_modified": header("Last-Modified")}
        else:
            report |= {"outcome": OUTCOMES.get(response.status, "failed"),
                       "host": response.status in (429, 503)}
        yield self.ask("/v1/reports", {"reports": [report]}, self.reported)

    def failed(self, failure):
        report = dict(failure.request.cb_kwargs["about"], outcome="failed", note=str(failure.value)[:200])
        yield self.ask("/v1/reports", {"reports": [report]}, self.reported)

    def reported(self, response):
        self.logger.debug("reported: %s", response.text)
