// A backend in Node 18 or later, with fetch alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
//
//	chatd keys add shop -scopes users,groups,send,read -as 'user-*'
//
// and the group from its argument. It creates 1,000 users, makes a group of them, sends as two of them, reads as one, and revokes the
// tokens of one. All of it may be repeated.
const url = process.env.CHATD_URL ?? "http://127.0.0.1:8080";
const group = process.argv[2] ?? "orders";

/** Calls chatd, for a user if `as` names one. With a retry key, a repeat does nothing twice. */
async function call(method, path, body, { as, retry } = {}) {
  const headers = { Authorization: `Bearer ${process.env.CHATD_KEY}` };
  if (body) headers["Content-Type"] = "application/json";
  if (as) headers["Chatd-As"] = as;
  if (retry) headers["Idempotency-Key"] = retry;
  const answer = await fetch(`${url}/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
}

const users = Array.from({ length: 1000 }, (_, i) => ({ user: `user-${i + 1}`, name: `User ${i + 1}` }));
const { errors } = await call("PUT", "/users", { users });
if (errors.length > 0) throw new Error(`users: ${JSON.stringify(errors)}`);

// Ops on one group run in their order, and each has a result of its own. The key makes the group for itself, so it has no owner.
const ops = [
  { op: "create_group", id: group, members: users.map((u) => u.user) },
  { op: "send", as: "user-1", group, body: "Order 1 has shipped" },
  { op: "send", as: "user-2", group, body: "Thanks" },
];
const { results } = await call("POST", "/batch", { ops }, { retry: `make-${group}` });
for (const r of results) if (r.code) throw new Error(`batch: ${r.status} ${r.code}: ${r.detail}`);

// What a key wrote has its id in `via`, by which a bot skips its own.
const { messages } = await call("GET", `/groups/${group}/messages?after=0`, undefined, { as: "user-2" });
for (const m of messages) if (m.kind === "text") console.log(`${m.from}: ${m.body} (via ${m.via})`);

// Tokens of user-2 that were issued until now are void within a second.
await call("POST", "/users/user-2/revoke");
console.log(`${results[0].members} members, tokens of user-2 revoked`);
