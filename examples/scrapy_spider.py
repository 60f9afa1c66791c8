"""A Scrapy spider scheduled by freshet: claims the sources that are worth fetching and reports them.

    scrapy runspider scrapy_spider.py -a service=http://127.0.0.1:7343

Set FRESHET_TOKEN in the environment if the service requires a token. With `concurrency = 0` in freshet.toml,
freshet itself fetches nothing. Add your own processing of a page to `fetched`.
"""
import asyncio
import base64
import os

import scrapy
from scrapy.http import JsonRequest

# Outcomes of responses other than 200; all other statuses are failures.
OUTCOMES = {304: "unchanged", 404: "gone", 410: "gone"}


class FreshetSpider(scrapy.Spider):
    name = "freshet"
    service = "http://127.0.0.1:7343"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,  # freshet schedules within its budget; robots.txt is up to the crawler
        "HTTPERROR_ALLOW_ALL": True,  # every response is reported
        "RETRY_ENABLED": False,  # freshet schedules retries
        "HTTPCACHE_ENABLED": False,
        "DOWNLOAD_TIMEOUT": 60,
    }

    def send(self, path, body, callback, **options):
        token = os.environ.get("FRESHET_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return JsonRequest(self.service + path, data=body, headers=headers, callback=callback,
                           dont_filter=True, **options)

    def claim(self):
        return self.send("/v1/claims", {"max": 20, "lease_seconds": 300}, self.claimed,
                         errback=self.claim_failed)

    async def start(self):
        yield self.claim()

    async def claimed(self, response):
        claim = response.json() if response.status == 200 else {"items": []}
        for item in claim["items"]:
            headers = {"If-None-Match": item["etag"], "If-Modified-Since": item["last_modified"]}
            report = {"lease": claim["lease"], "source": item["source"]}
            yield scrapy.Request(item["url"], self.fetched, errback=self.failed, cb_kwargs={"report": report},
                                 headers={k: v for k, v in headers.items() if v}, dont_filter=True)
        if not claim["items"]:
            await asyncio.sleep(1)
        yield self.claim()

    async def claim_failed(self, failure):
        self.logger.warning("cannot claim sources: %s", failure.value)
        await asyncio.sleep(5)
        yield self.claim()

    def fetched(self, response, report):
        header = lambda name: response.headers.get(name, b"").decode("latin-1") or None
        report = dict(report, status=response.status, bytes=len(response.body))
        if response.status == 200:
            report |= {"outcome": "document", "base64": base64.b64encode(response.body).decode(),
                       "content_type": header("Content-Type"), "etag": header("ETag"),
                       "last_modified": header("Last-Modified")}
        else:
            report |= {"outcome": OUTCOMES.get(response.status, "failed"),
                       "host": response.status in (429, 503)}
        yield self.send("/v1/reports", {"reports": [report]}, self.reported)

    def failed(self, failure):
        report = dict(failure.request.cb_kwargs["report"], outcome="failed", note=str(failure.value)[:200])
        yield self.send("/v1/reports", {"reports": [report]}, self.reported)

    def reported(self, response):
        self.logger.debug("reported: %s", response.text)
