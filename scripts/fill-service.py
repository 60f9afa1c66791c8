"""Fills a running service with data: sources, fetches, versions, changes."""
import json, sys, time, urllib.request

service = sys.argv[1]


def send(method, path, body):
    request = urllib.request.Request(service + path, json.dumps(body).encode(), method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


for _ in range(600):
    try:
        urllib.request.urlopen(service + "/readyz", timeout=5).read()
        break
    except OSError:
        time.sleep(0.1)
sources = [{"url": f"https://host-{n % 3}.invalid/{n}", "tags": ["even"] if n % 2 == 0 else [], "max_interval": 0.5}
           for n in range(30)]
send("PUT", "/v1/sources", {"sources": sources})
recorded = 0
while recorded < 90:
    claim = send("POST", "/v1/claims", {"max": 30})
    reports = [{"source": item["source"], "outcome": "document", "content_type": "text/html",
                "text": f"<p>page {item['source']}, version {recorded} of it</p>"} for item in claim["items"]]
    recorded += send("POST", "/v1/reports", {"lease": claim["lease"], "reports": reports})["recorded"]
    time.sleep(0.05)
