// A server with threads: who follows which, and what they have read there, as the server's scripts decide it.
import { Server } from "./server.js";

export class ThreadServer extends Server {
  follows = new Map(); // group/root/user -> read

  constructor() {
    super();
    const { fetch } = this;
    this.fetch = (user) => async (url, init) => {
      const { pathname, searchParams } = new URL(url);
      const [, , , group, part, root, what] = pathname.split("/").map(decodeURIComponent);
      const log = this.logs.get(group);
      if (part === "threads" && log) {
        this.calls.push(`${init.method} ${pathname}`);
        await new Promise((done) => setImmediate(done));
        if (!this.up) throw new TypeError("fetch failed");
        const [status, body] = this.threads(log, user, init, searchParams, Number(root), what);
        return new Response(JSON.stringify(body), { status });
      }
      const res = await fetch(user)(url, init);
      if (part !== "messages" || init.method !== "GET") return res;
      const page = await res.json();
      for (const m of page.messages ?? []) Object.assign(m, this.counts(log, m.id));
      return new Response(JSON.stringify(page), { status: res.status });
    };
  }

  replies(log, root) {
    return log.entries.filter((m) => m.thread === root && !m.deleted_at && LINES.has(m.kind));
  }

  counts(log, root) {
    const all = this.replies(log, root);
    return all.length > 0 ? { replies: all.length, last_reply_id: all.at(-1).id } : {};
  }

  append(group, fields) {
    if (fields.thread) {
      const log = this.group(group);
      const key = (user) => `${group}/${fields.thread}/${user}`;
      const from = fields.from ?? "bob";
      const newest = this.counts(log, fields.thread).last_reply_id ?? 0;
      const root = log.at(fields.thread);
      if (!log.entries.some((m) => m.thread === root.id)) this.follows.set(key(root.from), root.id);
      const at = this.follows.get(key(from));
      if (at === undefined || at >= newest) this.follows.set(key(from), log.last + 1);
      for (const user of fields.mentions ?? []) if (!this.follows.has(key(user))) this.follows.set(key(user), log.last);
    }
    return super.append(group, fields);
  }

  standing(log, root, user) {
    const read = this.follows.get(`${log.id}/${root}/${user}`);
    const all = this.replies(log, root);
    const unread = read === undefined ? 0 : all.filter((m) => m.id > read && m.from !== user).length;
    return { id: root, replies: all.length, last_id: all.at(-1)?.id ?? 0, unread, following: read !== undefined, read: read ?? 0 };
  }

  roots(log) {
    return [...new Set(log.entries.flatMap((m) => m.thread ?? []))].filter((root) => !log.at(root).deleted_at);
  }

  describe(log, user) {
    const hidden = log.entries.filter((m) => m.thread);
    const was = hidden.map((m) => m.kind);
    hidden.forEach((m) => (m.kind = "reply")); // they count in no group
    const described = super.describe(log, user);
    hidden.forEach((m, i) => (m.kind = was[i]));
    const threads_unread = this.roots(log).reduce((n, root) => n + this.standing(log, root, user).unread, 0);
    return { ...described, threads_unread };
  }

  threads(log, user, { method, body }, query, root, what) {
    if (!root) {
      const list = this.roots(log).map((r) => ({ ...this.standing(log, r, user), root: structuredClone(log.at(r)) }));
      return [200, { threads: list.filter((t) => t.following || !query.get("following")), next: null }];
    }
    if (!log.at(root) || log.at(root).deleted_at) return [404, { code: "not_found", detail: "no such message" }];
    const key = `${log.id}/${root}/${user}`;
    const given = body ? JSON.parse(body) : {};
    if (what === "read") {
      if (this.follows.has(key)) this.follows.set(key, Math.max(given.id, this.follows.get(key)));
    } else if (method === "PUT") {
      if (!given.following) this.follows.delete(key);
      else if (!this.follows.has(key)) this.follows.set(key, log.last);
    } else {
      const [after, before, limit] = ["after", "before", "limit"].map((name) => Number(query.get(name)));
      const all = this.replies(log, root).filter((m) => (before ? m.id < before : m.id > after));
      const messages = (before ? all.slice(-limit) : all.slice(0, limit)).map((m) => ({ ...structuredClone(m), reactions: Object.fromEntries(this.shown(log, m, user).reactions) }));
      return [200, { group: log.id, ...this.standing(log, root, user), has_more: all.length > limit, messages }];
    }
    return [200, this.standing(log, root, user)];
  }
}

const LINES = new Set(["text", "data"]);
