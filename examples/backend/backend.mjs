// A backend in Node 18 or later, with fetch alone. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
//
//	chatd keys add shop -scopes groups,send,read,keys -as 'bot-*,alice'
//
// and the group from its argument: it makes it, sends as two users, reads as one of them, and rotates its own key.
const url = process.env.CHATD_URL ?? "http://127.0.0.1:8080";
let key = process.env.CHATD_KEY;
const group = process.argv[2] ?? "orders";

/** Calls chatd, for a user if `as` names one. With a retry key, a repeat is answered as the first time. */
async function call(method, path, { as, body, retry } = {}) {
  const headers = { Authorization: `Bearer ${key}` };
  if (as) headers["Chatd-As"] = as;
  if (body) headers["Content-Type"] = "application/json";
  if (retry) headers["Idempotency-Key"] = retry;
  const answer = await fetch(`${url}/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  const content = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${content.status} ${content.code}: ${content.detail}`);
  return content;
}

// The key makes the group for itself: it has no owner.
await call("POST", "/groups", { body: { id: group, members: ["bot-1", "alice"] }, retry: `create-${group}` });

const send = (as, body, retry) => call("POST", `/groups/${group}/messages`, { as, body: { body }, retry });
await send("bot-1", "Order 1 has shipped", "order-1");
await send("alice", "Thanks", "thanks-1");

// What a key wrote has its id in `via`, by which a bot skips its own.
const { messages } = await call("GET", `/groups/${group}/messages?after=0`, { as: "alice" });
for (const m of messages) if (m.kind === "text") console.log(`${m.from}: ${m.body} (via ${m.via})`);

// The new key is in this answer alone. The old one holds for an hour more.
const id = key.split("_")[1];
({ key } = await call("POST", `/keys/${id}/rotate`, { body: { overlap_s: 3600 } }));
console.log(`${(await call("GET", `/groups/${group}`)).members} members, with the new key`);
