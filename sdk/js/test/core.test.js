// The rules of the client: what is stored, acked, sent and shown, and when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Chatd } from "../src/chatd.js";
import { Client } from "../src/client.js";
import { Group } from "../src/group.js";
import { memoryStore } from "../src/memory.js";
import { Timeline } from "../src/timeline.js";
import { Server, clientOf, quiet } from "./server.js";

const HOUR = 3600_000;

/** A client that is connected, of a server with some messages. */
async function begun({ messages = 3, ...options } = {}) {
  const server = options.server ?? new Server();
  const store = options.store ?? memoryStore();
  for (let i = 0; i < messages; i++) server.append("general", { body: `m${i + 1}` });
  const client = clientOf(server, { store, ...options });
  const events = [];
  client.emit = (name, value) => events.push([name, value]);
  client.connect();
  await quiet();
  await server.clock.pass(1);
  await quiet();
  return { server, store, client, events, group: new Group(client, "general"), of: (name) => events.filter(([n]) => n === name).map(([, v]) => v) };
}

/** A store that notes its writes, and lets a test hold or fail them. */
function watched(store = memoryStore()) {
  const writes = [];
  const gate = { fail: false, hang: false, held: [] };
  const write = store.write.bind(store);
  return Object.assign(Object.create(store), store, {
    writes, gate,
    async write(changes, expect) {
      if (gate.hang) await new Promise((go) => gate.held.push(go));
      if (gate.fail) throw new Error("disk full");
      const done = await write(changes, expect);
      writes.push(changes);
      return done;
    },
  });
}

const bodies = (t) => t.snapshot().items.map((i) => i.body ?? `${i.type} ${i.from}..${i.to}`);
const states = (t) => t.snapshot().items.map((i) => `${i.body} ${i.state}`);

test("notices say what one may write, and when", async () => {
  const { server, client } = await begun();
  const now = async (notice) => {
    server.append("general", { kind: "notice", from: "root", ...notice });
    await quiet();
    const { post, slow_s, muted_until } = client.state.snapshot().groups.find((g) => g.id === "general");
    return { post, slow_s, muted_until };
  };
  const { me } = client.state.snapshot();
  const until = "2026-12-01T00:00:00.000Z";
  assert.deepEqual(await now({ notice: "settings", settings: { post: "none", slow_s: 30 } }), { post: "none", slow_s: 30, muted_until: undefined });
  assert.deepEqual(await now({ notice: "muted", user: me, muted_until: until }), { post: "none", slow_s: 30, muted_until: until });
  assert.deepEqual(await now({ notice: "muted", user: "somebody else" }), { post: "none", slow_s: 30, muted_until: until });
  assert.deepEqual(await now({ notice: "muted", user: me }), { post: "none", slow_s: 30, muted_until: undefined });
  await client.close();
});

test("messages and the position are in one write", async () => {
  const store = watched();
  const { server, client } = await begun({ store });
  store.writes.length = 0;
  server.append("general", { body: "new" });
  await quiet();
  const [write, ...more] = store.writes.filter((w) => w.some((c) => c.put?.startsWith("m/") || c.put?.startsWith("g/")));
  assert.equal(more.length, 0);
  assert.equal(write.find((c) => c.put === "m/general/0000000000000004").value.body, "new");
  assert.equal(write.find((c) => c.put === "g/general").value.log.end, 4);
  await client.close();
});

for (const how of ["hang", "fail"]) {
  test(`nothing is acked or shown before it is stored: writes that ${how}`, async () => {
    const store = watched();
    const { server, client, of } = await begun({ store });
    await server.clock.pass(1000);
    const t = new Timeline(client, "general", "end", 100);
    await quiet();
    server.acks.length = 0;
    store.gate[how] = true;
    server.append("general", { body: "new" });
    await quiet();
    await server.clock.pass(400);
    assert.deepEqual(server.acks, []);
    assert.deepEqual(bodies(t), ["m1", "m2", "m3"]);
    assert.equal(of("message").length, 3);
    store.gate[how] = false;
    for (const go of store.gate.held) go();
    await quiet();
    await server.clock.pass(60_000);
    assert.deepEqual(bodies(t), ["m1", "m2", "m3", "new"]);
    assert.deepEqual(server.acks.at(-1), ["general", `e1.4.k4`]);
    assert.equal(of("message").length, 4);
    await client.close();
  });
}

test("a hole is filled before what follows it is shown", async () => {
  const { server, client, of } = await begun();
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  const [socket] = server.sockets;
  socket.served.get("general").next = 6; // the server forgets 4 and 5
  server.append("general", { body: "m4" });
  server.append("general", { body: "m5" });
  server.append("general", { body: "m6" });
  const shown = [];
  t.subscribe(() => shown.push(bodies(t).join()));
  await quiet();
  await server.clock.pass(60_000);
  assert.equal(server.hellos, 2);
  assert.ok(shown.every((s) => !s.includes("m6") || s.includes("m4,m5,m6")), shown.join("\n"));
  assert.deepEqual(bodies(t), ["m1", "m2", "m3", "m4", "m5", "m6"]);
  assert.deepEqual(of("message").map((m) => m.id), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(of("gap"), []);
  await client.close();
});

test("what the server has no longer is a gap", async () => {
  const { server, client, of } = await begun();
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  server.up = false;
  server.cut();
  for (let i = 4; i < 10; i++) server.append("general", { body: `m${i}` });
  server.trim("general", 6);
  server.up = true;
  await server.clock.pass(60_000);
  assert.deepEqual(bodies(t), ["m1", "m2", "m3", "gap 4..6", "m7", "m8", "m9"]);
  assert.deepEqual(of("gap"), [{ group: "general", from: 4, to: 6 }]);
  await client.close();
});

/** A client that was away while so many were written, of which the server has none; what it had before was changed meanwhile. */
async function behindGap({ hidden = 3, max = 100, ...options } = {}) {
  const all = await begun({ messages: 4, ...options });
  const { server, client } = all;
  server.up = false;
  server.cut();
  server.append("general", { kind: "edit", target: 1, body: "m1 edited" });
  server.append("general", { kind: "delete", target: 2 });
  server.append("general", { kind: "reaction", target: 3, emoji: "👍" });
  for (let i = 8; i < 8 + hidden; i++) server.append("general", { body: `m${i}`, ...(i === 8 && { thread: 4 }) });
  const { last } = server.group("general");
  server.append("general", { body: `m${last + 1}` });
  server.append("general", { body: `m${last + 2}` });
  server.trim("general", last);
  server.up = true;
  await server.clock.pass(60_000);
  const timeline = new Timeline(client, "general", "end", max);
  await quiet();
  const gap = () => timeline.snapshot().items.find((i) => i.type === "gap");
  return { ...all, timeline, gap, last, found: () => (server.group("general").first = 1), unread: () => client.state.snapshot().groups[0].unread };
}

test("what a gap hides is loaded where the server has it by now", async () => {
  const { server, client, store, of, timeline, gap, found, unread } = await behindGap();
  assert.deepEqual(bodies(timeline), ["m1", "m2", "m3", "m4", "gap 5..10", "m11", "m12"]);
  const other = new Timeline(client, "general", "end", 100);
  await quiet();
  const [counted, acked, heard] = [unread(), server.acks.length, of("message").length];
  assert.equal(await timeline.loadGap(gap()), false);
  assert.deepEqual(bodies(timeline), ["m1", "m2", "m3", "m4", "gap 5..10", "m11", "m12"]);
  server.up = false;
  await assert.rejects(timeline.loadGap(gap()));
  assert.equal(timeline.snapshot().error, null);
  server.up = true;
  found();
  const { calls } = server;
  const asked = calls.length;
  assert.deepEqual(await Promise.all([timeline.loadGap(gap()), timeline.loadGap(gap())]), [true, true]);
  assert.equal(calls.length, asked + 2 * 2); // the page, and the root of a thread of which it has a reply
  const want = ["m1 edited", "message bob..undefined", "m3", "m4", "m9", "m10", "m11", "m12"];
  for (const t of [timeline, other]) assert.deepEqual(bodies(t), want);
  const [, deleted, liked, root] = timeline.snapshot().items;
  assert.ok(deleted.deleted_at);
  assert.equal(liked.reactions.get("👍").count, 1);
  assert.equal(root.replies, 1);
  assert.deepEqual([unread(), server.acks.length, of("message").length], [counted, acked, heard]);
  assert.equal(await timeline.loadGap({ to: 0 }), false);
  await client.close();

  const again = clientOf(server, { store });
  server.up = false;
  again.connect();
  await quiet();
  const kept = new Timeline(again, "general", "end", 100);
  await quiet();
  assert.deepEqual(bodies(kept), want);
  await again.close();
});

test("a long gap is loaded in parts, and a timeline lets go of what is far from it", async () => {
  const { server, client, timeline, gap, last, found } = await behindGap({ hidden: 250, max: 150 });
  found();
  const ids = () => timeline.snapshot().items.map((i) => (i.type === "gap" ? `${i.from}..${i.to}` : i.id));
  const { key } = gap();
  assert.equal(await timeline.loadGap(gap()), true);
  assert.deepEqual([...ids().slice(0, 6), ...ids().slice(-4)], [1, 2, 3, 4, 9, 10, 104, `105..${last}`, last + 1, last + 2]);
  assert.equal(gap().key, key);
  assert.equal(await timeline.loadGap(gap()), true);
  assert.deepEqual([ids().length, timeline.snapshot().before, timeline.snapshot().after], [150, false, "more"]);
  server.append("general", { body: "live" });
  await quiet();
  assert.deepEqual([ids().length, timeline.snapshot().after], [150, "more"]);
  assert.equal(await timeline.loadGap({ from: 205, to: last }), true);
  const seen = new Set(ids());
  for (const side of ["Before", "After"]) {
    for (let i = 0; i < 10 && timeline.snapshot()[side.toLowerCase()]; i++) {
      await timeline[`load${side}`]();
      for (const id of ids()) seen.add(id);
    }
  }
  const lines = server.lines("general").filter((m) => !m.thread).map((m) => m.id);
  assert.deepEqual([...seen].sort((a, b) => a - b), lines);
  await client.close();
});

test("of a gap that the server has in part, that part is loaded", async () => {
  const { server, client, timeline, gap } = await behindGap({ hidden: 10 });
  server.group("general").first = 12;
  assert.equal(await timeline.loadGap(gap()), true);
  assert.deepEqual(bodies(timeline).slice(2, 8), ["m3", "m4", "gap 5..11", "m12", "m13", "m14"]);
  assert.equal(await timeline.loadGap(gap()), false);
  assert.deepEqual(bodies(timeline).slice(2, 6), ["m3", "m4", "gap 5..11", "m12"]);
  await client.close();
});

test("what changed after a gap, too, is read again when the gap is loaded", async () => {
  const { server, client, timeline, gap, found } = await behindGap();
  server.append("general", { kind: "edit", target: 1, body: "m1 edited again" });
  server.append("general", { kind: "reaction", target: 3, emoji: "👍", from: "dora" });
  server.append("general", { body: "m4's second reply", thread: 4 });
  await quiet();
  found();
  assert.equal(await timeline.loadGap(gap()), true);
  const [first, , liked, root] = timeline.snapshot().items;
  assert.equal(first.body, "m1 edited again");
  assert.equal(liked.reactions.get("👍").count, 2);
  assert.equal(root.replies, 2);
  await client.close();
});

test("a reply that was deleted before it came is not counted", async () => {
  const { server, client } = await begun();
  const timeline = new Timeline(client, "general", "end", 100);
  await quiet();
  server.up = false;
  server.cut();
  const { id } = server.append("general", { body: "reply", thread: 1 });
  server.append("general", { kind: "delete", target: id });
  server.append("general", { body: "last" });
  server.up = true;
  await server.clock.pass(60_000);
  await quiet();
  assert.deepEqual(bodies(timeline), ["m1", "m2", "m3", "last"]);
  assert.equal(timeline.snapshot().items[0].replies ?? 0, 0);
  await client.close();
});

test("a group that shows its history by now has more before what was its beginning", async () => {
  const { server, client } = await begun({ messages: 300 });
  const timeline = new Timeline(client, "general", "end", 500);
  await quiet();
  server.trim("general", 200);
  while (timeline.snapshot().before) await timeline.loadBefore();
  assert.equal(timeline.snapshot().items[0].id, 201);
  server.group("general").first = 1;
  server.append("general", { kind: "notice", notice: "settings", settings: { history: true } });
  await server.clock.pass(10_000);
  await quiet();
  assert.equal(timeline.snapshot().before, "more");
  while (timeline.snapshot().before) await timeline.loadBefore();
  assert.equal(timeline.snapshot().items[0].id, 1);
  await client.close();
});

test("a page that reaches beyond what came live does not hide what never will", async () => {
  const { server, client, timeline, gap, last, found } = await behindGap();
  server.cut();
  for (let i = last + 3; i <= last + 5; i++) server.append("general", { body: `m${i}` });
  found();
  assert.equal(await timeline.loadGap(gap()), true);
  server.trim("general", last + 4);
  await server.clock.pass(60_000);
  await quiet();
  assert.deepEqual(bodies(timeline).slice(-4), ["m11", "m12", "gap 13..14", "m15"]);
  found();
  assert.equal(await timeline.loadGap(gap()), true);
  assert.deepEqual(bodies(timeline).slice(-5), ["m11", "m12", "m13", "m14", "m15"]);
  await client.close();
});

test("what came back below the oldest that there was is loaded like all the rest", async () => {
  const { server, client, timeline } = await begun({ messages: 0 }).then(async (all) => {
    for (let i = 1; i <= 300; i++) all.server.append("general", { body: `m${i}` });
    all.server.seen.set("general/alice", 300);
    all.server.cut();
    const timeline = new Timeline(all.client, "general", 20, 100);
    await all.server.clock.pass(60_000);
    return { ...all, timeline };
  });
  await timeline.jump(20);
  server.trim("general", 200);
  await timeline.jump("end");
  for (let i = 0; i < 10 && !timeline.snapshot().items.some((i) => i.type === "gap"); i++) await timeline.loadBefore();
  const gap = () => timeline.snapshot().items.find((i) => i.type === "gap");
  server.group("general").first = 1;
  for (let i = 0; i < 10 && gap(); i++) assert.equal(await timeline.loadGap(gap()), true);
  await timeline.jump("end");
  for (let i = 0; i < 10 && timeline.snapshot().before; i++) await timeline.loadBefore();
  assert.equal(timeline.snapshot().items[0].id, 1);
  await client.close();
});

test("a log that was rolled back, or begins anew, shows a gap and nothing of before", async () => {
  for (const how of ["rollBack", "renew"]) {
    const { server, client, of } = await begun({ messages: 5 });
    const t = new Timeline(client, "general", "end", 100);
    await quiet();
    server[how]("general", 3);
    server.append("general", { body: "other 4" });
    await server.clock.pass(60_000);
    const want = how === "renew" ? ["gap 1..0", "other 4"] : ["gap 1..0", "m1", "m2", "m3", "other 4"];
    assert.deepEqual(bodies(t), want);
    assert.deepEqual(of("gap"), [{ group: "general", from: 1, to: 0 }]);
    await client.close();
  }
});

test("a position that the server cannot read is given up, with a gap", async () => {
  const store = memoryStore();
  const first = await begun({ store });
  await first.client.close();
  const [[key, record]] = await store.range("g/", "g0");
  await store.write([{ put: key, value: { ...record, log: { ...record.log, cursor: "?" } } }]);
  const { client, of, server } = await begun({ store, server: first.server, messages: 1 });
  const t = new Timeline(client, "general", "end", 100);
  await server.clock.pass(60_000);
  assert.deepEqual(bodies(t), ["m1", "m2", "m3", "gap 4..0", "m1"]);
  assert.equal(of("gap").length, 1);
  await client.close();
});

test("a group that the person left goes, with all that is kept of it", async () => {
  const { server, client, store, of, group } = await begun();
  const { done } = await group.send({ body: "sent" });
  await done;
  server.up = false;
  server.cut();
  await quiet();
  const sending = await group.send({ body: "never" });
  server.logs.delete("general");
  server.up = true;
  await server.clock.pass(60_000);
  await assert.rejects(sending.done, { code: "not_found" });
  assert.deepEqual(of("left"), [{ group: "general" }]);
  assert.deepEqual((await store.range("", "\uffff")).map(([k]) => k).filter((k) => /^[gmcor]\//.test(k)), []);
  assert.deepEqual(client.state.snapshot().groups, []);
  await client.close();
});

test("what is to be sent is stored before send resolves, and outlives the process", async () => {
  const store = watched();
  const { server, client, group } = await begun({ store });
  server.up = false;
  server.cut();
  await quiet();
  store.gate.hang = true;
  let resolved = false;
  const sending = group.send({ body: "kept" }).then((s) => ((resolved = true), s));
  await quiet();
  assert.equal(resolved, false);
  store.gate.hang = false;
  for (const go of store.gate.held) go();
  const { key, done } = await sending;
  assert.equal((await store.range("o/", "o0"))[0][1].key, key);
  const ended = assert.rejects(done, { code: "closed" });
  await client.close();
  await ended;
  server.up = true;
  const again = await begun({ store, server, messages: 0 });
  assert.equal(server.lines("general").at(-1).body, "kept");
  assert.deepEqual(server.sends, [key]);
  assert.deepEqual(await store.range("o/", "o0"), []);
  await again.client.close();
});

test("500 messages arrive once each and in order though answers are dropped", async () => {
  const server = new Server();
  let n = 0;
  server.drop = () => ++n % 7 === 0;
  const { client, group, of } = await begun({ server });
  const t = new Timeline(client, "general", "end", 1000);
  const all = [];
  for (let i = 0; i < 500; i++) all.push(group.send({ body: `s${i}` }));
  const sent = await Promise.all(all);
  let over = false;
  const done = Promise.all(sent.map((s) => s.done)).then((m) => ((over = true), m));
  while (!over) await server.clock.pass(500);
  const want = Array.from({ length: 500 }, (_, i) => `s${i}`);
  assert.deepEqual((await done).map((m) => m.body), want);
  assert.deepEqual(server.lines("general").slice(3).map((m) => m.body), want);
  await quiet();
  assert.deepEqual(bodies(t).slice(3), want);
  assert.deepEqual(of("message").slice(3).map((m) => m.body), want);
  assert.equal(new Set(server.sends).size, 500, "each has one key");
  assert.ok(server.sends.length > 550, "no answer was dropped");
  assert.equal(client.state.outbox.size, 0);
  await client.close();
});

test("a message keeps its key and its place from queued to sent; a refused one stays until it is tried again or discarded", async () => {
  const { server, client, group, of } = await begun({ messages: 1 });
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  server.up = false;
  server.cut();
  await quiet();
  await group.send({ body: "a" });
  await quiet();
  assert.deepEqual(states(t), ["m1 sent", "a queued"]);
  const { key } = t.snapshot().items[1];
  server.refuse = (f) => (f.body === "bad" ? "forbidden" : null);
  const bad = await group.send({ body: "bad" });
  const refused = assert.rejects(bad.done, { code: "forbidden" });
  await group.send({ body: "b" });
  server.up = true;
  await server.clock.pass(60_000);
  await refused;
  assert.deepEqual(states(t), ["m1 sent", "a sent", "b sent", "bad failed"]);
  assert.equal(t.snapshot().items[1].key, key);
  assert.equal(client.state.snapshot().failed, 1);
  assert.deepEqual(of("failed").map((f) => [f.key, f.error.code]), [[bad.key, "forbidden"]]);
  assert.deepEqual(t.snapshot().items[3].error, { code: "forbidden", detail: "no" });
  server.refuse = () => null;
  await group.retry(bad.key);
  await quiet();
  assert.deepEqual(states(t), ["m1 sent", "a sent", "b sent", "bad sent"]);
  assert.deepEqual(server.sends.filter((k) => k === bad.key).length, 2, "under its key");
  server.refuse = () => "forbidden";
  const worse = await group.send({ body: "worse" });
  await assert.rejects(worse.done);
  await group.discard(worse.key);
  await quiet();
  assert.deepEqual(states(t), ["m1 sent", "a sent", "b sent", "bad sent"]);
  await client.close();
});

test("a message that waits for a moderator goes with what became of it: into the log, or it stays as one that was refused", async () => {
  const { server, client, group, of } = await begun({ messages: 1 });
  const t = new Timeline(client, "general", "end", 100);
  server.hold = () => true;
  const sent = {};
  for (const body of ["good", "bad", "old", "late"]) sent[body] = await group.send({ body });
  await Promise.all(["good", "bad", "old", "late"].map((body) => assert.rejects(sent[body].done, { code: "review" })));
  assert.deepEqual(states(t).slice(1), ["good failed", "bad failed", "old failed", "late failed"]);
  assert.equal(client.state.snapshot().failed, 0, "nothing has failed yet");
  let seq = 0;
  const decided = async (body, data) => {
    seq++;
    const item = { seq, kind: "review", group: "general", client_id: sent[body].key, data, sent_at: "2026-11-20T10:00:00Z" };
    for (const s of server.sockets) s.says({ op: "inbox", epoch: "e", from: seq, to: seq, complete: true, cursor: `c${seq}`, items: [item] });
    await quiet();
  };
  await decided("good", { review: "r1", state: "released" });
  assert.deepEqual(states(t).slice(1), ["bad failed", "old failed", "late failed"]);
  await decided("bad", { review: "r2", state: "dropped", reason: "too loud" });
  await decided("old", { review: "r3", state: "expired" });
  const errors = () => t.snapshot().items.flatMap((i) => (i.error ? [[i.body, i.error.code, i.error.detail]] : []));
  assert.deepEqual(errors(), [["bad", "dropped", "too loud"], ["old", "expired", ""], ["late", "review", "it waits for a moderator"]]);
  assert.equal(client.state.snapshot().failed, 2);
  assert.equal(of("inbox").length, 3);
  // The answer to a send may come after what became of it.
  await decided("late", { review: "r4", state: "dropped" });
  await group.retry(sent.late.key);
  await quiet();
  assert.deepEqual(errors().at(-1), ["late", "dropped", ""]);
  await client.close();
});

test("after 23 hours the key is looked for in the log before it is sent again", async () => {
  for (const how of ["found", "not there", "trimmed"]) {
    const { server, client, group } = await begun();
    const t = new Timeline(client, "general", "end", 100);
    await quiet();
    server.drop = () => how === "found";
    if (how !== "found") server.up = false, server.cut(), await quiet();
    const { key, done } = await group.send({ body: "late" });
    done.catch(() => {});
    await quiet();
    server.up = false;
    server.cut();
    await quiet();
    assert.equal(server.lines("general").length, how === "found" ? 4 : 3);
    for (let i = 0; i < 5; i++) server.append("general", { body: "more" });
    server.drop = () => false;
    server.keys.clear(); // the server forgets them after 24 h
    server.sleep(24 * HOUR);
    if (how === "trimmed") server.trim("general", 6);
    server.up = true;
    await server.clock.pass(60_000);
    const times = server.lines("general").filter((m) => m.body === "late").length;
    if (how === "trimmed") {
      assert.equal(times, 0);
      assert.equal(t.snapshot().items.at(-1).error.code, "unknown_outcome");
      assert.deepEqual(server.sends.filter((k) => k === key), []);
      await group.retry(key); // a person decides
      await quiet();
      assert.equal(server.lines("general").at(-1).body, "late");
    } else {
      assert.equal(times, 1, how);
      assert.equal((await done).body, "late");
    }
    await client.close();
  }
});

test("edits, deletions and reactions of one's own show at once, and only once", async () => {
  const { server, client, group } = await begun();
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  server.up = false;
  server.cut();
  await quiet();
  await group.edit(1, { body: "edited" });
  await group.delete(2);
  await group.react(3, "👍");
  const look = () => t.snapshot().items.map((i) => [i.body ?? "", !!i.deleted_at, i.reactions.get("👍")?.count ?? 0, i.changing]);
  await quiet();
  assert.deepEqual(look(), [["edited", false, 0, true], ["", true, 0, true], ["m3", false, 1, true]]);
  server.up = true;
  const seen = new Set();
  t.subscribe(() => seen.add(JSON.stringify(look().map((l) => l.slice(0, 3)))));
  await server.clock.pass(60_000);
  assert.deepEqual(look(), [["edited", false, 0, false], ["", true, 0, false], ["m3", false, 1, false]]);
  assert.equal(seen.size, 1, "it never looked otherwise");
  await client.close();
});

test("reading works offline, is sent when live, and counts what is left", async () => {
  const { server, client, group } = await begun({ messages: 5 });
  const unread = () => client.state.snapshot().groups[0].unread;
  assert.equal(unread(), 5);
  server.up = false;
  server.cut();
  await quiet();
  await group.read(3);
  assert.equal(unread(), 2);
  assert.equal(server.read.size, 0);
  server.up = true;
  await server.clock.pass(60_000);
  assert.equal(server.read.get("general/alice"), 3);
  assert.equal(unread(), 2);
  assert.equal(client.state.reads.size, 0);
  await group.read(5);
  assert.equal(unread(), 0);
  await client.close();
});

test("a timeline begins at the first unread message", async () => {
  const { server, client, group } = await begun({ messages: 200 });
  await group.read(50);
  await server.clock.pass(1000);
  await quiet();
  const t = new Timeline(client, "general", "unread", 500);
  await quiet(40);
  const { unread, items, before, after } = t.snapshot();
  assert.deepEqual(unread, { id: 51, count: 150 });
  assert.deepEqual([items[0].id, items.at(-1).id, before, after], [22, 81, "more", "more"]);
  await client.close();
  assert.equal(server.clock.time > 0, true);
});

test("a timeline begins at a time", async () => {
  const { server, client } = await begun({ messages: 300 });
  const t = new Timeline(client, "general", new Date(server.group("general").at(120).sent_at), 500);
  await quiet(60);
  const ids = t.snapshot().items.map((i) => i.id);
  assert.ok(ids.includes(119) && ids.includes(120) && ids.includes(121), ids.join());
  assert.ok(ids.length < 200);
  await client.close();
});

test("what did not change is the same object", async () => {
  const { server, client } = await begun({ messages: 10 });
  server.append("other", { body: "x" });
  await server.clock.pass(1000);
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  const before = t.snapshot();
  const groups = client.state.snapshot().groups;
  assert.equal(t.snapshot(), before);
  server.append("general", { kind: "edit", target: 4, body: "edited" });
  server.append("general", { body: "new" });
  await quiet();
  const after = t.snapshot();
  assert.notEqual(after, before);
  assert.deepEqual(after.items.slice(0, 10).map((item, i) => item === before.items[i]), [true, true, true, false, true, true, true, true, true, true]);
  const other = (list) => list.find((g) => g.id === "other");
  assert.equal(other(client.state.snapshot().groups), other(groups));
  assert.notEqual(client.state.snapshot().groups, groups);
  await client.close();
});

test("memory holds no more after 10,000 messages than before", async () => {
  const store = memoryStore({ maxBytes: 200_000 });
  const { server, client } = await begun({ store });
  const t = new Timeline(client, "general", "end", 100);
  const held = async () => {
    const entries = await store.range("m/", "m0");
    return { stored: entries.reduce((n, [, e]) => n + JSON.stringify(e).length, 0), shown: t.snapshot().items.length, memory: JSON.stringify([...client.state.groups]).length };
  };
  for (let i = 0; i < 10_000; i++) {
    server.append("general", { body: `message ${i}` });
    if (i % 50 === 0) await quiet(2);
  }
  await quiet();
  const { stored, shown, memory } = await held();
  assert.equal(client.state.groups.get("general").log.end, 10_003);
  assert.ok(stored <= 200_000, `${stored} bytes are stored`);
  assert.equal(shown, 100);
  assert.ok(memory < 2000, `${memory} bytes of one group`);
  await client.close();
});

test("pruning drops the oldest messages of what was not opened for longest, and they load again", async () => {
  const store = memoryStore({ maxBytes: 30_000 });
  const { server, client } = await begun({ store, messages: 400 });
  const t = new Timeline(client, "general", "end", 100);
  await quiet();
  t.close();
  await server.clock.pass(120_000);
  for (let i = 0; i < 400; i++) server.append("other", { body: `o${i}` });
  const o = new Timeline(client, "other", "end", 100);
  await quiet(60);
  const { log } = client.state.groups.get("general");
  assert.equal(log.end, 400);
  assert.ok(!log.held.some(([from]) => from === 301), JSON.stringify(log.held));
  assert.ok(o.snapshot().items.length >= 60);
  const again = new Timeline(client, "general", 330, 500);
  await quiet(60);
  const ids = again.snapshot().items.map((i) => i.id);
  assert.deepEqual([ids[0], ids.includes(330), ids.length], [301, true, 60]);
  await client.close();
});

test("another person's store is not touched: the token says whose it is", async () => {
  const store = memoryStore();
  const { server, client, group } = await begun({ store });
  server.up = false;
  server.cut();
  await quiet();
  const sending = await group.send({ body: "alice's" });
  sending.done.catch(() => {});
  await client.close();
  server.up = true;
  const bob = await begun({ store, server, messages: 0, user: "bob" });
  await server.clock.pass(60_000);
  assert.equal(bob.client.state.me, "bob");
  assert.ok(!server.lines("general").some((m) => m.body === "alice's"));
  await bob.client.close();
  const alice = await begun({ store, server, messages: 0 });
  await server.clock.pass(60_000);
  assert.equal(server.lines("general").at(-1).body, "alice's");
  assert.equal(server.lines("general").at(-1).from, "alice");
  await alice.client.close();
});

test("tokens that are refused at the start are asked for until one is taken", async () => {
  const server = new Server();
  server.append("general", { body: "m1" });
  let good = false;
  const fetch = server.fetch("alice");
  const refusing = (url, init) => (good ? fetch(url, init) : Promise.resolve(new Response("{}", { status: 401 })));
  const { client, of } = await begun({ server, messages: 0, fetch: refusing });
  await server.clock.pass(60_000);
  assert.deepEqual([client.state.connection.phase, of("error"), client.logged.length], ["connecting", [], 1]);
  good = true;
  await server.clock.pass(20_000);
  await quiet();
  assert.equal(client.state.connection.phase, "live");
  await client.close();
});

test("what stops the client is logged", async () => {
  const server = new Server();
  const fetch = () => Promise.resolve(new Response("{}", { status: 403 }));
  const { client, of } = await begun({ server, fetch });
  assert.deepEqual([client.state.connection.phase, of("error").map((e) => e.code)], ["closed", ["forbidden"]]);
  assert.deepEqual(client.logged.map(([level, text]) => [level, text]), [["error", "The client has stopped."]]);
});

test("forget leaves nothing", async () => {
  const store = memoryStore();
  const { client } = await begun({ store });
  await client.forget();
  assert.equal(client.state.snapshot().groups.length, 0);
  for (const name of ["https://chat.example", "https://chat.example alice"]) {
    await store.open(name);
    assert.deepEqual(await store.range("", "\uffff"), []);
  }
});

test("a store that refuses is replaced by memory, with a warning", async () => {
  const store = memoryStore();
  store.open = async () => {
    throw new Error("SecurityError");
  };
  const { client } = await begun({ store });
  assert.equal(client.state.snapshot().stored, false);
  assert.equal(client.state.snapshot().groups.length, 1);
  assert.equal(client.logged.length, 1);
  await client.close();
});

test("what the person begins to write elsewhere is told", async () => {
  const { server, client, of } = await begun();
  const [socket] = server.sockets;
  socket.says({ op: "draft", group: "general", body: "Shall we", rev: 3 });
  socket.says({ op: "draft", group: "general", deleted: true });
  await quiet();
  assert.deepEqual(of("draft"), [{ group: "general", body: "Shall we", rev: 3 }, { group: "general", deleted: true }]);
  await client.close();
});

test("who has a group open is told, and which one this person has", async () => {
  const { server, client, of } = await begun();
  const [socket] = server.sockets;
  client.focus("general", false);
  client.focus(null, true);
  client.focus(null, false);
  socket.says({ op: "here", group: "general", count: 2, users: ["alice", "bob"] });
  await quiet();
  assert.deepEqual(of("here"), [{ group: "general", count: 2, users: ["alice", "bob"] }]);
  assert.deepEqual(server.focused, [{ op: "focus", group: "general" }, { op: "focus", group: null }, { op: "focus", group: null, away: false }]);
  await client.close();
});

test("the public surface: events, snapshot, group, inbox", async () => {
  const server = new Server();
  server.append("general", { body: "m1" });
  const chat = new Chatd({
    url: "https://chat.example", getToken: async () => "t", clock: server.clock, fetch: server.fetch("alice"), WebSocket: server.socketOf("alice"),
    environment: { online: () => () => {}, visible: () => () => {} }, log() {},
  });
  const events = [];
  const stop = chat.on("message", (m) => events.push(m.body));
  let told = 0;
  chat.subscribe(() => told++);
  chat.connect();
  await quiet();
  await server.clock.pass(1);
  await chat.ready;
  assert.equal(chat.state.phase, "live");
  assert.equal(chat.snapshot().groups[0].id, "general");
  assert.equal(chat.snapshot(), chat.snapshot());
  assert.equal(chat.group("general"), chat.group("general"));
  assert.deepEqual(events, ["m1"]);
  const before = told;
  server.append("general", { body: "m2" });
  await quiet();
  assert.ok(told > before);
  stop();
  server.append("general", { body: "m3" });
  await quiet();
  assert.deepEqual(events, ["m1", "m2"]);
  await chat.close();
  assert.equal(chat.state.phase, "closed");
  await assert.rejects(chat.group("general").send({ body: "x" }), { code: "closed" });
});
