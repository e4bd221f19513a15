// Random steps of everything that can happen to timelines, compared after each with what the server holds. SEED repeats a run, STEPS
// makes it longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "../src/memory.js";
import { Timeline } from "../src/timeline.js";
import { Server, clientOf, quiet } from "./server.js";

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const STEPS = Number(process.env.STEPS ?? 10_000);
const MAX = 80;
const GROUPS = ["general", "other/group"];
const EMOJI = ["👍", "❤️", ":party:"];

/** mulberry32 */
function chances(seed) {
  return () => {
    let t = (seed += 0x6d2b79f5);
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

test(`timelines equal the log over ${STEPS} random steps (SEED=${SEED})`, async () => {
  const random = chances(SEED);
  const below = (n) => Math.floor(random() * n);
  const one = (list) => list[below(list.length)];
  const server = new Server();
  server.page = 20;
  const store = memoryStore();
  let client;
  let timelines = [];
  const away = new Map(); // by life of a group: below, the server had nothing when a gap was loaded, to say what came of a message
  const right = new WeakMap(); // items that were compared, with what of the log
  let step = 0;
  let doing = "";

  const open = (group) => timelines.push(new Timeline(client, group, one(["end", "unread", below(300) + 1]), MAX));
  function begin() {
    client = clientOf(server, { store });
    client.connect();
  }

  function write(group, n) {
    for (let i = 0; i < n; i++) {
      const log = server.group(group);
      const kind = random();
      let target = kind < 0.6 ? null : log.at(random() < 0.6 ? log.last - below(10) : log.first + below(log.last - log.first + 1));
      if (target && (target.id < log.first || target.deleted_at || target.kind !== "text")) target = null;
      if (!target) server.append(group, { body: `${group} ${server.marks}` });
      else if (kind < 0.7) server.append(group, { kind: "edit", target: target.id, body: `edited ${server.marks}` });
      else if (kind < 0.75) server.append(group, { kind: "delete", target: target.id });
      else if (kind < 0.8) server.append(group, { kind: "notice", notice: "renamed", name: `name ${server.marks}` });
      else if (kind < 0.87 && !target.thread) server.append(group, { body: `${group} ${server.marks}`, thread: target.id });
      else {
        const emoji = one(EMOJI);
        const from = one(["bob", "alice"]);
        const has = log.about(target.id).filter((r) => r.emoji === emoji && r.from === from).length % 2 === 1;
        server.append(group, { kind: "reaction", target: target.id, emoji, from, ...(has && { removed: true }) });
      }
    }
  }

  function check(t) {
    const log = server.group(t.group);
    const { items, before, after, error } = t.snapshot();
    const messages = items.filter((i) => i.type === "message");
    const gaps = items.filter((i) => i.type === "gap");
    assert.ok(messages.length <= MAX, `${messages.length} lines are held`);
    assert.ok(new Set(items.map((i) => i.key)).size === items.length, "two items have one key");
    let at = 0;
    for (const m of messages) {
      assert.ok(m.id > at, `${m.id} comes after ${at}`);
      at = m.id;
      const want = log.at(m.id);
      assert.ok(want, `there is no ${m.id}`);
      const { gaps: hidden = [], held = [] } = client.state.groups.get(t.group)?.log ?? {};
      const changes = log.about(m.id).concat(log.replies(m.id, true).flatMap((r) => [r, ...log.about(r.id).filter((c) => c.kind === "delete")]));
      // Of a deletion that came while its reply was not held nobody knew whose reply it was.
      const counts = changes.every((c) => c.kind !== "delete" || held.some(([from, to]) => from <= c.target && c.target <= to));
      const now = `${log.epoch} ${server.rollbacks} ${changes.length} ${counts}`;
      if (right.get(m) === now) continue;
      if (m.id < (away.get(log.epoch) ?? 0) || changes.some((c) => hidden.some(([from, to]) => from <= c.id && c.id <= to))) continue;
      const got = { id: m.id, body: m.body, deleted: m.deleted_at, edited: m.edited_at, reactions: m.deleted_at ? [] : [...m.reactions].sort() };
      const shown = server.shown(log, want, "alice");
      if (!m.deleted_at && counts) {
        got.replies = m.replies ?? 0;
        shown.replies = log.replies(m.id).length;
      }
      if (m.deleted_at) got.edited = shown.edited; // nobody sees that it was edited before
      if (JSON.stringify(got) !== JSON.stringify(shown)) assert.deepEqual(got, shown);
      right.set(m, now);
    }
    const ids = new Set(messages.map((m) => m.id));
    const first = messages[0]?.id ?? (after === false ? log.last + 1 : 0);
    const missing = log.lines(first + 1, after === false ? log.last : at).filter((m) => !m.thread && !ids.has(m.id)).map((m) => m.id);
    for (const id of missing) {
      assert.ok(gaps.some((g) => g.from <= id && id <= g.to), `${id} is missing between ${first} and ${at} without a gap`);
      assert.ok(id < log.first, `${id} is a gap though it is to be had from ${log.first} on`);
    }
    if (before === false && error === null) {
      const older = log.lines(log.first, first - 1).filter((m) => !m.thread);
      assert.equal(older.length, 0, `before ${first} there is nothing, it says, but there is ${older.at(-1)?.id}`);
    }
    for (const g of gaps.filter((g) => g.to > 0)) assert.ok(!messages.some((m) => m.id >= g.from && m.id <= g.to), "a message lies in a gap");
  }

  const steps = {
    write: [30, () => write(one(GROUPS), 1 + below(4))],
    burst: [2, () => write(one(GROUPS), 30 + below(60))],
    before: [20, () => one(timelines)?.loadBefore().catch(() => {})],
    after: [12, () => one(timelines)?.loadAfter().catch(() => {})],
    jump: [10, () => {
      const t = one(timelines);
      const { last } = server.group(t.group);
      t.jump(one(["end", "unread", below(last) + 1, new Date(server.clock.time + below(last) * 1000)])).catch(() => {});
    }],
    both: [4, () => {
      const t = one(timelines);
      t.loadBefore().catch(() => {});
      write(t.group, 3);
      t.loadAfter().catch(() => {});
    }],
    slow: [6, async () => {
      server.slow = true;
      const t = one(timelines);
      const log = server.group(t.group);
      const held = client.state.groups.get(t.group)?.log.held ?? [];
      const roots = log.lines(log.first, log.last).filter((m) => m.kind === "text" && !m.thread && !m.deleted_at);
      const unknown = roots.filter((m) => !held.some(([from, to]) => from <= m.id && m.id <= to));
      for (let i = 0; i < 3 && roots.length > 0; i++) {
        const root = one(unknown.length > 0 ? unknown : roots).id;
        const reply = server.append(t.group, { body: "reply", thread: root }).id;
        t.jump(root).catch(() => {});
        await quiet();
        write(t.group, below(10));
        if (!log.at(reply).deleted_at) server.append(t.group, { kind: "delete", target: reply });
      }
      server.slow = false;
      for (const s of server.sockets) s.pump();
    }],
    trim: [3, () => {
      const log = server.group(one(GROUPS));
      const to = log.first + below(30);
      // A log that was rolled back and is trimmed beyond that before the client knows is to it a log that was trimmed.
      if (client.caughtUp(server)) server.trim(log.id, to);
    }],
    away: [3, async () => {
      server.up = false;
      server.cut();
      write(one(GROUPS), below(20));
      one(timelines)?.loadBefore().catch(() => {});
      await quiet();
      server.up = true;
    }],
    gap: [2, async () => {
      const group = one(GROUPS);
      const knows = client.caughtUp(server);
      server.up = false;
      server.cut();
      write(group, 5 + below(40));
      if (random() < 0.5 && knows) server.trim(group, server.group(group).last - below(20));
      server.up = true;
    }],
    load: [2, async () => { // of an archive that is there for a moment
      const t = one(timelines);
      const gap = t?.snapshot().items.find((i) => i.type === "gap" && i.to > 0);
      if (!gap) return;
      const log = server.group(t.group);
      const { first } = log;
      log.first = random() < 0.5 ? 1 : Math.min(first, gap.from + below(10));
      away.set(log.epoch, Math.max(away.get(log.epoch) ?? 0, log.first));
      t.loadGap(gap).catch(() => {});
      await quiet();
      log.first = Math.max(log.first, first);
    }],
    epoch: [0.3, () => server.renew(one(GROUPS)) ?? write(GROUPS[0], 3)],
    rollBack: [0.5, () => {
      const log = server.group(one(GROUPS));
      server.rollBack(log.id, Math.min(log.last, Math.max(log.first, log.last - 1 - below(15))));
      write(log.id, below(25));
    }],
    reopen: [2, () => {
      one(timelines).close();
      timelines = timelines.filter((t) => client.open.has(t));
      open(one(GROUPS));
    }],
    reload: [1, async () => {
      await client.close();
      if (random() < 0.5) write(one(GROUPS), below(30));
      timelines = [];
      begin();
      for (const g of [...GROUPS, one(GROUPS)]) open(g);
    }],
    cut: [2, () => server.cut()],
    read: [3, () => {
      const g = one(GROUPS);
      return void client.keep(`r/${encodeURIComponent(g)}`, server.group(g).last, "read", g, server.group(g).last).catch(() => {});
    }],
  };
  const total = Object.values(steps).reduce((n, [weight]) => n + weight, 0);

  for (const g of GROUPS) write(g, 300);
  begin();
  for (const g of GROUPS) open(g);
  try {
    for (step = 0; step < STEPS; step++) {
      let at = random() * total;
      const [name, [, run]] = Object.entries(steps).find(([, [weight]]) => (at -= weight) < 0);
      doing = name;
      await run();
      // Sometimes the next thing happens before all of this has arrived.
      if (random() < 0.3) continue;
      for (let i = 0; i < 40; i++) {
        await quiet(2);
        if (client.state.connection.phase !== "live") await server.clock.pass(30_000);
        else if (i > 2 && timelines.every((t) => !t.quiet && ![t.snapshot().before, t.snapshot().after].includes("loading")) && client.caughtUp(server)) break;
      }
      for (const t of timelines) check(t);
    }
  } catch (err) {
    err.message = `SEED=${SEED} step ${step} (${doing}): ${err.message}`;
    throw err;
  } finally {
    await client.close();
  }
});
