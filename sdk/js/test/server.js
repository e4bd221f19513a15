// A server in the test's own process: the log of each group, pages, sync and websocket, as far as the client asks for them. What it
// holds is the truth that a client is compared with.
import { memoryStore } from "../src/memory.js";
import { asking } from "../src/asking.js";
import { createTabs } from "../src/tabs.js";
import { Client } from "../src/client.js";
import { FakeClock, jwt, settled } from "./around.js";

const LINES = new Set(["text", "data", "notice"]);

class Log {
  first = 1;
  entries = []; // all there ever were in this life, entries[i].id === i + 1
  constructor(id, epoch) {
    Object.assign(this, { id, epoch });
  }
  get last() {
    return this.entries.length;
  }
  at(id) {
    return this.entries[id - 1];
  }
  /** The lines with ids from..to. */
  lines(from, to) {
    return this.entries.slice(Math.max(0, from - 1), Math.max(0, to)).filter((m) => LINES.has(m.kind));
  }
  #about = new Map();
  /** The changes of an entry. */
  about(id) {
    return this.#about.get(id)?.filter((c) => this.at(c.id) === c) ?? [];
  }
  /** The replies in a thread, without those that are deleted if not said. */
  replies(root, deleted = false) {
    return (this.#about.get(`thread ${root}`) ?? []).filter((r) => this.at(r.id) === r && (deleted || !r.deleted_at));
  }
  add(m) {
    this.entries.push(m);
    if (m.thread) this.#about.set(`thread ${m.thread}`, [...(this.#about.get(`thread ${m.thread}`) ?? []), m]);
    if (m.target) this.#about.set(m.target, [...(this.#about.get(m.target) ?? []), m]);
  }
}

export class Server {
  logs = new Map();
  sockets = new Set();
  keys = new Map(); // group/user/client_id -> id
  read = new Map(); // group/user -> id
  seen = new Map();
  acks = []; // [group, position]
  sends = []; // client_ids, as often as they came
  calls = [];
  page = 100;
  lives = 0;
  rollbacks = 0;
  marks = 0;
  up = true;
  /** Whether sockets carry nothing for a while: pages are ahead of what comes live. */
  slow = false;
  /** Whether an answer to a send is lost; the socket with it. */
  drop = () => false;
  /** Refuses a send with a problem. */
  refuse = () => null;
  /** Whether a send waits for a moderator. */
  hold = () => false;
  clock = new FakeClock();

  group(id) {
    if (!this.logs.has(id)) this.logs.set(id, new Log(id, `e${++this.lives}`));
    return this.logs.get(id);
  }

  /** Appends an entry, tells those who are live, and returns it. */
  append(group, fields) {
    const log = this.group(group);
    const m = { id: log.last + 1, group, kind: "text", from: "bob", sent_at: new Date(this.clock.time + log.last * 1000).toISOString(), ...fields };
    Object.defineProperties(m, { mark: { value: `k${++this.marks}` }, was: { value: m.body } });
    log.add(m);
    const target = log.at(m.target ?? 0);
    if (target) {
      if (m.kind === "edit") Object.assign(target, { body: m.body, edited_at: m.sent_at });
      if (m.kind === "delete") {
        delete target.body;
        target.deleted_at = m.sent_at;
      }
    }
    for (const s of this.sockets) s.pump();
    return m;
  }

  /** What a line says now, as an item should. */
  shown(log, m, me) {
    const reactions = new Map();
    for (const r of log.about(m.id)) {
      if (r.kind !== "reaction") continue;
      const was = reactions.get(r.emoji) ?? { count: 0, mine: false };
      const count = was.count + (r.removed ? -1 : 1);
      if (count > 0) reactions.set(r.emoji, { count, mine: r.from === me ? !r.removed : was.mine });
      else reactions.delete(r.emoji);
    }
    return { id: m.id, body: m.body, deleted: m.deleted_at, edited: m.edited_at, reactions: m.deleted_at ? [] : [...reactions].sort() };
  }

  /** The lines of a log. */
  lines(group) {
    return this.group(group).entries.filter((m) => LINES.has(m.kind));
  }

  trim(group, to) {
    const log = this.group(group);
    log.first = Math.max(log.first, Math.min(to, log.last) + 1);
  }

  /** The log loses its end, as by a failover; what is written then takes the same ids. */
  rollBack(group, to) {
    const log = this.group(group);
    log.entries.length = to;
    this.rollbacks++;
    for (const m of log.entries) { // changes that are lost have not happened
      const mine = log.about(m.id);
      const edit = mine.findLast((c) => c.kind === "edit");
      if (m.edited_at && !edit) Object.assign(m, { body: m.was }), delete m.edited_at;
      else if (edit) Object.assign(m, { body: edit.body, edited_at: edit.sent_at });
      if (!mine.some((c) => c.kind === "delete") && m.deleted_at) delete m.deleted_at, (m.body = edit ? edit.body : m.was);
      else if (m.deleted_at) delete m.body;
    }
    this.cut();
  }

  renew(group) {
    this.logs.delete(group);
    this.group(group);
    this.cut();
  }

  /** Time goes by and no timer runs: the device was asleep. */
  sleep(ms) {
    this.clock.time += ms;
    for (const t of this.clock.timers) t.at += ms;
  }

  /** Ends all sessions. */
  cut() {
    for (const s of [...this.sockets]) s.end(1006);
  }

  start(log, at, user, newest) {
    if (at === undefined) {
      const seen = this.seen.get(`${log.id}/${user}`) ?? 0;
      const from = Math.max(log.first, newest ? Math.max(seen + 1, log.last - this.page + 1) : seen + 1);
      return { from, complete: from === seen + 1 };
    }
    const [epoch, n, mark] = typeof at === "string" ? at.split(".") : [log.epoch, at];
    const id = Number(n);
    const other = epoch !== log.epoch || id > log.last || (mark && id > 0 && log.at(id).mark !== mark);
    if (other || id + 1 < log.first) return { from: log.first, complete: false };
    return { from: id + 1, complete: true };
  }

  batch(log, from, complete, to = Math.min(log.last, from + this.page - 1)) {
    const messages = log.entries.slice(from - 1, to).map((m) => structuredClone(m));
    const cursor = `${log.epoch}.${to}.${log.at(to)?.mark ?? ""}`;
    return { group: log.id, epoch: log.epoch, from, to, first: log.first, last: log.last, cursor, complete, has_more: to < log.last, messages };
  }

  describe(log, user) {
    const read = this.read.get(`${log.id}/${user}`) ?? 0;
    const unread = log.entries.filter((m) => m.id > read && m.id >= log.first && m.from !== user && (m.kind === "text" || m.kind === "data") && !m.deleted_at).length;
    const last = log.entries.findLast((m) => m.kind === "text");
    return {
      id: log.id, name: log.id, visibility: "private", created_by: "bob", created_at: "2026-01-01T00:00:00.000Z", epoch: log.epoch, first: log.first, last: log.last,
      members: 2, post: "members", seen: this.seen.get(`${log.id}/${user}`) ?? 0, read, unread, mentions_unread: 0, last_message: last ? structuredClone(last) : null,
    };
  }

  ack(user, group, at) {
    this.acks.push([group, at]);
    const id = typeof at === "string" ? Number(at.split(".")[1]) : at;
    const key = `${group}/${user}`;
    this.seen.set(key, Math.max(id, this.seen.get(key) ?? 0));
  }

  send(user, f) {
    const problem = this.logs.has(f.group) ? this.refuse(f) : "not_found";
    this.sends.push(f.client_id);
    if (problem) return { code: problem, status: 400 };
    if (this.hold(f)) return { state: "review", id: `review of ${f.client_id}` };
    const { op, ref, group, ...fields } = f;
    const key = `${group}/${user}/${f.client_id}`;
    const had = this.keys.get(key);
    if (had) return { id: had, duplicate: true };
    const m = this.append(group, { ...fields, from: user });
    this.keys.set(key, m.id);
    return { id: m.id, sent_at: m.sent_at };
  }

  readTo(user, group, at) {
    const id = at.id ?? Number(at.cursor.split(".")[1]);
    const key = `${group}/${user}`;
    this.read.set(key, Math.max(id, this.read.get(key) ?? 0));
    this.ack(user, group, id);
    const { seen, read, unread } = this.describe(this.group(group), user);
    return { seen, read, unread };
  }

  /** A fetch of a user. */
  fetch = (user) => async (url, init) => {
    const { pathname, searchParams } = new URL(url);
    this.calls.push(`${init.method} ${pathname}`);
    await settled();
    if (!this.up) throw new TypeError("fetch failed");
    const answer = (status, body) => new Response(JSON.stringify(body), { status });
    const [, , what, id, part] = pathname.split("/").map(decodeURIComponent);
    if (what === "me") return answer(200, { user });
    if (what === "inbox") return answer(200, { acked: 0 });
    if (what === "groups" && !id) return answer(200, { groups: [...this.logs.values()].map((l) => this.describe(l, user)), next: null });
    const log = this.logs.get(id);
    if (!log) return answer(404, { code: "not_found", detail: "no such group" });
    if (part === "messages" && init.method === "GET") {
      const limit = Number(searchParams.get("limit"));
      const before = Number(searchParams.get("before"));
      let page;
      if (before) {
        const to = Math.min(before - 1, log.last);
        const from = Math.max(log.first, to - limit + 1);
        page = from > to ? { ...this.batch(log, Math.min(before, log.last + 1), log.first <= 1, Math.min(before, log.last + 1) - 1), messages: [] } : this.batch(log, from, true, to);
        page.has_more = page.from > log.first;
      } else {
        const s = this.start(log, Number(searchParams.get("after")));
        page = this.batch(log, s.from, s.complete, Math.min(log.last, s.from + limit - 1));
      }
      for (const m of page.messages.filter((m) => LINES.has(m.kind))) {
        m.reactions = Object.fromEntries(this.shown(log, m, user).reactions);
        const replies = log.replies(m.id);
        if (replies.length > 0) Object.assign(m, { replies: replies.length, last_reply_id: replies.at(-1).id });
      }
      return answer(200, page);
    }
    return answer(404, { code: "not_found", detail: pathname });
  };

  /** A class of websockets of a user. */
  socketOf(user, tab) {
    const server = this;
    return class {
      tab = tab;
      readyState = 0;
      served = new Map();
      constructor() {
        setImmediate(() => {
          if (!server.up) return this.end(1006);
          if (this.readyState !== 0) return;
          this.readyState = 1;
          this.onopen?.({});
        });
      }
      close() {
        if (this.readyState === 3) return;
        this.readyState = 3;
        server.sockets.delete(this);
        setImmediate(() => this.onclose?.({ code: 1000, reason: "" }));
      }
      end(code) {
        if (this.readyState === 3) return;
        this.readyState = 3;
        server.sockets.delete(this);
        this.onclose?.({ code, reason: "" });
      }
      says(frame) {
        const text = JSON.stringify(frame);
        setImmediate(() => this.readyState === 1 && this.onmessage?.({ data: text }));
      }
      send(text) {
        const f = JSON.parse(text);
        if (f.op === "focus") (server.focused ??= []).push(f);
        if (f.op === "hello") {
          server.hellos = (server.hellos ?? 0) + 1;
          const groups = {};
          const errors = [];
          for (const log of server.logs.values()) {
            if (f.after[log.id] === "?") errors.push({ group: log.id, code: "invalid_request" });
            else Object.assign(groups, { [log.id]: { epoch: log.epoch, first: log.first, last: log.last, seen: server.seen.get(`${log.id}/${user}`) ?? 0, read: 0 } });
          }
          this.says({ op: "welcome", user, session: "s", groups, ping_s: 25, ...(errors.length > 0 && { errors }) });
          for (const id of Object.keys(groups)) {
            const s = server.start(server.logs.get(id), f.after[id], user, true);
            this.served.set(id, { next: s.from, complete: s.complete });
          }
          server.sockets.add(this);
          return this.pump();
        }
        const says = (answer) => f.ref && this.says(answer.code ? { op: "error", ref: f.ref, detail: "no", ...answer } : { op: "ok", ref: f.ref, ...answer });
        if (f.op === "send") {
          const answer = server.send(user, f);
          if (server.drop(f)) this.end(1006);
          else says(answer);
        } else if (f.op === "ack") says((server.ack(user, f.group, f.cursor ?? f.id), {}));
        else if (f.op === "read") says(server.readTo(user, f.group, f));
        else says({});
      }
      pump() {
        if (server.slow) return;
        for (const log of server.logs.values()) {
          const s = this.served.get(log.id) ?? { next: 1, complete: true };
          this.served.set(log.id, s);
          while (s.next <= log.last || !s.complete) {
            const { first, last, has_more, ...b } = server.batch(log, s.next, s.complete);
            s.next = b.to + 1;
            s.complete = true;
            if (b.messages.length > 0 || !b.complete) this.says({ op: "messages", ...b });
          }
        }
      }
    };
  }
}

/** A client of a server, with time and chance that the test decides. */
export function clientOf(server, { user = "alice", store = memoryStore(), tab, ...options } = {}) {
  const logged = [];
  // Timers of a tab that is gone do not run.
  const clock = { now: server.clock.now, random: server.clock.random, after: (ms, run) => server.clock.after(ms, () => !tab?.dead && run()) };
  const client = new Client({
    url: "https://chat.example", getToken: async () => jwt({ sub: user }), store, clock, fetch: server.fetch(user), WebSocket: server.socketOf(user, tab), ...(tab && { user }),
    environment: { online: () => () => {}, visible: () => () => {} }, tabsEnvironment: {}, log: (...what) => logged.push(what), ...options,
  });
  client.logged = logged;
  client.caughtUp = (server) => [...server.logs.values()].every((l) => client.state.groups.get(l.id)?.log.cursor === `${l.epoch}.${l.last}.${l.at(l.last)?.mark ?? ""}`);
  return client;
}

/** Lets everything happen that needs no time. */
export async function quiet(turns = 12) {
  for (let i = 0; i < turns; i++) await settled();
}

/** What the tabs of one origin share: locks, channels, and a store. A tab that is killed says nothing any more. */
export class Origin {
  store = Object.assign(memoryStore(), { tabs: asking(createTabs) });
  #held = null;
  #queue = [];
  #channels = new Set();

  #next() {
    if (this.#held || this.#queue.length === 0) return;
    const request = this.#queue.shift();
    this.#held = request;
    const released = Promise.resolve(request.granted({}));
    released.then(() => {
      if (this.#held !== request) return;
      this.#held = null;
      request.done();
      this.#next();
    });
  }

  /** The environment of one more tab. */
  tab() {
    const origin = this;
    const tab = {
      dead: false,
      locks: {
        request: (name, { ifAvailable, steal, signal }, granted) => new Promise((done, fail) => {
          const request = { granted, done, fail, tab };
          if (steal) {
            origin.#held?.fail(new Error("stolen"));
            origin.#held = null;
            origin.#queue.unshift(request);
          } else if (ifAvailable && (origin.#held || origin.#queue.length > 0)) return void Promise.resolve(granted(null)).then(done);
          else origin.#queue.push(request);
          signal?.addEventListener("abort", () => {
            origin.#queue = origin.#queue.filter((r) => r !== request);
            fail(new Error("aborted"));
          });
          origin.#next();
        }),
      },
      channel: () => {
        const channel = {
          tab,
          onmessage: null,
          postMessage(data) {
            const copy = structuredClone(data);
            if (!tab.dead) for (const c of origin.#channels) if (c !== channel) setImmediate(() => !c.tab.dead && c.onmessage?.({ data: structuredClone(copy) }));
          },
          close: () => origin.#channels.delete(channel),
        };
        origin.#channels.add(channel);
        return channel;
      },
      /** As a closed or crashed tab: its lock is free, its timers and its socket are gone. */
      kill(server) {
        tab.dead = true;
        for (const s of [...server.sockets]) if (s.tab === tab) server.sockets.delete(s), (s.readyState = 3);
        if (origin.#held?.tab === tab) origin.#held = null;
        origin.#queue = origin.#queue.filter((r) => r.tab !== tab);
        origin.#next();
      },
    };
    return tab;
  }
}
