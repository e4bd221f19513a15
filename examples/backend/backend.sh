#!/usr/bin/env bash
# A backend with curl alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
#
#	chatd keys add shop -scopes groups,send,read,keys -as 'bot-*,alice'
#
# and the group from its argument: it makes it, sends as two users, reads as one of them, and rotates its own key.
set -euo pipefail

url=${CHATD_URL:-http://127.0.0.1:8080}/v1
key=$CHATD_KEY
group=${1:-orders}

# call METHOD PATH [OPTION OF CURL]... calls chatd. An error of the server ends the script.
call() {
  curl -sS --fail-with-body -X "$1" "$url$2" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "${@:3}"
}

# The key makes the group for itself: it has no owner. With the retry key, a repeat is answered as the first time.
call POST /groups -H "Idempotency-Key: create-$group" -d "{\"id\": \"$group\", \"members\": [\"bot-1\", \"alice\"]}" >/dev/null

call POST "/groups/$group/messages" -H 'Chatd-As: bot-1' -d '{"body": "Order 1 has shipped", "client_id": "order-1"}' >/dev/null
call POST "/groups/$group/messages" -H 'Chatd-As: alice' -d '{"body": "Thanks", "client_id": "thanks-1"}' >/dev/null

# What a key wrote has its id in `via`, by which a bot skips its own.
call GET "/groups/$group/messages?after=0" -H 'Chatd-As: alice' | grep -o '{[^{}]*"kind":"text"[^{}]*}'

# The new key is in this answer alone. The old one holds for an hour more.
id=${key#ck_}
key=$(call POST "/keys/${id%_*}/rotate" -d '{"overlap_s": 3600}' | sed 's/.*"key":"\([^"]*\)".*/\1/')
echo "$(call GET "/groups/$group" | grep -o '"members":[0-9]*' | cut -d: -f2) members, with the new key"
