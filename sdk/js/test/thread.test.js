// Threads: replies are in no timeline of their group, count where they are, and are shown below their root.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Group } from "../src/group.js";
import { memoryStore } from "../src/memory.js";
import { Origin, clientOf, quiet } from "./server.js";
import { ThreadServer } from "./thread.server.js";

async function begun({ server = new ThreadServer(), store = memoryStore(), messages = 3, ...options } = {}) {
  for (let i = 0; i < messages; i++) server.append("general", { body: `m${i + 1}` });
  const client = clientOf(server, { store, ...options });
  client.connect();
  await rests(server);
  const group = new Group(client, "general");
  return { server, store, client, group, now: () => client.state.snapshot().groups.find((g) => g.id === "general") };
}

async function rests(server) {
  await quiet();
  await server.clock.pass(10);
  await quiet();
}

const bodies = (t) => t.snapshot().items.map((i) => `${i.body}${i.state === "sent" ? "" : ` ${i.state}`}`);
const reply = (server, body, fields = {}) => server.append("general", { body, thread: 1, ...fields });

test("replies are shown in their thread alone, and their root counts them", async () => {
  const { server, group, now } = await begun();
  const timeline = group.timeline({ at: "end" });
  const thread = group.thread(1);
  await rests(server);
  const { unread } = now();
  reply(server, "r1", { from: "carol" });
  server.append("general", { body: "m4" });
  const second = reply(server, "r2", { from: "dave" });
  await rests(server);
  assert.deepEqual(bodies(timeline), ["m1", "m2", "m3", "m4"]);
  assert.deepEqual(bodies(thread), ["r1", "r2"]);
  const root = () => timeline.snapshot().items[0];
  assert.deepEqual([root().replies, root().last_reply_id, thread.snapshot().root.replies], [2, second.id, 2]);
  assert.equal(now().unread, unread + 1, "only what is in the group's own timeline is unread there");
  server.append("general", { kind: "delete", target: second.id, from: "dave" });
  server.append("general", { kind: "edit", target: 4, body: "r1 again", from: "carol" });
  server.append("general", { kind: "reaction", target: 4, emoji: "👍", from: "dave" });
  await rests(server);
  assert.deepEqual([root().replies, root().last_reply_id], [1, 4]);
  server.append("general", { kind: "delete", target: second.id, from: "", erased: [second.id] });
  await rests(server);
  assert.deepEqual([root().replies, root().last_reply_id], [1, 4], "the author of a deleted reply was erased");
  assert.deepEqual(thread.snapshot().items.map((i) => [i.body, !!i.deleted_at, i.reactions.get("👍")?.count]), [["r1 again", false, 1], [undefined, true, undefined]]);
  server.append("general", { kind: "delete", target: 1, from: "bob" });
  await rests(server);
  assert.equal(thread.snapshot().error?.code, "not_found");
  assert.equal(thread.snapshot().items.length, 0);
});

test("threads_unread follows live, and what the server says", async () => {
  const { server, group, now, client } = await begun();
  const own = server.append("general", { body: "mine", from: "alice" });
  await rests(server);
  const count = async (what) => {
    what();
    await rests(server);
    assert.equal(now().threads_unread ?? 0, server.describe(server.group("general"), "alice").threads_unread);
    return now().threads_unread ?? 0;
  };
  assert.equal(await count(() => reply(server, "not mine")), 0);
  assert.equal(await count(() => reply(server, "to the author", { thread: own.id })), 1);
  assert.equal(await count(() => reply(server, "you", { mentions: ["alice"] })), 2);
  const calls = server.calls.length;
  const third = reply(server, "again", { from: "carol" });
  assert.equal(await count(() => {}), 3);
  assert.equal(await count(() => reply(server, "my own", { from: "alice" })), 3);
  assert.equal(await count(() => server.append("general", { kind: "delete", target: third.id })), 2);
  assert.equal(server.calls.length, calls, "what is known is not asked for");
  assert.equal(client.state.snapshot().threads_unread, 2);

  const thread = group.thread(1);
  await rests(server);
  assert.deepEqual(thread.snapshot().follows, { following: true, read: 6, unread: 1 });
  await thread.read();
  assert.equal(now().threads_unread, 1, "at once");
  assert.equal(await count(() => {}), 1);
  await thread.follow(false);
  await thread.follow();
  assert.equal(await count(() => reply(server, "heard")), 2);
  await thread.follow(false);
  assert.equal(await count(() => reply(server, "not heard")), 1);
  assert.equal(await count(() => server.append("general", { kind: "delete", target: own.id, from: "alice" })), 0);
});

test("who wrote the root follows from the first reply on, if that was deleted before it came", async () => {
  const { server, client, now } = await begun();
  const own = server.append("general", { body: "mine", from: "alice" });
  reply(server, "of another thread");
  await rests(server);
  server.slow = true;
  const first = reply(server, "deleted", { thread: own.id });
  reply(server, "second", { thread: own.id, from: "carol" });
  server.append("general", { kind: "delete", target: first.id });
  server.slow = false;
  const calls = server.calls.length;
  for (const s of server.sockets) s.pump();
  await rests(server);
  assert.equal(now().threads_unread, 1);
  assert.equal(server.calls.length, calls);
  await client.close();
});

test("a reply that the server counted before it came is not counted again", async () => {
  const come = async (server) => {
    server.slow = false;
    for (const s of server.sockets) s.pump();
    for (let i = 0; i < 5; i++) await server.clock.pass(5_000), await quiet();
  };
  for (const [how, ask] of Object.entries({ opened: (group) => void group.thread(1), read: (group) => group.thread(1).read(4) })) {
    const { server, client, group, now } = await begun();
    reply(server, "r1", { mentions: ["alice"] });
    await rests(server);
    server.slow = true;
    reply(server, "r2");
    await ask(group);
    await rests(server);
    await come(server);
    assert.equal(now().threads_unread, server.describe(server.group("general"), "alice").threads_unread, how);
    await client.close();
  }
  const server = new ThreadServer();
  server.append("general", { body: "mine", from: "alice" });
  reply(server, "r1");
  const fetch = server.fetch("alice");
  let again = true;
  const { client, now } = await begun({
    server, messages: 0,
    fetch: (url, init) => {
      if (again && url.includes("/threads?")) (again = false), (server.slow = true), reply(server, "r2");
      return fetch(url, init);
    },
  });
  await come(server);
  assert.equal(again, false);
  assert.equal(now().threads_unread, 2, "listed");
  await client.close();
});

test("a reply that waits stays with its thread, over a restart", async () => {
  const { server, store, client, group, now } = await begun();
  reply(server, "r1");
  await rests(server);
  server.up = false;
  server.cut();
  await quiet();
  const thread = group.thread(1);
  const timeline = group.timeline({ at: "end" });
  const { key } = await thread.send({ body: "waits" });
  await quiet();
  assert.deepEqual(bodies(thread), ["r1", "waits queued"]);
  assert.deepEqual(bodies(timeline), ["m1", "m2", "m3"]);
  assert.equal(now().queued, 0);
  assert.equal(client.state.snapshot().queued, 1);
  await client.close();

  const again = clientOf(server, { store });
  again.connect();
  await quiet();
  const reopened = new Group(again, "general").thread(1);
  await quiet();
  assert.deepEqual(bodies(reopened), ["r1", "waits queued"], "without the server");
  server.up = true;
  await server.clock.pass(60_000);
  await rests(server);
  assert.deepEqual(bodies(reopened), ["r1", "waits"]);
  assert.deepEqual(server.sends, [key]);
  assert.equal(server.group("general").entries.at(-1).thread, 1);
});

test("a refused reply is kept, and may be tried again", async () => {
  const { server, group } = await begun();
  server.refuse = () => "muted";
  const thread = group.thread(1);
  await rests(server);
  const { key } = await thread.send({ body: "no" });
  await rests(server);
  assert.deepEqual(bodies(thread), ["no failed"]);
  server.refuse = () => null;
  await group.retry(key);
  await rests(server);
  assert.deepEqual(bodies(thread), ["no"]);
});

test("a long thread is loaded in pages, from any of its replies", async () => {
  const server = new ThreadServer();
  server.append("general", { body: "root" });
  for (let i = 1; i <= 300; i++) {
    reply(server, `r${i}`);
    server.append("general", { body: `m${i}` });
  }
  server.seen.set("general/alice", 601); // nothing of it is on the device
  const { group } = await begun({ server, messages: 0 });
  const thread = group.thread(1);
  await rests(server);
  const shows = (from, to, before, after) => {
    assert.deepEqual(bodies(thread), Array.from({ length: to - from + 1 }, (_, i) => `r${from + i}`));
    assert.deepEqual([thread.snapshot().before, thread.snapshot().after], [before, after]);
  };
  shows(241, 300, "more", false);
  await thread.loadBefore();
  shows(181, 300, "more", false);
  await thread.jump(200); // r100
  await rests(server);
  shows(40, 159, "more", "more");
  reply(server, "r301");
  await rests(server);
  shows(40, 159, "more", "more");
  await thread.loadAfter();
  shows(40, 219, "more", "more");
  await thread.loadBefore();
  shows(1, 219, false, "more");
  await thread.jump("end");
  shows(242, 301, "more", false);
  // A reaction to what came by a page counts once, though the page may have it.
  const old = thread.snapshot().items[0];
  server.append("general", { kind: "reaction", target: old.id, emoji: "👍", from: "dave" });
  await rests(server);
  server.append("general", { kind: "reaction", target: old.id, emoji: "👍", from: "carol" });
  await rests(server);
  assert.equal(thread.snapshot().items[0].reactions.get("👍").count, 2);
});

test("reading a thread works offline, and in every tab", async () => {
  const server = new ThreadServer();
  const origin = new Origin();
  const tabs = [origin.tab(), origin.tab()];
  server.append("general", { body: "mine", from: "alice" });
  const clients = tabs.map((tab) => clientOf(server, { store: origin.store, tab, tabs: undefined, tabsEnvironment: tab }));
  for (const c of clients) {
    c.connect();
    await rests(server);
  }
  const unread = () => clients.map((c) => c.state.snapshot().threads_unread);
  reply(server, "r1");
  reply(server, "r2");
  await rests(server);
  assert.deepEqual(unread(), [2, 2]);
  const follower = clients.find((c) => !c.leads);
  const threads = clients.map((c) => new Group(c, "general").thread(1));
  await rests(server);
  assert.deepEqual(threads.map(bodies), [["r1", "r2"], ["r1", "r2"]]);
  server.up = false;
  server.cut();
  await quiet();
  await threads[clients.indexOf(follower)].read();
  await quiet();
  assert.deepEqual(unread(), [0, 0]);
  assert.equal(server.follows.get("general/1/alice"), 1);
  server.up = true;
  await server.clock.pass(60_000);
  await rests(server);
  assert.equal(server.follows.get("general/1/alice"), 3);
  assert.deepEqual(unread(), [0, 0]);
  await threads[clients.indexOf(follower)].send({ body: "from the other tab" });
  await rests(server);
  assert.deepEqual(threads.map(bodies), [["r1", "r2", "from the other tab"], ["r1", "r2", "from the other tab"]]);
});
