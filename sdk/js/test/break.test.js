// Sequences that broke the client once: each is what somebody met, or would have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Chatd } from "../src/chatd.js";
import { Group } from "../src/group.js";
import { append, emptyLog } from "../src/log.js";
import { memoryStore } from "../src/memory.js";
import { State, unknownGroup } from "../src/state.js";
import { Draft, items, received } from "../src/sync.js";
import { Timeline } from "../src/timeline.js";
import { jwt } from "./around.js";
import { Server, clientOf, quiet } from "./server.js";

/** A client that is connected, of a server with some messages. */
async function begun({ messages = 3, server = new Server(), store = memoryStore(), ...options } = {}) {
  for (let i = 0; i < messages; i++) server.append("general", { body: `m${i + 1}` });
  const client = clientOf(server, { store, ...options });
  client.connect();
  await quiet();
  await server.clock.pass(1);
  await quiet();
  return { server, store, client, group: new Group(client, "general") };
}

const bodies = (t) => t.snapshot().items.map((i) => i.body ?? `${i.type} ${i.from}..${i.to}`);

/** A fetch of a server of which a test holds some answers back, as they are when the call comes. */
function holding(server, user = "alice") {
  const fetch = server.fetch(user);
  const held = [];
  const on = { hold: () => false };
  return Object.assign(on, {
    held,
    async fetch(url, init) {
      const answer = await fetch(url, init);
      if (on.hold(new URL(url), init)) await new Promise((go) => held.push(go));
      return answer;
    },
  });
}

/** A store that may be used only while it is open. */
function strict(store = memoryStore()) {
  let open = "";
  const checked = (name) => (...args) => {
    if (!open) throw new Error(`${name} of a store that is closed`);
    return store[name](...args);
  };
  return {
    ...store, range: checked("range"), get: checked("get"), write: checked("write"), durable: true,
    async open(name) {
      open = name;
      await quiet(1);
      await store.open(name);
    },
    async close() {
      await quiet(1);
      open = "";
    },
  };
}

test("closed and connected again at once, as React does: it lives, with its store", async () => {
  const server = new Server();
  server.append("general", { body: "m1" });
  const client = clientOf(server, { store: strict() });
  client.connect();
  const closed = client.close();
  client.connect();
  await closed;
  await quiet(30);
  await server.clock.pass(1);
  await quiet();
  const { connection, stored, groups } = client.state.snapshot();
  assert.deepEqual([connection.phase, stored, groups.length, client.logged], ["live", true, 1, []]);
  await client.close();
});

test("close ends what waits for the server to say who it is", async () => {
  const server = new Server();
  server.up = false;
  const client = clientOf(server);
  client.connect();
  await quiet();
  const sending = new Group(client, "general").send({ body: "x" });
  await client.close();
  await assert.rejects(sending, { code: "closed" });
  assert.deepEqual(server.clock.timers, []);
});

test("nothing runs any more after close", async () => {
  const { server, client, group } = await begun();
  server.refuse = () => "unavailable";
  await group.send({ body: "waits" });
  await group.read(2);
  [...server.sockets][0].says({ op: "typing", group: "general", user: "bob" });
  [...server.sockets][0].says({ op: "errors", errors: [{ group: "general", code: "unavailable" }] });
  await quiet();
  assert.notEqual(server.clock.timers.length, 0);
  await client.close();
  assert.deepEqual(server.clock.timers, [], "a program in Node would not end");
});

test("close ends the calls that are under way", async () => {
  const server = new Server();
  const net = holding(server);
  net.hold = (url) => url.pathname === "/v1/groups";
  const { client } = await begun({ server, fetch: (url, init) => Promise.race([net.fetch(url, init), new Promise((_, fail) => init.signal.addEventListener("abort", () => fail(init.signal.reason)))]) });
  assert.equal(net.held.length, 1);
  net.hold = (url) => url.pathname === "/v1/me";
  const call = assert.rejects(client.http.request("GET", "/v1/me"), { code: "closed" });
  await quiet();
  await client.close();
  assert.deepEqual(server.clock.timers, []);
  await call;
  assert.deepEqual(client.logged, []);
  net.hold = () => false;
  assert.deepEqual(await client.http.request("GET", "/v1/me"), { user: "alice" });
});

test("a token of another person is not used: nothing of the one before is sent with it", async () => {
  const server = new Server();
  server.append("general", { body: "m1" });
  let who = "alice";
  const now = () => server.clock.time / 1000;
  const by = [];
  const fetch = async (url, init) => {
    const { sub } = JSON.parse(Buffer.from(init.headers.Authorization.split(".")[1], "base64url"));
    by.push([sub, init.method, new URL(url).pathname, init.body ?? ""]);
    return server.fetch(sub)(url, init);
  };
  const store = memoryStore();
  const client = clientOf(server, { store, fetch, getToken: async () => jwt({ sub: who, iat: now(), exp: now() + 600 }) });
  client.connect();
  await quiet();
  await server.clock.pass(1);
  assert.equal(client.state.me, "alice");
  server.up = false;
  server.cut();
  await quiet();
  const { done } = await new Group(client, "general").send({ body: "alice's" });
  const ended = assert.rejects(done, { code: "closed" });
  who = "bob";
  client.connect();
  await server.clock.pass(700_000);
  await ended;
  server.up = true;
  client.link?.hurry();
  await server.clock.pass(60_000);
  assert.equal(client.state.me, "bob");
  assert.deepEqual(by.filter(([sub, , path, body]) => sub === "bob" && (path.endsWith("/messages") || body.includes("alice") || body.includes("general"))), []);
  assert.ok(!server.lines("general").some((m) => m.body === "alice's"));
  await client.close();
});

test("a page of before a rollback does not get into what came after it", async () => {
  const server = new Server();
  const net = holding(server);
  const { client } = await begun({ server, messages: 150, fetch: net.fetch });
  const t = new Timeline(client, "general", "end", 100);
  await quiet(30);
  net.hold = (url) => url.searchParams.has("before");
  const loading = t.loadBefore().catch(() => {});
  await quiet();
  assert.equal(net.held.length, 1);
  net.hold = () => false;
  server.rollBack("general", 20);
  for (let i = 0; i < 140; i++) server.append("general", { body: `other ${i}` });
  await server.clock.pass(60_000);
  net.held[0]();
  await loading;
  await quiet(30);
  for (let i = 0; i < 5; i++) await t.loadBefore().catch(() => {});
  for (const m of t.snapshot().items) if (m.type === "message") assert.equal(m.body, server.group("general").at(m.id).body);
  await client.close();
});

test("what comes live and does not join what a timeline has leaves no hole in it", async () => {
  const server = new Server();
  const { client } = await begun({ server, messages: 1 });
  // A group that was joined and of which no position is known, read as far as it went then.
  server.up = true;
  for (let i = 1; i <= 5; i++) server.group("new").add({ ...server.append("general", { body: "x" }), group: "new", id: i, body: `n${i}` });
  await client.ask("known", server.describe(server.group("new"), "alice"));
  const t = new Timeline(client, "new", "end", 100);
  await quiet(30);
  assert.deepEqual(bodies(t), ["n1", "n2", "n3", "n4"]); // n5 is to come live
  // Another device acks what comes next, so the server begins behind it.
  for (let i = 6; i <= 8; i++) server.group("new").add({ group: "new", id: i, kind: "text", from: "bob", sent_at: "2026-01-01T00:00:00.000Z", body: `n${i}` });
  const [socket] = server.sockets;
  socket.says({ op: "messages", ...server.batch(server.group("new"), 8, true) });
  await quiet(30);
  assert.deepEqual(bodies(t), ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"]);
  await client.close();
});

test("a group of which nothing is owed has a position from the list on", async () => {
  const { client } = await begun({ messages: 0 });
  await client.ask("gone", "none");
  const d = new Draft(client.state, client.store);
  const { listed } = await import("../src/sync.js");
  const g = { id: "quiet", epoch: "e", first: 1, last: 5, seen: 5, read: 5, unread: 0, mentions_unread: 0, last_message: null };
  listed(d, [g, { ...g, id: "owed", seen: 3 }], new Set());
  const ends = Object.fromEntries(d.changes.map((c) => [c.value.g.id, c.value.log.end]));
  assert.deepEqual(ends, { quiet: 5, owed: -1 });
  await client.close();
});

for (const at of [20, "unread"]) {
  test(`a timeline that is opened at ${at} before the group is known begins there`, async () => {
    const server = new Server();
    server.read.set("general/alice", 19);
    for (let i = 1; i <= 200; i++) server.append("general", { body: `m${i}` });
    const client = clientOf(server);
    const t = new Timeline(client, "general", at, 500);
    client.connect();
    await quiet(60);
    await server.clock.pass(10);
    await quiet(60);
    const ids = t.snapshot().items.map((i) => i.id);
    assert.ok(ids.includes(20), ids.join());
    assert.ok(ids.length < 100);
    if (at === "unread") assert.deepEqual(t.snapshot().unread, { id: 20, count: 181 });
    await client.close();
  });
}

test("a store that is full gives way, and nothing that is gone counts as held", async () => {
  const store = memoryStore();
  const write = store.write.bind(store);
  let full = false;
  store.write = async (changes, expect) => {
    if (full && changes.some((c) => c.put?.startsWith("m/"))) {
      full = false;
      throw new Error("QuotaExceededError");
    }
    return write(changes, expect);
  };
  const { server, client } = await begun({ store, messages: 40 });
  full = true;
  server.append("general", { body: "one more" });
  await quiet(30);
  await server.clock.pass(60_000);
  const stored = (await store.range("m/general/", "m/general0")).map(([, e]) => e.id);
  for (const [from, to] of client.state.groups.get("general").log.held) {
    for (let id = from; id <= to; id++) assert.ok(stored.includes(id), `${id} counts as held`);
  }
  await client.close();
});

test("a message that is stored counts as that, though what is too much cannot be dropped", async () => {
  const store = memoryStore({ maxBytes: 100 });
  const { client, server, group } = await begun({ store, messages: 0 });
  const write = store.write.bind(store);
  store.write = async (changes, expect) => {
    if (changes.some((c) => c.removeFrom?.startsWith("m/"))) throw new Error("no");
    return write(changes, expect);
  };
  for (let i = 0; i < 20; i++) server.append("general", { body: "long ".repeat(20) });
  await quiet();
  server.up = false;
  server.cut();
  await quiet();
  const { key } = await group.send({ body: "x" });
  assert.deepEqual((await store.range("o/", "o0")).map(([, t]) => t.key), [key]);
  await client.close();
});

test("messages keep their order though the clock is set back", async () => {
  const { server, client, group } = await begun();
  server.up = false;
  server.cut();
  await quiet();
  server.clock.time += 3600_000; // wrong, and put right after the first
  await group.send({ body: "first" });
  await client.close();
  server.clock.time -= 3600_000;
  const again = clientOf(server, { store: client.store });
  again.connect();
  await quiet();
  await new Group(again, "general").send({ body: "second" });
  server.up = true;
  await server.clock.pass(60_000);
  assert.deepEqual(server.lines("general").slice(3).map((m) => m.body), ["first", "second"]);
  await again.close();
});

test("what JSON cannot say is refused at once, and does not stand in the way of what follows", async () => {
  const { server, client, group } = await begun();
  const round = {};
  round.round = round;
  await assert.rejects(group.send({ data: round }), TypeError);
  await assert.rejects(group.send({ data: { n: 1n } }), TypeError);
  const data = { n: 1 };
  const sending = group.send({ data });
  data.n = 2; // it is sent as it was
  await (await sending).done;
  await (await group.send({ body: "after" })).done;
  assert.deepEqual(server.lines("general").slice(3).map((m) => m.body ?? m.data), [{ n: 1 }, "after"]);
  await client.close();
});

test("a list that is older than what was read does not make it unread", async () => {
  const server = new Server();
  const net = holding(server);
  net.hold = (url, init) => init.method === "GET" && url.pathname === "/v1/groups";
  const { client, group } = await begun({ server, messages: 5, fetch: net.fetch });
  assert.equal(net.held.length, 1);
  net.hold = () => false;
  await group.read(5);
  await quiet();
  assert.equal(server.read.get("general/alice"), 5);
  net.held[0]();
  await quiet();
  await server.clock.pass(5000);
  assert.deepEqual([client.state.groups.get("general").g.read, client.state.snapshot().unread], [5, 0]);
  await client.close();
});

test("an answer to a sync that is older than what was read does not make it unread", async () => {
  const state = new State();
  state.me = "alice";
  const g = { ...unknownGroup("g").g, read: 5, unread: 0, last: 5 };
  state.groups.set("g", { ...unknownGroup("g"), known: true, counted: 5, g, log: { ...emptyLog("e"), end: 5, cursor: "e.5" } });
  const d = new Draft(state, memoryStore());
  const m = { id: 6, group: "g", kind: "text", from: "bob", body: "x", sent_at: "2026-01-01T00:00:00.000Z" };
  const previews = { "https://a.example": { title: "A" } };
  await received(d, { group: "g", epoch: "e", from: 6, to: 6, last: 6, complete: true, messages: [m], read: 2, unread: 4, previews });
  assert.deepEqual(d.events.find(([name]) => name === "previews"), ["previews", previews]);
  const put = d.changes.find((c) => c.put === "g/g").value;
  assert.deepEqual([put.g.read, put.g.unread, [...d.stale]], [5, 1, ["g"]]);
});

test("a message that a rollback took away does not stand as sent", async () => {
  const { server, client, group } = await begun();
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  const [socket] = server.sockets;
  socket.pump = () => {}; // the answer comes, the message does not
  await (await group.send({ body: "lost" })).done;
  await quiet();
  assert.deepEqual(bodies(t).at(-1), "lost");
  server.rollBack("general", 2);
  await server.clock.pass(60_000);
  assert.deepEqual(bodies(t), ["gap 1..0", "m1", "m2"]);
  assert.equal(client.state.outbox.size, 0);
  await client.close();
});

test("a group that was deleted and made again with as many messages is another one", async () => {
  const server = new Server();
  server.seen.set("general/alice", 3);
  const { client, store } = await begun({ server }); // placed at its end by the welcome, by its id alone
  assert.equal(client.state.groups.get("general").log.cursor, "");
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  t.close();
  server.renew("general");
  for (let i = 1; i <= 3; i++) server.append("general", { body: `other ${i}` });
  await server.clock.pass(60_000);
  await quiet(40);
  const again = new Timeline(client, "general", "end", 100);
  await quiet(40);
  assert.deepEqual(bodies(again).filter((b) => !b.startsWith("gap")), ["other 1", "other 2", "other 3"]);
  assert.equal(bodies(again)[0].startsWith("gap"), true);
  await client.close();
  assert.ok(store);
});

test("counts begin anew with a log that does", () => {
  const state = new State();
  state.me = "alice";
  const was = { ...unknownGroup("g"), known: true, counted: 100, log: { ...emptyLog("e1"), end: 5 } };
  state.groups.set("g", { ...was, g: { ...was.g, last: 100, read: 0 } });
  const d = new Draft(state, memoryStore());
  const messages = [6, 7].map((id) => ({ id, group: "g", kind: "text", from: "bob", body: "x", sent_at: "2026-01-01T00:00:00.000Z" }));
  return received(d, { group: "g", epoch: "e2", from: 6, to: 7, complete: true, messages }).then(() => {
    const put = d.changes.find((c) => c.put === "g/g").value;
    assert.deepEqual([put.counted, put.g.last, [...d.stale]], [7, 7, ["g"]]);
  });
});

test("a subscriber that throws does not keep others from being told", async () => {
  const { server, client } = await begun();
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  let told = 0;
  const fails = () => {
    throw new Error("of the application");
  };
  t.subscribe(fails);
  t.subscribe(() => told++);
  client.subscribers.add(fails);
  client.subscribers.add(() => told++);
  server.append("general", { body: "new" });
  await quiet();
  assert.ok(told >= 2, `${told}`);
  assert.ok(client.logged.some(([, text]) => text.includes("ubscriber")));
  await client.close();
});

test("everything can be called while the client connects", async () => {
  const server = new Server();
  server.append("general", { body: "m1" });
  const chat = new Chatd({
    url: "https://chat.example", getToken: async () => "t", clock: server.clock, fetch: server.fetch("alice"), WebSocket: server.socketOf("alice"),
    environment: { online: () => () => {}, visible: () => () => {} }, log() {},
  });
  await assert.rejects(chat.group("general").read(1), { code: "closed" });
  await assert.rejects(chat.inbox.ack(1), { code: "closed" });
  chat.connect();
  await Promise.all([chat.inbox.ack(1), chat.group("general").read(1), chat.group("general").discard("none")]);
  await quiet();
  assert.equal(server.read.get("general/alice"), 1);
  await chat.close();
});

test("a list that the server refuses for a while is asked for when it says", async () => {
  const server = new Server();
  let refusals = 0;
  const fetch = async (url, init) => {
    if (new URL(url).pathname !== "/v1/groups" || refusals++ > 0) return server.fetch("alice")(url, init);
    return new Response(JSON.stringify({ code: "rate_limited" }), { status: 429, headers: { "Retry-After": "60" } });
  };
  const { client } = await begun({ server, fetch });
  assert.equal(refusals, 1);
  await server.clock.pass(59_000);
  assert.equal(refusals, 1);
  await server.clock.pass(2000);
  assert.ok(refusals >= 2);
  await client.close();
});

test("the inbox has no hole, and does not grow for ever", () => {
  const state = new State();
  const batch = (from, to) => ({
    epoch: "i", from, to, cursor: `i.${to}`, complete: true,
    items: Array.from({ length: to - from + 1 }, (_, i) => ({ seq: from + i, kind: "direct", sent_at: "2026-01-01T00:00:00.000Z" })),
  });
  const take = (b) => {
    const d = new Draft(state, memoryStore());
    const result = items(d, b);
    state.apply(d.changes);
    return result;
  };
  take(batch(1, 900));
  assert.equal(take(batch(902, 903)), "hole");
  assert.equal(state.inbox.to, 900);
  take(batch(901, 1200));
  assert.deepEqual([state.inbox.items.length, state.inbox.items[0].seq, state.inbox.complete], [1000, 201, false]);
});

test("two messages under one key of an application are two lines", async () => {
  const { server, client } = await begun({ messages: 0 });
  for (const body of ["today", "tomorrow"]) server.append("general", { body, client_id: "k" }); // the server keeps keys for a day
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  const { items } = t.snapshot();
  assert.deepEqual([items.map((i) => i.body), new Set(items.map((i) => i.key)).size], [["today", "tomorrow"], 2]);
  await client.close();
});

test("a group that waits for its slowest member holds a message back, and does not refuse it", async () => {
  const { server, client, group } = await begun();
  let n = 0;
  server.refuse = () => (n++ < 2 ? "backlog_full" : null);
  const { done } = await group.send({ body: "x" });
  await server.clock.pass(60_000);
  assert.equal((await done).body, "x");
  await client.close();
});

test("a log keeps what is said of it: other lives have another number", () => {
  const m = (id) => ({ id, group: "g", kind: "text", from: "bob", body: "x", sent_at: "2026-01-01T00:00:00.000Z" });
  const batch = (epoch, from, to, complete = true) => ({ group: "g", epoch, from, to, complete, cursor: `${epoch}.${to}`, messages: Array.from({ length: to - from + 1 }, (_, i) => m(from + i)) });
  let { log } = append(emptyLog(), batch("e1", 1, 3));
  assert.equal(log.life, 0);
  ({ log } = append(log, batch("e1", 4, 5)));
  assert.equal(log.life, 0);
  ({ log } = append(log, batch("e1", 1, 4, false)));
  assert.equal(log.life, 1);
  ({ log } = append(log, batch("e2", 5, 6)));
  assert.equal(log.life, 2);
});
