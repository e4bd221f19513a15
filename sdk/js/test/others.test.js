// What others do while the client is about something: other tabs, the browser, the server, a day that went by.
import assert from "node:assert/strict";
import { test } from "node:test";
import "fake-indexeddb/auto";
import { Group } from "../src/group.js";
import { indexedDBStore } from "../src/indexeddb.js";
import { emptyLog } from "../src/log.js";
import { memoryStore } from "../src/memory.js";
import { State, unknownGroup } from "../src/state.js";
import { Timeline } from "../src/timeline.js";
import { around, settled } from "./around.js";
import { Server, clientOf, quiet } from "./server.js";

const HOUR = 3600_000;

/** A client that is connected, of a server with some messages. */
async function begun({ messages = 3, server = new Server(), ...options } = {}) {
  for (let i = 0; i < messages; i++) server.append("general", { body: `m${i + 1}` });
  const client = clientOf(server, options);
  client.connect();
  await quiet();
  await server.clock.pass(1);
  await quiet();
  return { server, client, group: new Group(client, "general") };
}

async function offline(server) {
  server.up = false;
  server.cut();
  await quiet();
}

test("what the leading tab has pruned, and this one has not heard of, is no hole in a timeline", async () => {
  const store = memoryStore();
  const state = new State();
  const record = { ...unknownGroup("g"), known: true, g: { ...unknownGroup("g").g, last: 100 }, log: { ...emptyLog("e"), end: 100, held: [[1, 100]] } };
  state.apply([{ put: "g/g", value: record }]);
  const put = (id) => ({ put: `m/g/${String(id).padStart(16, "0")}`, value: { id, kind: "text", from: "bob", at: id } });
  await store.write([{ put: "g/g", value: { ...record, log: { ...record.log, held: [[91, 100]] } } }, ...Array.from({ length: 10 }, (_, i) => put(91 + i))]);
  const asked = [];
  const timeline = new Timeline({
    state, store, opened() {}, closed() {}, soon() {}, call() {}, vanished() {},
    async page(group, page) {
      asked.push(page);
      const now = { ...record, log: { ...record.log, held: [[40, 100]] } };
      await store.write([{ put: "g/g", value: now }, ...Array.from({ length: 51 }, (_, i) => put(40 + i))]);
      state.apply([{ put: "g/g", value: now }]);
    },
  }, "g", "end", 500);
  await quiet();
  const { items, error } = timeline.snapshot();
  assert.equal(error, null);
  assert.deepEqual(asked, [{ before: 101 }]);
  assert.deepEqual(items.map((i) => i.id), Array.from({ length: 60 }, (_, i) => 41 + i));
});

test("a page that comes after the person has left does not bring the group back", async () => {
  const server = new Server();
  const fetch = server.fetch("alice");
  let go;
  const { client } = await begun({ server, messages: 150, fetch: async (url, init) => {
    const answer = await fetch(url, init);
    if (new URL(url).searchParams.has("before")) await new Promise((done) => (go = done));
    return answer;
  } });
  const t = new Timeline(client, "general", "end", 500);
  await quiet();
  void t.loadBefore().catch(() => {});
  await quiet();
  [...server.sockets][0].says({ op: "left", group: "general" });
  server.logs.delete("general");
  await quiet();
  assert.equal(client.state.groups.size, 0);
  go();
  await quiet();
  await client.vanished("general", 1, 5);
  assert.equal(client.state.groups.size, 0);
  assert.deepEqual(await client.store.range("m/", "m0"), []);
  await client.close();
});

test("of sends at once no more are kept than may wait", async () => {
  const { server, client, group } = await begun();
  await offline(server);
  const sends = await Promise.allSettled(Array.from({ length: 1005 }, (_, i) => group.send({ body: `${i}` })));
  assert.deepEqual(sends.filter((s) => s.status === "rejected").map((s) => s.reason.code), Array(5).fill("outbox_full"));
  assert.equal(client.state.outbox.size, 1000);
  await client.close();
});

for (const there of [true, false]) {
  test(`a delayed message that was not confirmed for two days is ${there ? "not sent twice" : "sent if it is not there"}`, async () => {
    const { server, client, group } = await begun();
    await offline(server);
    const { key, done } = await group.send({ body: "later", deliverAt: new Date(server.clock.time + HOUR) });
    server.sleep(50 * HOUR);
    if (there) server.append("general", { body: "later", from: "alice", client_id: key }); // its answer was lost, its time came
    server.up = true;
    await server.clock.pass(60_000);
    assert.equal((await done).id, 4);
    assert.deepEqual(server.sends, there ? [] : [key]);
    assert.deepEqual(server.lines("general").map((m) => m.body), ["m1", "m2", "m3", "later"]);
    assert.equal(client.state.outbox.size, 0);
    await client.close();
  });
}

for (const by of ["websocket", "poll"]) {
  test(`what comes of a delayed message is its schedule, by ${by}`, async () => {
    const server = new Server();
    const { client, group } = await begun({ server });
    const schedule = { id: "s1", state: "pending" };
    const { ask } = client.link;
    client.link.ask = async (f) => (f.op === "send" ? (by === "poll" ? schedule : { op: "ok", schedule, duplicate: false }) : ask(f));
    const { done } = await group.send({ body: "later", deliverAt: "2030-01-01T00:00:00Z" });
    assert.deepEqual(await done, schedule);
    assert.equal(client.state.outbox.size, 0);
    await client.close();
  });
}

test("a database that was deleted under the client: it goes on in memory, says so, and sends what waited", async () => {
  const { server, client, group } = await begun({ store: indexedDBStore() });
  for (let i = 0; i < 50 && client.state.connection.phase !== "live"; i++) await new Promise((done) => setTimeout(done, 2));
  assert.equal(client.state.snapshot().stored, true);
  await offline(server);
  const { done } = await group.send({ body: "waits" });
  const ended = assert.rejects(done, { code: "closed" });
  await new Promise((done, fail) => Object.assign(indexedDB.deleteDatabase("chatd/https://chat.example alice"), { onsuccess: done, onerror: fail }));
  server.up = true;
  for (let i = 0; i < 200 && server.lines("general").length < 4; i++) {
    await server.clock.pass(500);
    await new Promise((done) => setTimeout(done, 1));
  }
  await ended;
  await quiet();
  assert.deepEqual(server.lines("general").map((m) => m.body), ["m1", "m2", "m3", "waits"]);
  assert.equal(client.state.snapshot().stored, false);
  assert.equal(client.state.connection.phase, "live");
  assert.deepEqual(client.logged.map(([level, text]) => [level, text]), [["warn", "The store was deleted, so nothing is kept over a reload."]]);
  await client.close();
  assert.deepEqual(server.clock.timers, []);
});

test("positions that a hello cannot hold come by a sync before it", async () => {
  const a = around();
  a.rest.at = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`group ${i} é`, `${"e".repeat(30)}.${i}.kkkkkkkk`]));
  a.link.open();
  await settled();
  await a.socket.opens();
  assert.deepEqual(a.socket.sent, []);
  assert.equal(Object.keys(a.syncs[0].json.after).length, 5000);
  assert.equal(a.link.live, false);
  await a.syncs[0].answer(200, { groups: [], left: [], errors: [], next_poll_s: 0 });
  assert.equal(a.link.by, "poll");
  await a.clock.pass(3000);
  await a.socket.opens();
  const [hello] = a.socket.sent;
  const bytes = Buffer.byteLength(JSON.stringify(hello));
  assert.ok(bytes > 200_000 && bytes < 256 * 1024, `${bytes}`);
  await a.socket.says({ op: "welcome", user: "alice", session: "s", groups: {}, ping_s: 25 });
  assert.equal(a.link.by, "websocket");
  a.link.close();
});

test("who was out of a group for a while, and may not see what was written then, goes on behind a gap", async () => {
  const { server, client } = await begun();
  const gaps = [];
  client.listeners.set("gap", new Set([(gap) => gaps.push(gap)]));
  const timeline = new Timeline(client, "general", "end", 100);
  await quiet();
  await offline(server);
  for (let i = 4; i <= 8; i++) server.append("general", { body: `m${i}` });
  server.trim("general", 6);
  server.start = (log, at) => ({ from: Math.max(log.first, Number(String(at).split(".")[1]) + 1), complete: true }); // nothing is missing of what may be seen
  server.up = true;
  await server.clock.pass(30_000);
  await quiet();
  assert.equal(client.state.connection.phase, "live");
  assert.deepEqual(timeline.snapshot().items.map((i) => i.body ?? `${i.from} to ${i.to}`), ["m1", "m2", "m3", "4 to 6", "m7", "m8"]);
  assert.deepEqual(gaps, [{ group: "general", from: 4, to: 6 }]);
  assert.equal(client.state.snapshot().groups[0].unread, 2);
  await client.close();
});

test("what was to be done with a message is not done to another one, in a group that was made again", async () => {
  const { server, client, group } = await begun();
  await offline(server);
  const waiting = await Promise.all([group.edit(2, { body: "edited" }), group.delete(1), group.react(3, "x"), group.send({ body: "reply", replyTo: 2 }), group.send({ body: "plain" })]);
  const outcomes = Promise.all(waiting.map(({ done }) => done.then((m) => m.body, (err) => err.code)));
  await group.read(3);
  server.renew("general");
  for (let i = 1; i <= 4; i++) server.append("general", { body: `new ${i}` });
  server.up = true;
  await server.clock.pass(30_000);
  await quiet();
  assert.deepEqual(await outcomes, ["not_found", "not_found", "not_found", "not_found", "plain"]);
  assert.deepEqual(server.group("general").entries.map((m) => m.body), ["new 1", "new 2", "new 3", "new 4", "plain"]);
  assert.equal(server.read.get("general/alice"), undefined);
  const { unread, failed, queued } = client.state.snapshot();
  assert.deepEqual([unread, failed, queued], [4, 1, 0]);
  await client.close();
});

test("a store that is full and stays so: it goes on in memory, says so, and sends what waited", async () => {
  const disk = memoryStore();
  let full = false;
  const store = Object.assign(Object.create(disk), disk, {
    durable: true,
    write: async (...args) => {
      if (full) throw new DOMException("", "QuotaExceededError");
      return disk.write(...args);
    },
  });
  const { server, client, group } = await begun({ store });
  await offline(server);
  await group.send({ body: "waits" });
  full = true;
  server.append("general", { body: "m4" });
  server.up = true;
  await server.clock.pass(30_000);
  await quiet();
  assert.equal(client.state.connection.phase, "live");
  assert.equal(client.state.snapshot().stored, false);
  assert.deepEqual(server.lines("general").map((m) => m.body), ["m1", "m2", "m3", "m4", "waits"]);
  assert.equal(client.state.groups.get("general").log.end, 5);
  assert.ok(client.logged.some(([level, text]) => level === "warn" && text === "The store is full, so nothing is kept over a reload."));
  await client.close();
  assert.deepEqual(server.clock.timers, []);
});

test("50 MiB of messages are kept where the store says nothing else", async () => {
  const { server, client } = await begun({ store: { ...memoryStore(), maxBytes: undefined } });
  const { groups } = client.state;
  const oldest = async (bytes) => {
    groups.set("general", { ...groups.get("general"), bytes });
    server.append("general", { body: "one more" });
    await quiet(30);
    return groups.get("general").log.held[0]?.[0];
  };
  assert.equal(await oldest(50 * 2 ** 20 - 1000), 1);
  assert.equal(await oldest(50 * 2 ** 20), undefined);
  await client.close();
});
