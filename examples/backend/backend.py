"""A backend in Python, with the standard library alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with

    chatd keys add shop -scopes users,groups,send,read -as 'user-*'

and the group from its argument. It creates 1,000 users, makes a group of them, sends as two of them, reads as one, and revokes the
tokens of one. All of it may be repeated.
"""
import json
import os
import sys
import urllib.error
import urllib.request

url = os.environ.get("CHATD_URL", "http://127.0.0.1:8080")
group = sys.argv[1] if len(sys.argv) > 1 else "orders"


def call(method, path, body=None, user=None, retry=None):
    """Calls chatd, for a user if one is named. With a retry key, a repeat does nothing twice."""
    request = urllib.request.Request(f"{url}/v1{path}", method=method)
    request.add_header("Authorization", f"Bearer {os.environ['CHATD_KEY']}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if user:
        request.add_header("Chatd-As", user)
    if retry:
        request.add_header("Idempotency-Key", retry)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as refusal:
        sys.exit(f"{method} {path}: {refusal.read().decode()}")


users = [{"user": f"user-{i}", "name": f"User {i}"} for i in range(1, 1001)]
if errors := call("PUT", "/users", {"users": users})["errors"]:
    sys.exit(f"users: {errors}")

# Ops on one group run in their order, and each has a result of its own. The key makes the group for itself, so it has no owner.
results = call("POST", "/batch", retry=f"make-{group}", body={"ops": [
    {"op": "create_group", "id": group, "members": [u["user"] for u in users]},
    {"op": "send", "as": "user-1", "group": group, "body": "Order 1 has shipped"},
    {"op": "send", "as": "user-2", "group": group, "body": "Thanks"},
]})["results"]
if refused := [r for r in results if "code" in r]:
    sys.exit(f"batch: {refused}")

# What a key wrote has its id in `via`, by which a bot skips its own.
for m in call("GET", f"/groups/{group}/messages?after=0", user="user-2")["messages"]:
    if m["kind"] == "text":
        print(f"{m['from']}: {m['body']} (via {m['via']})")

call("POST", "/users/user-2/revoke")  # tokens that were issued until now are void within a second
print(results[0]["members"], "members, tokens of user-2 revoked")
