"""The same work as Scrapy users would write it: the main text of each page, and its fingerprint."""

import hashlib
import time

import scrapy


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
    }

    def __init__(self, url, seconds, connections, **more):
        super().__init__(**more)
        self.url, self.seconds, self.connections = url, float(seconds), int(connections)
        self.pages, self.begun = 0, None

    async def start(self):
        for task in range(self.connections):
            yield self.request(task, 0, None)

    def request(self, task, number, before):
        data = {"task": task, "number": number, "before": before}
        url = f"{self.url}{task}/{number}"
        return scrapy.Request(url, callback=self.parse, cb_kwargs=data, dont_filter=True)

    def parse(self, response, task, number, before):
        now = time.monotonic()
        if self.begun is None:
            self.begun = now
        for node in response.xpath(
            "//script | //style | //nav | //header | //footer | //aside"
        ):
            node.drop()
        parts = (part.strip() for part in response.xpath("//body//text()").getall())
        text = "\n".join(part for part in parts if part)
        fingerprint = hashlib.blake2b(text.encode(), digest_size=16).digest()
        assert fingerprint != before
        self.pages += 1
        if now < self.begun + self.seconds:
            yield self.request(task, number + 1, fingerprint)

    def closed(self, reason):
        rate = self.pages / (time.monotonic() - self.begun)
        print(f"pages a second: {rate:.1f}", flush=True)
