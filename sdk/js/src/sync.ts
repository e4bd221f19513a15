/**
 * What frames, pages and lists mean: each function looks at the state, reads of the store what it needs, and returns what is
 * to be written and told. One at a time, by the leader; nothing here changes anything.
 */
import { type Asked, type Batch, type Entry, type Log, type Step, append, around, changed, cut, deletes, emptyLog, entry, insert, isLine, loosened, lost, missed, revised, unplaced, unreplied } from "./log.js";
import { type Commit, type Described, type GroupRecord, type InboxRecord, type State, type Task, type Threads, emptyInbox, ending, keyOf, unknownGroup } from "./state.js";
import type { Change, Store } from "./store.js";
import { Threading, unreadIn } from "./threading.js";
import type { InboxItem, Json, Message } from "./types.js";

/** A commit in the making. */
export class Draft implements Commit {
  readonly changes: Change[] = [];
  readonly events: Commit["events"] = [];
  /** Groups whose counts only the server can say. */
  readonly stale = new Set<string>();
  /** Groups of which only the server can say which threads the person follows, and what is unread in them. */
  readonly threads = new Set<string>();

  constructor(readonly s: State, readonly store: Store) {}

  put(key: string, value: unknown): void {
    this.changes.push({ put: key, value: value as Json });
  }
  remove(key: string): void {
    this.changes.push({ remove: key });
  }
  removeAll(prefix: string): void {
    this.changes.push({ removeFrom: prefix, to: ending(prefix) });
  }
  tell(name: string, value: unknown): void {
    this.events.push([name, value]);
  }

  record(group: string): GroupRecord {
    return this.s.groups.get(group) ?? unknownGroup(group);
  }
  async entry(group: string, id: number): Promise<Entry | undefined> {
    return (await this.store.get(keyOf.entry(group, id))) as Entry | undefined;
  }
  /** Drops what is held of a log. */
  drop(group: string): void {
    this.removeAll(keyOf.entries(group));
    this.removeAll(keyOf.change(group, 0).slice(0, -16));
  }
}

const size = (value: unknown) => JSON.stringify(value).length;

/** Messages that the server pushed, or a sync brought. "hole": ids are missing silently; ask again from the positions. */
export async function received(d: Draft, b: Batch): Promise<"hole" | null> {
  const was = d.record(b.group);
  if (was.log.epoch !== "" && was.log.epoch !== b.epoch) renumbered(d, b.group);
  const step = append(was.log, b, b.first ?? was.g.first);
  if (step === "hole" || step === null) return step;
  const { s } = d;
  const held = step.anew ? [] : was.log.held;
  const lines = new Map<number, Entry>();
  const loose: number[] = [];
  let longer = 0;
  const threads = new Threading(step.anew ? undefined : was.threads, d, b.group);
  const find = async (id: number) => lines.get(id) ?? (around(held, id) ? await d.entry(b.group, id) : undefined);
  if (step.anew) d.drop(b.group);
  for (const m of step.fresh) {
    const counts = m.id > was.counted || step.anew;
    if (isLine(m)) {
      // Put again where a page brought it before: a commit has every line of the ids by which the end moves.
      lines.set(m.id, (around(held, m.id) && (await d.entry(b.group, m.id))) || entry(m, m.id));
      if (!m.thread) continue;
      const root = await find(m.thread);
      if (counts) threads.reply(m, root);
      if (root) lines.set(root.id, changed(root, m, s.me));
      continue;
    }
    const target = m.target ?? 0;
    const e = await find(target);
    if (m.kind === "delete" && counts) threads.deleted(m, e);
    const less = deletes(m) && e?.thread;
    if (less) await lessen(d, b.group, await find(less), m, lines, held);
    if (e) {
      lines.set(target, changed(e, m, s.me));
      if (m.kind === "edit") longer += Math.max(0, (m.body?.length ?? 0) - (e.stream ? 0 : e.body?.length ?? 0)); // of a stream nothing was counted
    }
    if (!around(step.log.held, target) || (less && !around(step.log.held, less))) { // a page that brings it may have been read before
      loose.push(m.id);
      d.put(keyOf.change(b.group, m.id), m);
    }
  }
  const { log, forgotten } = loosened(step.log, loose);
  for (const id of forgotten) d.remove(keyOf.change(b.group, id));
  let bytes = (step.anew ? 0 : was.bytes) + longer;
  for (const [id, e] of lines) {
    if (!around(held, id)) bytes += size(e);
    d.put(keyOf.entry(b.group, id), e);
  }
  const record = counted({ ...(step.anew ? withoutThreads(was) : was), ...threads.result, log, bytes }, b, step, d, threads.gone);
  d.put(keyOf.group(b.group), record);
  settle(d, b.group, log.end, step.fresh, step.anew);
  if (step.gap) d.tell("gap", { group: b.group, from: step.gap[0], to: step.gap[1] });
  for (const m of step.fresh) d.tell("message", m);
  if (b.profiles) d.tell("profiles", b.profiles);
  if (b.previews) d.tell("previews", b.previews);
  if (!record.known) d.stale.add(b.group);
  return null;
}

/** Takes out of the outbox what the log has by now. */
function settle(d: Draft, group: string, end: number, fresh: Message[], anew: boolean) {
  for (const t of d.s.outbox.values()) {
    if (t.group !== group) continue;
    const m = fresh.find((m) => m.client_id === t.key && m.from === d.s.me);
    if (m && t.id === undefined) d.tell("sent", { key: t.key, message: m });
    if (m || (t.id !== undefined && (anew || t.id <= end))) d.remove(keyOf.task(t.n));
  }
}

/** Takes a reply that was deleted off its root; the newest one is that which is left, as far as it is kept here. */
async function lessen(d: Draft, group: string, root: Entry | undefined, m: Message, lines: Map<number, Entry>, held: Log["held"]): Promise<void> {
  if (!root) return;
  const id = m.target!;
  const newest = root.last_reply_id === id ? await newestBefore(d, group, root, id, lines, held) : { id: root.last_reply_id ?? 0, sent_at: root.lastReplyAt ?? root.sent_at };
  lines.set(root.id, unreplied(root, m, newest));
}

async function newestBefore(d: Draft, group: string, root: Entry, id: number, lines: ReadonlyMap<number, Entry>, held: Log["held"]): Promise<Entry | undefined> {
  const kept = (await d.store.range(keyOf.entry(group, root.id + 1), keyOf.entry(group, id), { limit: PRUNE, reverse: true })).map(([, e]) => e as unknown as Entry);
  const left = [...kept.filter((e) => !lines.has(e.id) && around(held, e.id)), ...lines.values()].filter((e) => e.thread === root.id && e.id !== id && !e.deleted_at);
  return left.sort((a, b) => a.id - b.id).at(-1);
}

function withoutThreads({ threads, ...record }: GroupRecord): GroupRecord {
  return record;
}

/** Whom a notice concerns. */
const concerned = (m: Message) => m.users ?? (m.user === undefined ? [] : [m.user]);

/** The group after a batch: what is unread, the newest message, the name. */
function counted(record: GroupRecord, b: Batch, { fresh, anew, gap }: Step, d: Draft, repliesGone: ReadonlySet<Message>): GroupRecord {
  const g: { -readonly [K in keyof Described]: Described[K] } & Record<string, any> = { ...record.g, epoch: b.epoch };
  if (anew) g.last_message = null;
  const goesOn = b.complete && !anew && !gap;
  g.last = goesOn ? Math.max(g.last, b.to) : b.to;
  if (b.first !== undefined) g.first = b.first;
  const { me } = d.s;
  for (const m of fresh) {
    const said = !m.thread && (m.kind === "text" || m.kind === "data"); // replies count in their threads alone
    if (said && m.id > (g.last_message?.id ?? 0)) g.last_message = m;
    if (g.last_message && m.target === g.last_message.id) g.last_message = revised(g.last_message, m, m.sent_at);
    if (m.notice === "renamed" && m.name !== undefined) g.name = m.name;
    if (m.notice === "settings" && m.settings) {
      Object.assign(g, m.settings);
      if ("history" in m.settings) d.stale.add(b.group); // another first id
    }
    if (m.notice === "muted" && m.user === me) g.muted_until = m.muted_until;
    if (m.id <= record.counted && !anew) continue;
    if (m.notice === "joined") g.members += concerned(m).length;
    if (m.notice === "left" || m.notice === "removed") g.members -= Math.max(1, concerned(m).length);
    const mine = m.from === me;
    if (mine && g.read === m.id - 1) g.read = m.id; // as the server does
    if (said && !mine && !m.deleted_at && m.id > g.read) {
      g.unread++;
      if (mentions(m, me)) g.mentions_unread++;
    }
    // Whether the deleted one counted as unread is known only to the server when it is not at hand.
    if (m.kind === "delete" && (m.target ?? 0) > g.read && !repliesGone.has(m)) d.stale.add(b.group);
  }
  if (!goesOn) d.stale.add(b.group);
  if (b.read !== undefined && b.to === b.last && !d.s.reads.has(b.group)) {
    if (b.read < g.read) d.stale.add(b.group); // the answer may be older than what was read meanwhile
    else Object.assign(g, { read: b.read, unread: b.unread });
  }
  if (record.threads) g.threads_unread = unreadIn(record.threads);
  return { ...record, g, counted: goesOn ? Math.max(record.counted, b.to) : b.to };
}

/**
 * The lines that are held and have to be read again, as what a page brings cannot be applied to them: of what a gap hid, the changes of
 * lines to which a later one was applied before, and replies; and replies that were deleted while they were not held.
 */
export async function disputed(store: Store, { gaps, held }: Log, group: string, page: Batch): Promise<number[]> {
  const ids = new Set<number>();
  const add = async (id: number | undefined, newer = 0): Promise<Entry | undefined> => {
    const e: Entry | undefined = id && around(held, id) ? ((await store.get(keyOf.entry(group, id))) as any) : undefined;
    if (e && e.at > newer && !e.deleted_at) ids.add(e.id);
    return e;
  };
  for (const m of page.messages) {
    const hidden = around(gaps, m.id);
    const target = hidden ? await add(m.target, m.id) : undefined;
    if (hidden || (m.deleted_at && !around(held, m.id))) await add(m.kind === "delete" ? target?.thread : m.thread);
  }
  return [...ids];
}

/**
 * A page that was asked for in a life of the log, -1 if there was none. false: nothing of it could be taken.
 * @param again what was read again of the lines that are disputed
 */
export async function paged(d: Draft, page: Batch, asked: Asked, life: number, again: readonly Batch[] = []): Promise<boolean> {
  const was = d.record(page.group);
  if ((d.s.groups.get(page.group)?.log.life ?? -1) !== life) return false;
  const log = insert(was.log, page, asked);
  const last = page.last ?? page.to;
  const { held, loose, end } = was.log;
  if (!log) return false;
  const lines = new Map<number, Entry>();
  const find = async (id = 0) => lines.get(id) ?? (around(held, id) ? await d.entry(page.group, id) : undefined);
  let { bytes } = was;
  for (const m of page.messages) {
    const e = around(was.log.gaps, m.id) && (await find(m.target)); // what a gap hid of it does not come any more
    if (e) lines.set(e.id, changed(e, m, d.s.me));
    if (!isLine(m)) continue;
    if (!around(held, m.id)) bytes += around(log.held, m.id) ? size(m) : 0;
    else if (last <= end || ((await d.entry(page.group, m.id))?.at ?? 0) >= last) continue;
    lines.set(m.id, entry(m, last));
  }
  for (const { messages: [m], epoch, last, to } of again) {
    const e = m && around(held, m.id) && (await d.entry(page.group, m.id));
    if (!e) continue;
    const at = last ?? to;
    if (epoch !== page.epoch || e.at > at) return false;
    lines.set(e.id, entry(m, at));
  }
  const came: Message[] = []; // after the page was read
  for (const id of loose) {
    const m = id > last && ((await d.store.get(keyOf.change(page.group, id))) as Message | undefined);
    if (m) came.push(m);
  }
  if (lines.size > 0 && last < end) {
    const kept = await d.store.range(keyOf.entry(page.group, last + 1), keyOf.entry(page.group, end + 1), { limit: PRUNE });
    came.push(...kept.map(([, e]) => e as unknown as Message).filter((m) => m.thread));
  }
  for (const m of came.sort((a, b) => a.id - b.id)) {
    if (deletes(m)) await lessen(d, page.group, lines.get((await find(m.target))?.thread ?? 0), m, lines, held);
    const e = lines.get(m.thread ?? m.target ?? 0);
    if (e) lines.set(e.id, changed(e, m, d.s.me));
  }
  for (const e of [...lines.values()]) {
    const newest = e.last_reply_id;
    const reply = newest && !e.lastReplyAt && (lines.get(newest) ?? (around(held, newest) && (await d.entry(page.group, newest))));
    if (reply) lines.set(e.id, { ...e, lastReplyAt: reply.sent_at });
  }
  for (const [id, e] of lines) if (around(log.held, id)) d.put(keyOf.entry(page.group, id), e);
  const g = { ...was.g, epoch: page.epoch, last: Math.max(was.g.last, last), first: page.first ?? was.g.first };
  d.put(keyOf.group(page.group), { ...was, g, log, bytes });
  if (page.previews) d.tell("previews", page.previews);
  return true;
}

/** What the server no longer has between a page and what is held before. */
export function vanished(d: Draft, group: string, from: number, to: number, life?: number): void {
  const was = d.s.groups.get(group);
  if (was && was.log.life === (life ?? was.log.life)) d.put(keyOf.group(group), { ...was, log: lost(was.log, [from, to]) });
}

/** What describes a group, without anyone's position in it. */
function described({ seen, read, unread, mentions_unread, threads_unread, last_message, last, first, epoch, ...rest }: any) {
  return rest;
}

/**
 * The caller's groups as listed by the server. Counts of a list that is older than what came live, or than what the person
 * has read meanwhile, are not taken; they are stale then. A group of which nothing is owed to the person is placed at its end.
 * @param read groups of which the server answered a read position while the list was on its way
 */
export function listed(d: Draft, list: any[], read: ReadonlySet<string>): void {
  for (const g of list) {
    const was = d.s.groups.get(g.id);
    const held = was ?? unknownGroup(g.id);
    const other = held.log.epoch !== "" && held.log.epoch !== g.epoch;
    const late = held.log.end >= 0 && (other || g.last < held.counted || d.s.reads.has(g.id) || read.has(g.id));
    if (late) d.stale.add(g.id);
    const placed = held.log.end < 0 && !other && held.log.gaps.length === 0 && g.last <= g.seen && !missed(held.log, g.last + 1);
    const known = placed ? { ...held.log, epoch: g.epoch, end: g.last, since: g.last + 1 } : held.log;
    const log = !late && !other && g.first < known.floor ? { ...known, floor: g.first } : known; // a group may show by now what it did not
    const threads = held.threads && (late || unreadIn(held.threads) === (g.threads_unread ?? 0)) ? held.threads : undefined;
    if (!threads && g.threads_unread > 0) d.threads.add(g.id);
    const next = { ...withoutThreads(held), ...(threads && { threads }), log, known: true, ...(late ? { g: { ...held.g, ...described(g) } } : { g: { ...held.g, ...g }, counted: g.last }) };
    if (!was || JSON.stringify(next) !== JSON.stringify(was)) d.put(keyOf.group(g.id), next);
    if (!was?.known) d.tell("joined", { group: g.id });
  }
}

/** One group as GET or PATCH /v1/groups/{g} return it. */
export function described1(d: Draft, g: any): void {
  const held = d.record(g.id);
  const counts = held.known ? {} : { last: g.last, first: g.first, epoch: g.epoch };
  d.put(keyOf.group(g.id), { ...held, known: true, g: { ...held.g, ...described(g), ...counts } });
  if (!held.known) d.tell("joined", { group: g.id });
}

/** The person is in a group no longer. */
export function left(d: Draft, group: string): void {
  if (!d.s.groups.has(group)) return;
  d.drop(group);
  d.remove(keyOf.group(group));
  d.remove(keyOf.read(group));
  d.removeAll(keyOf.readThread(group, 0).slice(0, -1));
  for (const t of d.s.tasks(group)) {
    d.remove(keyOf.task(t.n));
    if (t.id === undefined) d.tell("failed", { key: t.key, group, error: { code: "not_found", detail: "no longer a member of the group" } });
  }
  d.tell("left", { group });
}

/**
 * A session begins. Groups of which nothing is owed to the person begin at their end. true: a position was given up, and a session
 * without it has to begin.
 * @param entered groups that were entered since it was asked for
 */
export function welcomed(d: Draft, f: any, entered: ReadonlySet<string>): boolean {
  const excused = new Set([...entered, ...(f.errors ?? []).map((e: any) => e.group)]);
  let given = false;
  for (const id of d.s.groups.keys()) if (!Object.hasOwn(f.groups, id) && !excused.has(id)) left(d, id);
  for (const [id, at] of Object.entries<any>(f.groups)) {
    const was = d.s.groups.get(id);
    if (!was?.known) d.stale.add(id);
    if (was && was.log.epoch !== "" && was.log.epoch !== at.epoch) renumbered(d, id);
    if (was && was.log.end >= 0) {
      // From a bare id the server cannot tell that it is of another life of the log.
      if (was.log.cursor !== "" || was.log.epoch === "" || was.log.epoch === at.epoch) {
        if (at.first > was.log.end + 1) d.put(keyOf.group(id), { ...was, g: { ...was.g, first: at.first } });
        continue;
      }
      giveUp(d, was);
      given = true;
      continue;
    }
    const held = was ?? unknownGroup(id);
    if (at.last > at.seen || (held.log.epoch && held.log.epoch !== at.epoch)) continue;
    const late = missed(held.log, at.last + 1);
    if (late) d.drop(id);
    const log: Log = { ...(late ? emptyLog("", held.log.life + 1) : held.log), epoch: at.epoch, end: at.last, since: at.last + 1 };
    d.put(keyOf.group(id), { ...held, log, ...(late && { bytes: 0 }), counted: Math.max(held.counted, at.last), g: { ...held.g, ...at } });
  }
  return given;
}

/** The group was deleted and made again: ids are of other messages now, and what was to be done with one is not done to another. */
function renumbered(d: Draft, group: string): void {
  d.remove(keyOf.read(group));
  d.removeAll(keyOf.readThread(group, 0).slice(0, -1));
  for (const t of d.s.tasks(group)) {
    if (t.id === undefined && !t.error && (t.target ?? t.thread ?? t.reply_to) !== undefined) refused(d, t, { code: "not_found", detail: "the group was deleted and made again" });
  }
}

/** Gives up a position that means nothing to the server. */
function giveUp(d: Draft, was: GroupRecord): void {
  d.drop(was.g.id);
  d.put(keyOf.group(was.g.id), { ...was, log: unplaced(was.log), bytes: 0 });
  d.stale.add(was.g.id);
}

/**
 * What the server could not do about some groups: one that the person is not in goes, a position that it cannot read is given
 * up. Says whether one was given up, and whether another session is worth a try later.
 */
export function failed(d: Draft, errors: { group: string; inbox?: boolean; code: string }[]): { given: boolean; later: boolean } {
  let given = false;
  let later = false;
  for (const e of errors) {
    const was = d.s.groups.get(e.group);
    if (e.code === "not_found" && !e.inbox) left(d, e.group);
    else if (e.code !== "invalid_request" && e.code !== "conflict" && e.code !== "out_of_range") later = true;
    else if (e.inbox) {
      given = true;
      d.put(keyOf.inbox, { ...emptyInbox(), complete: false });
    } else if (was && e.code === "invalid_request") {
      given = true;
      giveUp(d, was);
    } else given = true; // an ack was refused: the log is another one, which the server tells from the position
  }
  return { given, later };
}

/** Somebody's cursors moved: one's own on another device, or another member's. */
export function moved(d: Draft, c: { group: string; user: string; seen: number; read: number }): void {
  const was = d.s.groups.get(c.group);
  if (!was) return;
  if (c.user !== d.s.me) return d.tell("cursor", { group: c.group, user: c.user, seen: c.seen, read: c.read });
  const read = d.s.reads.has(c.group) ? Math.max(c.read, was.g.read) : c.read;
  if (read !== was.g.read) d.stale.add(c.group);
  if (read !== was.g.read || c.seen !== was.g.seen) d.put(keyOf.group(c.group), { ...was, g: { ...was.g, seen: c.seen, read } });
}

/** Whether a message mentions somebody, or all members. */
const mentions = (m: { mentions?: readonly string[] }, user: string): boolean => !!m.mentions?.some((one) => one === user || one === "@all");

/** The person has read up to id. */
export async function readTo(d: Draft, group: string, id: number): Promise<void> {
  const was = d.record(group);
  const { g, log } = was;
  if (id <= g.read) return;
  let { unread, mentions_unread } = g;
  const range = around(log.held, id);
  if (id >= was.counted) unread = mentions_unread = 0;
  else if (range && range[0] <= Math.max(g.read + 1, g.first)) {
    for (const [, value] of await d.store.range(keyOf.entry(group, g.read + 1), keyOf.entry(group, id + 1))) {
      const e = value as unknown as Entry;
      if (e.from === d.s.me || e.kind === "notice" || e.thread || e.deleted_at) continue;
      unread = Math.max(0, unread - 1);
      if (mentions(e, d.s.me)) mentions_unread = Math.max(0, mentions_unread - 1);
    }
  } else d.stale.add(group);
  d.put(keyOf.read(group), id);
  d.put(keyOf.group(group), { ...was, g: { ...g, read: id, unread, mentions_unread } });
}

/** The server has taken a read position, or refused it for good. */
export function confirmed(d: Draft, group: string, id: number, answer: { seen: number; read: number; unread: number } | null): void {
  const was = d.s.groups.get(group);
  if ((d.s.reads.get(group) ?? 0) <= id) d.remove(keyOf.read(group));
  if (!was) return;
  if (!answer || answer.unread !== was.g.unread) d.stale.add(group);
  else if (answer.seen !== was.g.seen) d.put(keyOf.group(group), { ...was, g: { ...was.g, seen: Math.max(was.g.seen, answer.seen) } });
}

/** How the person stands to a thread, as the server has said it; last_id is its newest reply then. */
export type Standing = { id: number; read: number; unread: number; following: boolean; last_id?: number };

/** The threads of a group that the person follows, as the server lists them; replied: what had counted when it was asked. */
export function followed(d: Draft, group: string, list: readonly Standing[], replied: number): void {
  const was = d.s.groups.get(group);
  if (!was) return;
  // It may be older than what came since, or has counted what is still to come.
  if ((was.replied ?? 0) !== replied || list.some((t) => (t.last_id ?? 0) > was.counted)) return void d.threads.add(group);
  put(d, was, Object.fromEntries(list.map((t) => [t.id, [Math.max(t.read, d.s.threadReads.get(keyOf.readThread(group, t.id)) ?? 0), t.unread]])));
}

function put(d: Draft, was: GroupRecord, threads: Threads): void {
  d.put(keyOf.group(was.g.id), { ...was, threads, g: { ...was.g, threads_unread: unreadIn(threads) } });
}

/** The same of one thread; done: a read position that the server has taken, or refused. */
export function standing(d: Draft, group: string, root: number, t: Standing | null, done?: number): void {
  const was = d.s.groups.get(group);
  const key = keyOf.readThread(group, root);
  const waits = d.s.threadReads.get(key) ?? 0;
  if (done !== undefined && waits <= done) d.remove(key);
  if (!was || !t || (waits > t.read && done === undefined)) return;
  if ((t.last_id ?? 0) > was.counted) d.threads.add(group); // it has counted what is still to come
  if (was.threads) put(d, was, { ...was.threads, [root]: t.following ? [t.read, t.unread] : [-1, 0] });
  else d.threads.add(group);
}

/** The person has read a thread up to id. */
export async function readThreadTo(d: Draft, group: string, root: number, id: number): Promise<void> {
  const was = d.record(group);
  const [read, unread] = was.threads?.[root] ?? [-1, 0];
  if (was.threads && (read < 0 || id <= read)) return; // the server keeps none of who does not follow
  d.put(keyOf.readThread(group, root), Math.max(id, d.s.threadReads.get(keyOf.readThread(group, root)) ?? 0));
  if (!was.threads) return;
  const above = unread === 0 ? [] : (await d.store.range(keyOf.entry(group, id + 1), ending(keyOf.entries(group)))).map(([, e]) => e as unknown as Entry);
  const left = above.filter((e) => e.thread === root && e.from !== d.s.me && !e.deleted_at).length;
  put(d, was, { ...was.threads, [root]: [id, Math.min(unread, left)] });
}

/** More items than this are not kept: an application that acks none would hold them for ever. */
const INBOX_MAX = 1000;

/** Items of the inbox. "hole": some are missing silently. */
export function items(d: Draft, b: InboxRecord & { from: number; items: InboxItem[] }): "hole" | void {
  const was = d.s.inbox;
  const same = was.epoch === "" || was.epoch === b.epoch;
  if (same && b.complete && b.to <= was.to) return;
  if (same && b.complete && was.epoch !== "" && b.from > was.to + 1) return "hole";
  // Where a batch is not complete, the items from there on may be others under seqs that came before.
  const held = same ? was.items.filter((i) => b.complete || i.seq < b.from) : [];
  const known = new Set(held.map((i) => i.seq));
  const fresh = b.items.filter((i) => !known.has(i.seq));
  const all = [...held, ...fresh].sort((x, y) => x.seq - y.seq);
  const complete = (same ? was.complete : true) && b.complete && all.length <= INBOX_MAX;
  d.put(keyOf.inbox, { epoch: b.epoch, to: b.to, cursor: b.cursor, complete, items: all.slice(-INBOX_MAX), ...(same && was.ack && { ack: was.ack }) });
  for (const i of fresh) {
    if (i.kind === "review") for (const t of d.s.outbox.values()) if (t.error?.code === "review" && t.key === i.client_id) reviewed(d, t, i);
    d.tell("inbox", i);
  }
}

/** What became of a message that waited for a moderator: the log has it, or it is one that was refused, for the reason of the moderator. */
function reviewed(d: Draft, t: Task, { data }: InboxItem): void {
  const { state: code, reason: detail = "" } = data as { state: string; reason?: string };
  if (code === "released") d.remove(keyOf.task(t.n));
  else d.put(keyOf.task(t.n), { ...t, error: { code, detail } });
}

/** The person is done with the items up to seq. */
export function done(d: Draft, seq: number): void {
  const was = d.s.inbox;
  const at = was.to === seq && was.cursor ? { cursor: was.cursor } : { seq };
  d.put(keyOf.inbox, { ...was, complete: true, items: was.items.filter((i) => i.seq > seq), ack: at });
}

/** The server has taken a message of the outbox. */
export function answered(d: Draft, t: Task, answer: { id: number; sent_at?: string }, message: unknown): void {
  if (!d.s.outbox.has(t.n)) return;
  const end = d.s.groups.get(t.group)?.log.end ?? -1;
  if (t.deliver_at !== undefined || answer.id <= end) d.remove(keyOf.task(t.n));
  else d.put(keyOf.task(t.n), { ...t, id: answer.id, ...(answer.sent_at && { sent_at: answer.sent_at }) });
  d.tell("sent", { key: t.key, message });
}

/** The server has refused it for good. A message stays, to be tried again or discarded; a change is given up. */
export function refused(d: Draft, t: Task, error: { code: string; detail: string }): void {
  if (!d.s.outbox.has(t.n)) return;
  const decided = error.code === "review" && d.s.inbox.items.find((i) => i.kind === "review" && i.client_id === t.key); // the answer came late
  if (decided) reviewed(d, t, decided);
  else if (t.kind === "text" || t.kind === "data") d.put(keyOf.task(t.n), { ...t, error });
  else d.remove(keyOf.task(t.n));
  d.tell("failed", { key: t.key, group: t.group, error });
}

/** Tries what was refused once more, and counts its age anew: a person has decided. */
export function retried(d: Draft, key: string, now: number): void {
  for (const t of d.s.outbox.values()) {
    if (t.key !== key || !t.error) continue;
    const { error, ...again } = t;
    d.put(keyOf.task(t.n), { ...again, queued_at: now });
  }
}

/** Gives up what was refused, or was not sent yet. */
export function discarded(d: Draft, key: string): void {
  for (const t of d.s.outbox.values()) {
    if (t.key !== key || t.id !== undefined) continue;
    d.remove(keyOf.task(t.n));
    d.tell("failed", { key, group: t.group, error: { code: "discarded", detail: "given up" } });
  }
}

/** The person's positions as a call has answered them. */
export function marked(d: Draft, group: string, { seen, read, unread }: any): void {
  const was = d.s.groups.get(group);
  if (!was) return;
  d.remove(keyOf.read(group));
  d.stale.add(group); // mentions
  d.put(keyOf.group(group), { ...was, g: { ...was.g, seen, read, unread } });
}

/** A timeline of it was opened. */
export function opened(d: Draft, group: string, now: number): void {
  const was = d.s.groups.get(group);
  if (was && now - was.opened > 60_000) d.put(keyOf.group(group), { ...was, opened: now });
}

/** How many entries one step of pruning looks at. */
const PRUNE = 500;

/**
 * Drops the oldest messages of the group that was not opened for longest, and where only those are left, of one that is shown.
 * false: there is nothing to drop.
 * @param shown the first id that is shown of each group; from there on nothing is dropped
 */
export async function pruned(d: Draft, shown: ReadonlyMap<string, number>): Promise<boolean> {
  const below = (r: GroupRecord) => shown.get(r.g.id) ?? Infinity;
  const some = [...d.s.groups.values()].filter((r) => r.bytes > 0 && r.log.held.some(([from]) => from < below(r)));
  const oldest = some.sort((a, b) => Number(shown.has(a.g.id)) - Number(shown.has(b.g.id)) || a.opened - b.opened)[0];
  if (!oldest) return false;
  const { id } = oldest.g;
  const end = below(oldest);
  const found = await d.store.range(keyOf.entries(id), end === Infinity ? ending(keyOf.entries(id)) : keyOf.entry(id, end), { limit: PRUNE });
  const all = found.length < PRUNE;
  const last = all ? Math.min(end - 1, oldest.log.held.at(-1)![1]) : (found.at(-1)![1] as unknown as Entry).id;
  const bytes = all && end === Infinity ? 0 : Math.max(1, oldest.bytes - found.reduce((n, [, e]) => n + size(e), 0));
  d.changes.push({ removeFrom: keyOf.entry(id, 0), to: keyOf.entry(id, last + 1) });
  const log = { ...oldest.log, life: oldest.log.life + 1, held: cut(oldest.log.held, [0, last]), gaps: oldest.log.gaps.filter((g) => g[0] > last) };
  d.put(keyOf.group(id), { ...oldest, log, bytes });
  return true;
}
