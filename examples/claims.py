#!/usr/bin/env python3
"""A crawler that lets freshet decide: claims what is worth fetching, fetches it, reports what came.

    python3 claims.py http://127.0.0.1:7343          (with a token: FRESHET_TOKEN=… python3 claims.py …)

With `crew = 0` in freshet.toml, freshet fetches nothing by itself. Only the standard library is used.
"""
import base64, json, os, sys, time, urllib.error, urllib.request

SERVICE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7343"


def ask(path, body):
    request = urllib.request.Request(SERVICE + path, json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if "FRESHET_TOKEN" in os.environ:
        request.add_header("Authorization", "Bearer " + os.environ["FRESHET_TOKEN"])
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def fetch(item):
    request = urllib.request.Request(item["url"], headers={"User-Agent": "claims.py"})
    for header, value in [("If-None-Match", item["etag"]), ("If-Modified-Since", item["last_modified"])]:
        if value:
            request.add_header(header, value)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            document = base64.b64encode(answer.read()).decode()
            return {"outcome": "document", "base64": document, "status": answer.status,
                    "content_type": answer.headers["Content-Type"], "etag": answer.headers["ETag"],
                    "last_modified": answer.headers["Last-Modified"]}
    except urllib.error.HTTPError as error:
        outcome = {304: "unchanged", 404: "gone", 410: "gone"}.get(error.code, "failed")
        return {"outcome": outcome, "status": error.code, "host": error.code in (429, 503)}
    except OSError as error:
        return {"outcome": "failed", "host": True, "note": str(error)[:200]}


while True:
    claim = ask("/v1/claims", {"max": 20, "lease_seconds": 300})
    reports = [{"source": item["source"], **fetch(item)} for item in claim["items"]]
    if reports:
        ask("/v1/reports", {"lease": claim["lease"], "reports": reports})
    else:
        time.sleep(1)
