"""Counts the deliveries with a valid signature on standard input, one JSON object per line."""
import base64
import hashlib
import hmac
import json
import sys

valid = 0
for line in sys.stdin:
    it = json.loads(line)
    headers = it["headers"]
    key = base64.b64decode(it["secret"].removeprefix("whsec_"))
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.{it["body"]}'
    digest = hmac.new(key, signed.encode(), hashlib.sha256).digest()
    expect = "v1," + base64.b64encode(digest).decode()
    shown = headers["webhook-signature"].split(" ")
    valid += any(hmac.compare_digest(expect, one) for one in shown)
print(valid)
