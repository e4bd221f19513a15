/**
 * What a client holds in memory: the groups, what waits to be sent, what was read and not confirmed, the inbox. Messages are
 * in the store, and in memory only as far as a timeline shows them. Everything durable changes by commits, which say how
 * things are in the words of the store, so that applying one is the same in every tab.
 */
import type { Entry, Log } from "./log.js";
import { emptyLog } from "./log.js";
import { memoryStore } from "./memory.js";
import type { Change, Store } from "./store.js";
import type { ConnectionState, FileInfo, GroupState, InboxItem, Json, Message, Snapshot } from "./types.js";

/** What describes a group, and how far the person is in it. */
export type Described = Omit<GroupState, "typing" | "queued" | "failed" | "waiting" | "unreadThreads">;

export type GroupRecord = {
  g: Described;
  log: Log;
  /** Up to which id unread, mentions_unread and members have been counted. */
  counted: number;
  /** false: only its messages have been seen, and no description. */
  known: boolean;
  /** When a timeline of it was last opened, ms; what was not for longest is dropped first. */
  opened: number;
  /** Of the messages that are kept, about. */
  bytes: number;
  /** Threads that the person follows, by root: up to where they are read, and what is unread. Absent: not asked yet. */
  threads?: Threads;
  /** The last entry that counted for a thread. */
  replied?: number;
};

/** By the id of the root. One that the person does not follow has -1 for the read one. */
export type Threads = Readonly<Record<string, readonly [read: number, unread: number]>>;

/** Something to send. */
export type Task = {
  n: string; // its place in the outbox
  key: string;
  group: string;
  kind: "text" | "data" | "edit" | "delete" | "reaction";
  body?: string;
  data?: Json;
  mentions?: string[];
  files?: FileInfo[];
  reply_to?: number;
  thread?: number;
  target?: number;
  emoji?: string;
  removed?: boolean;
  deliver_at?: string;
  queued_at: number; // ms
  /** The last id that was known then: it is in the log after this, if at all. */
  after: number;
  /** Given by the server, which has it; the log does not yet. */
  id?: number;
  sent_at?: string;
  error?: { code: string; detail: string };
};

export type InboxRecord = {
  epoch: string; to: number; cursor: string; complete: boolean; items: InboxItem[];
  /** What the person is done with and the server does not know of yet. */
  ack?: { seq: number } | { cursor: string };
};

/** A commit: what is written, and what of it the application is told. Meant for structuredClone. */
export type Commit = { changes: Change[]; events: [name: string, value: unknown][] };

export const pad = (n: number) => String(n).padStart(16, "0");
export const keyOf = {
  group: (g: string) => `g/${encodeURIComponent(g)}`,
  entries: (g: string) => `m/${encodeURIComponent(g)}/`,
  entry: (g: string, id: number) => `m/${encodeURIComponent(g)}/${pad(id)}`,
  change: (g: string, id: number) => `c/${encodeURIComponent(g)}/${pad(id)}`,
  task: (n: string) => `o/${n}`,
  read: (g: string) => `r/${encodeURIComponent(g)}`,
  /** Up to where a thread was read. */
  readThread: (g: string, root: number) => `t/${encodeURIComponent(g)}/${root}`,
  inbox: "inbox",
  meta: "meta",
};
/** Behind every key that begins with a prefix. */
export const ending = (prefix: string) => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

export const unknownGroup = (id: string): GroupRecord => ({
  g: {
    id, name: "", visibility: "private", created_by: "", created_at: "1970-01-01T00:00:00.000Z", epoch: "", first: 1, last: 0, members: 0,
    post: "members", seen: 0, read: 0, unread: 0, mentions_unread: 0, last_message: null,
  },
  log: emptyLog(), counted: 0, known: false, opened: 0, bytes: 0,
});

export const emptyInbox = (): InboxRecord => ({ epoch: "", to: 0, cursor: "", complete: true, items: [] });

/** What a commit changed of one group. */
export type Touched = {
  entries: Entry[];
  /** All that was held was dropped. */
  dropped: boolean;
  /** What was held below this id was dropped. */
  below: number;
};

const none: never[] = [];

export class State {
  me = "";
  stored = false;
  connection: ConnectionState = { phase: "off" };
  readonly groups = new Map<string, GroupRecord>();
  readonly outbox = new Map<string, Task>(); // by n, in order
  readonly reads = new Map<string, number>();
  /** The same of threads, by their keys. */
  readonly threadReads = new Map<string, number>();
  /** Keys of what is under way to the server. */
  sending: ReadonlySet<string> = new Set();
  inbox = emptyInbox();
  /** Told whenever something of a group changed; "": something else. */
  changed: (group: string, touched: Touched | null) => void = () => {};

  #typing = new Map<string, Map<string, number>>(); // until when, ms
  #views = new Map<string, GroupState>();
  #stale = new Set<string>(); // groups whose view is to be made anew
  #inbox: [InboxRecord, Snapshot["inbox"]] = [this.inbox, { items: [], complete: true }];
  #snapshot: Snapshot | null = null;

  /** Reads all that is held from a store. Timelines have to be told. */
  async load(store: Store): Promise<void> {
    const [groups, outbox, reads, threads, inbox] = await Promise.all([store.range("g/", "g0"), store.range("o/", "o0"), store.range("r/", "r0"), store.range("t/", "t0"), store.get(keyOf.inbox)]);
    const all = new Set(this.groups.keys());
    for (const held of [this.groups, this.outbox, this.reads, this.threadReads, this.#views]) held.clear();
    this.inbox = emptyInbox();
    if (inbox !== undefined) groups.push([keyOf.inbox, inbox]);
    for (const g of this.#take([...groups, ...outbox, ...reads, ...threads].map(([put, value]) => ({ put, value }))).keys()) all.add(g);
    for (const g of all) this.#touch(g, null);
  }

  /** Takes what was written. */
  apply(changes: readonly Change[]): void {
    for (const [g, t] of this.#take(changes)) this.#touch(g, t);
  }

  #take(changes: readonly Change[]): Map<string, Touched | null> {
    const touched = new Map<string, Touched | null>();
    const of = (g: string) => {
      const t = touched.get(g) ?? { entries: [], dropped: false, below: 0 };
      touched.set(g, t);
      return t;
    };
    for (const c of changes) {
      const key = "put" in c ? c.put : "remove" in c ? c.remove : c.removeFrom;
      const value: any = "put" in c ? c.value : undefined;
      const [kind, name = ""] = key.split("/");
      const id = decodeURIComponent(name);
      switch (kind) {
        case "g":
          if (value) this.groups.set(id, value);
          else this.groups.delete(id);
          of(id);
          break;
        case "m":
          if (value) of(id).entries.push(value);
          else if ("removeFrom" in c && c.to === ending(keyOf.entries(id))) of(id).dropped = true;
          else if ("removeFrom" in c) of(id).below = Number(c.to.slice(-16));
          break;
        case "o": {
          const group = (value ?? this.outbox.get(name))?.group;
          if (value) this.#queue(value);
          else this.outbox.delete(name);
          if (group !== undefined) of(group);
          break;
        }
        case "r":
          if (value === undefined) this.reads.delete(id);
          else this.reads.set(id, value);
          break;
        case "t":
          if (value !== undefined) this.threadReads.set(key, value);
          else if ("remove" in c) this.threadReads.delete(key);
          else for (const k of this.threadReads.keys()) if (k.startsWith(key)) this.threadReads.delete(k);
          break;
        case "inbox":
          this.inbox = value ?? emptyInbox();
          touched.set("", null);
      }
    }
    return touched;
  }

  /** The outbox stays in the order of its keys, also when another tab's task comes late. */
  #queue(task: Task) {
    const late = !this.outbox.has(task.n) && [...this.outbox.keys()].at(-1)! > task.n;
    this.outbox.set(task.n, task);
    if (!late) return;
    const all = [...this.outbox].sort(([a], [b]) => (a < b ? -1 : 1));
    this.outbox.clear();
    for (const [n, t] of all) this.outbox.set(n, t);
  }

  #touch(group: string, touched: Touched | null) {
    this.#snapshot = null;
    this.#stale.add(group);
    this.changed(group, touched);
  }

  connect(connection: ConnectionState): void {
    if (JSON.stringify(connection) === JSON.stringify(this.connection)) return;
    this.connection = connection;
    this.#touch("", null);
  }

  /** Somebody types, until a time; 0: no longer. */
  type(group: string, user: string, until: number): void {
    const users = new Map(this.#typing.get(group));
    if (until > 0) users.set(user, until);
    else if (!users.delete(user)) return;
    if (users.size > 0) this.#typing.set(group, users);
    else this.#typing.delete(group);
    this.#touch(group, null);
  }

  /** Forgets who stopped typing. */
  expire(now: number): void {
    for (const [group, users] of this.#typing) for (const [user, until] of users) if (until <= now) this.type(group, user, 0);
  }

  /** Takes what the leader shares. */
  share(typing: [string, [string, number][]][], sending: string[]): void {
    const groups = new Set(this.#typing.keys());
    this.#typing = new Map(typing.map(([g, users]) => [g, new Map(users)]));
    for (const g of [...groups, ...this.#typing.keys()]) this.#touch(g, null);
    this.send(sending);
  }

  /** Says what is under way to the server. */
  send(keys: Iterable<string>): void {
    const was = this.sending;
    this.sending = new Set(keys);
    for (const t of this.outbox.values()) if (was.has(t.key) !== this.sending.has(t.key)) this.#touch(t.group, null);
  }

  /** Forgets everything. */
  async clear(): Promise<void> {
    const groups = [...this.groups.keys()];
    await this.load(memoryStore());
    for (const g of groups) this.#touch(g, { entries: [], dropped: true, below: 0 });
    this.share([], []);
  }

  typing(): [string, [string, number][]][] {
    return [...this.#typing].map(([g, users]) => [g, [...users]]);
  }

  tasks(group: string): Task[] {
    return [...this.outbox.values()].filter((t) => t.group === group);
  }

  snapshot(): Snapshot {
    return (this.#snapshot ??= this.#look());
  }

  #look(): Snapshot {
    const counts = new Map<string, [queued: number, failed: number, newest?: Task]>();
    let [queued, failed, unread, mentions, threads] = [0, 0, 0, 0, 0];
    for (const t of this.outbox.values()) {
      const of: [number, number, Task?] = counts.get(t.group) ?? [0, 0];
      const one = t.thread ? 0 : 1;
      if (t.error) t.error.code !== "review" && (failed++, (of[1] += one));
      else if (t.id === undefined) {
        queued++, (of[0] += one);
        if (one && !t.target && !t.deliver_at) of[2] = t;
      }
      counts.set(t.group, of);
    }
    for (const id of this.#stale) {
      const record = this.groups.get(id);
      if (!record?.known) {
        this.#views.delete(id);
        continue;
      }
      const [q, f, t] = counts.get(id) ?? [0, 0];
      const waiting = t && { body: t.body, files: t.files, mentions: t.mentions };
      const typing = [...(this.#typing.get(id)?.keys() ?? none)];
      const unreadThreads = Object.entries(record.threads ?? {}).flatMap(([root, [, n]]) => (n > 0 ? Number(root) : []));
      const view = { ...record.g, typing, queued: q, failed: f, ...(waiting && { waiting }), ...(unreadThreads.length > 0 && { unreadThreads }) };
      // The same object where it says the same.
      if (JSON.stringify(view) !== JSON.stringify(this.#views.get(id))) this.#views.set(id, view);
    }
    this.#stale.clear();
    const groups = [...this.#views.values()].sort((a, b) => (at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : a.id < b.id ? -1 : 1));
    for (const g of groups) {
      unread += g.unread;
      mentions += g.mentions_unread;
      threads += g.threads_unread ?? 0;
    }
    if (this.#inbox[0] !== this.inbox) this.#inbox = [this.inbox, { items: this.inbox.items, complete: this.inbox.complete }];
    return { me: this.me, connection: this.connection, groups, unread, mentions, threads_unread: threads, inbox: this.#inbox[1], queued, failed, stored: this.stored };
  }
}

const at = (g: GroupState) => g.last_message?.sent_at ?? g.created_at;

/** A message of the log out of what was sent and what the server answered. */
export function sentMessage(t: Task, me: string, answer: { id: number; sent_at?: string }): Message {
  const { n, key, queued_at, after, id, sent_at, error, deliver_at, ...fields } = t;
  return { ...fields, from: me, client_id: key, id: answer.id, sent_at: answer.sent_at ?? sent_at ?? new Date(queued_at).toISOString() };
}
