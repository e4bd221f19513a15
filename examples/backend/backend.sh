#!/usr/bin/env bash
# A backend with curl alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
#
#	chatd keys add shop -scopes users,groups,send,read -as 'user-*'
#
# and the group from its argument. It creates 1,000 users, makes a group of them, sends as two of them, reads as one, and revokes
# the tokens of one. All of it may be repeated.
set -euo pipefail

url=${CHATD_URL:-http://127.0.0.1:8080}/v1
group=${1:-orders}

# call METHOD PATH [OPTION OF CURL]... calls chatd. An error of the server, also about one of many, ends the script.
call() {
  answer=$(curl -sS --fail-with-body -X "$1" "$url$2" -H "Authorization: Bearer $CHATD_KEY" -H 'Content-Type: application/json' "${@:3}") \
    && [[ $answer != *'"code":'* ]] || { echo "$1 $2: $answer" >&2; exit 1; }
}

users='' members=''
for i in {1..1000}; do
  users+=",{\"user\": \"user-$i\", \"name\": \"User $i\"}"
  members+=",\"user-$i\""
done
call PUT /users -d "{\"users\": [${users:1}]}"

# Ops on one group run in their order, and each has a result of its own. The key makes the group for itself, so it has no owner.
# With the retry key, a repeat does nothing twice.
call POST /batch -H "Idempotency-Key: make-$group" -d "{\"ops\": [
  {\"op\": \"create_group\", \"id\": \"$group\", \"members\": [${members:1}]},
  {\"op\": \"send\", \"as\": \"user-1\", \"group\": \"$group\", \"body\": \"Order 1 has shipped\"},
  {\"op\": \"send\", \"as\": \"user-2\", \"group\": \"$group\", \"body\": \"Thanks\"}]}"
count=$(grep -o '"members":[0-9]*' <<<"$answer" | cut -d: -f2)

# What a key wrote has its id in `via`, by which a bot skips its own.
call GET "/groups/$group/messages?after=0" -H 'Chatd-As: user-2'
grep -o '{[^{}]*"kind":"text"[^{}]*}' <<<"$answer"

call POST /users/user-2/revoke # tokens that were issued until now are void within a second
echo "$count members, tokens of user-2 revoked"
