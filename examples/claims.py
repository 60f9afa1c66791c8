#!/usr/bin/env python3
"""A crawler scheduled by freshet: claims the sources that are worth fetching, fetches and reports them.

    python3 claims.py http://127.0.0.1:7343          (with a token: FRESHET_TOKEN=… python3 claims.py …)

With `concurrency = 0` in freshet.toml, freshet itself fetches nothing. Needs only the standard library.
"""
import base64, datetime, http.client, json, os, sys, time, urllib.error, urllib.request

SERVICE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7343"


def send(path, body):
    request = urllib.request.Request(SERVICE + path, json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if "FRESHET_TOKEN" in os.environ:
        request.add_header("Authorization", "Bearer " + os.environ["FRESHET_TOKEN"])
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def header(value):  # drops values that cannot be sent back with the next request
    return value if value and len(value) <= 1000 and value.isprintable() else None


def fetch(item):
    request = urllib.request.Request(item["url"], headers={"User-Agent": "claims.py"})
    for name, value in [("If-None-Match", item["etag"]), ("If-Modified-Since", item["last_modified"])]:
        if value:
            request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            document = base64.b64encode(response.read()).decode()
            return {"outcome": "document", "base64": document, "status": response.status,
                    "content_type": header(response.headers["Content-Type"]), "etag": header(response.headers["ETag"]),
                    "last_modified": header(response.headers["Last-Modified"])}
    except urllib.error.HTTPError as error:
        outcome = {304: "unchanged", 404: "gone", 410: "gone"}.get(error.code, "failed")
        return {"outcome": outcome, "status": error.code, "host": error.code in (429, 503)}
    except (OSError, http.client.HTTPException) as error:
        return {"outcome": "failed", "host": True, "note": repr(error)[:200]}


def report(item):
    at = datetime.datetime.now(datetime.timezone.utc).isoformat()
    return {"source": item["source"], "at": at, **fetch(item)}


while True:
    try:
        claim = send("/v1/claims", {"max": 20, "lease_seconds": 300})
        for item in claim["items"]:
            send("/v1/reports", {"lease": claim["lease"], "reports": [report(item)]})
    except OSError as error:  # no connection or an error response: unreported sources are released when the lease ends
        print(error, file=sys.stderr)
        claim = {"items": []}
    if not claim["items"]:
        time.sleep(1)
