"""A backend in Python, with the standard library alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with

    chatd keys add shop -scopes groups,send,read,keys -as 'bot-*,alice'

and the group from its argument: it makes it, sends as two users, reads as one of them, and rotates its own key.
"""
import json
import os
import sys
import urllib.error
import urllib.request

url = os.environ.get("CHATD_URL", "http://127.0.0.1:8080")
key = os.environ["CHATD_KEY"]
group = sys.argv[1] if len(sys.argv) > 1 else "orders"


def call(method, path, body=None, user=None, retry=None):
    """Calls chatd, for a user if one is named. With a retry key, a repeat is answered as the first time."""
    request = urllib.request.Request(f"{url}/v1{path}", method=method)
    request.add_header("Authorization", f"Bearer {key}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if user:
        request.add_header("Chatd-As", user)
    if retry:
        request.add_header("Idempotency-Key", retry)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        sys.exit(f"{method} {path}: {refusal.read().decode()}")


# The key makes the group for itself: it has no owner.
call("POST", "/groups", {"id": group, "members": ["bot-1", "alice"]}, retry=f"create-{group}")

call("POST", f"/groups/{group}/messages", {"body": "Order 1 has shipped"}, user="bot-1", retry="order-1")
call("POST", f"/groups/{group}/messages", {"body": "Thanks"}, user="alice", retry="thanks-1")

# What a key wrote has its id in `via`, by which a bot skips its own.
for m in call("GET", f"/groups/{group}/messages?after=0", user="alice")["messages"]:
    if m["kind"] == "text":
        print(f"{m['from']}: {m['body']} (via {m['via']})")

# The new key is in this answer alone. The old one holds for an hour more.
key = call("POST", f"/keys/{key.split('_')[1]}/rotate", {"overlap_s": 3600})["key"]
print(call("GET", f"/groups/{group}")["members"], "members, with the new key")
