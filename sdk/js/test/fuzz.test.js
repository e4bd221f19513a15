// The reducer over frames and pages in any order, repeated, dropped and late. SEED repeats a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { around } from "../src/log.js";
import { memoryStore } from "../src/memory.js";
import { State, keyOf } from "../src/state.js";
import { Draft, paged, received } from "../src/sync.js";
import { Server } from "./server.js";

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`frames in any order leave a log without a hole, a repeat or a change that is counted twice (SEED=${SEED})`, async () => {
  let seed = SEED;
  const below = (n) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n;
  for (let round = 0; round < 40; round++) {
    const server = new Server();
    const log = server.group("g");
    const sent = []; // frames and pages as they were at some time
    for (let i = 0; i < 60; i++) {
      const target = 1 + below(log.last || 1);
      const kind = ["text", "text", "text", "edit", "reaction", "delete", "notice"][log.last === 0 ? 0 : below(7)];
      const changes = { edit: { target, body: `edited ${i}` }, delete: { target }, reaction: { target, emoji: "👍", from: `user${i}` }, text: { body: `text ${i}` } }[kind];
      if (changes?.target && (log.at(target).kind !== "text" || log.at(target).deleted_at)) continue;
      server.append("g", { kind, ...changes });
      const from = 1 + below(log.last);
      const b = server.batch(log, from, true, Math.min(log.last, from + below(12)));
      if (below(3) > 0) sent.push({ b });
      else {
        for (const m of b.messages) m.reactions = Object.fromEntries(server.shown(log, m, "alice").reactions);
        sent.push({ b: { ...b, has_more: from > 1 }, asked: below(2) ? { before: b.to + 1 } : { after: b.from - 1 } });
      }
    }
    const s = new State();
    s.me = "alice";
    const store = memoryStore();
    let end = -1;
    async function take({ b, asked }) {
      const d = new Draft(s, store);
      const copy = structuredClone(b);
      const said = asked ? await paged(d, copy, asked, s.groups.get("g")?.log.life ?? -1) : await received(d, copy);
      const was = s.groups.get("g")?.log;
      if (said === "hole" || said === false) assert.equal(d.changes.length, 0);
      if (!asked && was?.end >= 0) assert.equal(said === "hole", b.from > was.end + 1);
      await store.write(d.changes);
      s.apply(d.changes);
      const now = s.groups.get("g")?.log;
      if (!now) return;
      assert.ok(now.end >= end, "the end went back");
      end = now.end;
      assert.deepEqual(now.gaps, []);
      const told = d.events.filter(([name]) => name === "message").map(([, m]) => m.id);
      assert.deepEqual(told, told.length > 0 ? Array.from({ length: end - told[0] + 1 }, (_, i) => told[0] + i) : []);
      if (was?.end >= 0 && told.length > 0) assert.equal(told[0], was.end + 1, "what follows a hole was taken");
    }
    async function compare() {
      const { log: held } = s.groups.get("g");
      const kept = new Map((await store.range("m/", "m0")).map(([, e]) => [e.id, e]));
      for (const m of log.lines(1, log.last)) {
        const e = kept.get(m.id);
        assert.equal(!!e, !!around(held.held, m.id), `${m.id} is ${e ? "kept and not held" : "held and not kept"}`);
        if (!e) continue;
        // Everything up to the end is in it, whichever of frame and page came first.
        const changes = log.about(m.id).filter((c) => c.id <= Math.max(held.end, e.at));
        assert.equal(e.deleted_at !== undefined, changes.some((c) => c.kind === "delete") || (m.deleted_at !== undefined && e.deleted_at !== undefined));
        if (!e.deleted_at) assert.equal(e.reactions?.[0]?.[1].count ?? 0, changes.filter((c) => c.kind === "reaction").length, `reactions of ${m.id}`);
        const edit = changes.findLast((c) => c.kind === "edit");
        if (edit && !m.deleted_at) assert.ok(e.edited_at !== undefined);
      }
    }
    for (let i = 0; i < 80; i++) await take(sent[below(sent.length)]);
    if (s.groups.has("g")) await compare();
    // What is missing comes in the end.
    for (let n = Math.max(1, end + 1); n <= log.last; n += 7) await take({ b: server.batch(log, n, true, Math.min(log.last, n + 6)) });
    await take({ b: { ...server.batch(log, 1, true, log.last), has_more: false, messages: log.entries.map((m) => ({ ...structuredClone(m), reactions: Object.fromEntries(server.shown(log, m, "alice").reactions) })) }, asked: { before: log.last + 1 } });
    await compare();
    assert.deepEqual(s.groups.get("g").log.held, [[1, log.last]]);
    for (const m of log.lines(1, log.last)) {
      const { at, reactions = [], ...e } = await store.get(keyOf.entry("g", m.id));
      assert.deepEqual({ id: e.id, body: e.body, deleted: e.deleted_at, edited: e.edited_at, reactions }, server.shown(log, m, "alice"));
    }
  }
});
