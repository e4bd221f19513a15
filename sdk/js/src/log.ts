/**
 * What a client holds of a group's log. Pure functions: each returns a new log and leaves its argument alone.
 *
 * A message is changed only by later entries of the same log (edit, delete, reaction). A page is read at some later point,
 * so its messages already contain the changes up to the `last` of that page. Each message remembers that point as `at`,
 * and a change applies only when it is newer: so nothing is counted twice, in whatever order pages and live entries come.
 */
import type { FileInfo, Json, LinkPreview, Message, Reaction } from "./types.js";

/** Ids from..to, both of them within. */
export type Range = [from: number, to: number];

/** A line of a log as it is stored. */
export type Entry = Omit<Message, "target" | "emoji" | "removed"> & {
  readonly at: number;
  readonly reactions?: [emoji: string, Reaction][];
};

export type Log = {
  readonly epoch: string;
  /** Up to here everything came live; -1: no position yet, the server decides where the log begins. */
  readonly end: number;
  /** The server's name for end; empty: end alone. */
  readonly cursor: string;
  /** Every id of these is known, though edits, deletions and reactions are not lines. Ascending, not adjacent. */
  readonly held: readonly Range[];
  /** Lost for good, [from, to]; to is 0 where the log began anew at from. */
  readonly gaps: readonly Range[];
  /** Nothing below is to be had from the server. */
  readonly floor: number;
  /**
   * From here to the end nothing was missed: what an earlier page does not have of it came live. Without a position, what is
   * held has the changes before.
   */
  readonly since: number;
  /** Rises when what was held was given up: a page that was asked for before is of the log as it was then. */
  readonly life: number;
  /** Ids of changes that came live before the messages that they are about; a page that was read earlier needs them. */
  readonly loose: readonly number[];
};

/** What the server sends after a position, and a page of the log. */
export type Batch = {
  group: string; epoch: string; from: number; to: number; cursor?: string; complete: boolean; messages: Message[];
  first?: number; last?: number; has_more?: boolean; seen?: number; read?: number; unread?: number;
  profiles?: Record<string, number>; previews?: Record<string, LinkPreview>;
};

/** More changes than this are not remembered. */
const LOOSE_MAX = 100;

export const emptyLog = (epoch = "", life = 0): Log => ({ epoch, end: -1, cursor: "", held: [], gaps: [], floor: 1, since: 0, life, loose: [] });

/** Ranges with one more, joined where they touch. */
export function add(ranges: readonly Range[], [from, to]: Range): Range[] {
  if (to < from) return [...ranges];
  const out: Range[] = [];
  for (const r of ranges) {
    if (r[1] < from - 1 || r[0] > to + 1) out.push(r);
    else [from, to] = [Math.min(from, r[0]), Math.max(to, r[1])];
  }
  return [...out, [from, to] as Range].sort((a, b) => a[0] - b[0]);
}

/** Ranges without one. */
export function cut(ranges: readonly Range[], [from, to]: Range): Range[] {
  return ranges.flatMap((r) => {
    if (r[1] < from || r[0] > to) return [r];
    return ([[r[0], from - 1], [to + 1, r[1]]] as Range[]).filter(([a, b]) => a <= b);
  });
}

/** The range that an id is in. */
export const around = (ranges: readonly Range[], id: number): Range | undefined => ranges.find(([a, b]) => a <= id && id <= b);

/** Whether each id of from..to is held or lost for good. */
export function covered({ held, gaps }: Log, from: number, to: number): boolean {
  for (let at = from; at <= to; ) {
    const range = around(held, at) ?? around(gaps, at);
    if (!range) return false;
    at = range[1] + 1;
  }
  return true;
}

const isAnew = (gap: Range) => gap[1] === 0;

/** A log with the ids from..to held: what was a gap there is none. */
function holding(log: Log, range: Range): Log {
  const lost = log.gaps.filter((g) => !isAnew(g));
  const gaps = lost.some((g) => g[0] <= range[1] && range[0] <= g[1]) ? [...log.gaps.filter(isAnew), ...cut(lost, range)] : log.gaps;
  return { ...log, held: add(log.held, range), gaps };
}

/** A log with a gap for good at from..to, but for what is held of that. */
export function lost(log: Log, range: Range): Log {
  let gaps = log.gaps.filter((g) => !isAnew(g));
  gaps = add(gaps, range);
  for (const r of log.held) gaps = cut(gaps, r);
  return { ...log, gaps: [...log.gaps.filter(isAnew), ...gaps] };
}

/** What a batch does to a log. */
export type Step = {
  log: Log;
  /** Its messages that are new to the log. */
  fresh: Message[];
  /** What was held is of another life of the log, or of an end that it lost: it goes. */
  anew: boolean;
  gap?: Range;
};

/** Whether a batch has exactly the ids that it says. */
const dense = (b: Batch) => b.to - b.from + 1 === b.messages.length && b.messages.every((m, i) => m.id === b.from + i);

/**
 * Takes what the server sent after a position. "hole": ids are missing without a word, so nothing of it may be shown;
 * null: all of it is known.
 * @param first of what the person may see; who was out of a group for a while may not see what was written then
 */
export function append(was: Log, b: Batch, first = 1): Step | "hole" | null {
  if (!dense(b)) return "hole";
  const cursor = b.cursor ?? "";
  const placed = was.end >= 0;
  const other = was.epoch !== "" && was.epoch !== b.epoch;
  if (!other && placed) {
    if (b.complete ? b.to <= was.end : cursor !== "" && cursor === was.cursor) return null;
    if (b.complete && b.from > was.end + 1 && b.from !== first) return "hole";
  }
  const rewritten = other || (placed && !b.complete && b.from <= was.end);
  const anew = rewritten || missed(was, b.from);
  let log = anew ? emptyLog(b.epoch, was.life + 1) : { ...was, epoch: b.epoch };
  const fresh = b.messages.filter((m) => m.id > log.end);
  let gap: Range | undefined;
  if (rewritten) {
    gap = [b.from, 0];
    log = { ...log, gaps: [gap] };
  } else if (placed && b.from > was.end + 1) {
    gap = [was.end + 1, b.from - 1];
    log = lost(log, gap);
  } else if (!placed && log.gaps.some(isAnew)) {
    gap = [b.from, 0]; // a position was given up: this is where it goes on
    log = { ...log, gaps: [...log.gaps.filter((g) => !isAnew(g)), gap] };
  }
  // Not what is below the end: of that, what is not held was dropped.
  log = { ...holding(log, [Math.max(b.from, log.end + 1), b.to]), end: Math.max(log.end, b.to), cursor, ...((!placed || gap) && { since: b.from }) };
  return { log, fresh, anew, ...(gap && { gap }) };
}

/** Whether what is held of a log without a position lacks changes, if it goes on from an id. */
export const missed = (log: Log, from: number) => log.end < 0 && log.held.length > 0 && log.since < from;

/** What a page is an answer to. */
export type Asked = { before: number } | { after: number };

/** Whether a page is so old that changes of its messages were missed, or forgotten since. */
const isLate = ({ since, end, loose }: Log, last: number) => end >= 0 && (last + 1 < since || (loose.length === LOOSE_MAX && last < loose[0]!));

/** Takes a page that was asked for; null: it is of another life of the log or late, ask again. */
export function insert(was: Log, page: Batch, asked: Asked): Log | null {
  if ((was.epoch !== "" && was.epoch !== page.epoch) || !dense(page) || isLate(was, page.last ?? page.to)) return null;
  const to = was.end < 0 ? page.to : Math.min(page.to, was.end); // what is beyond the end comes live, or behind a gap
  let log: Log = { ...was, epoch: page.epoch, floor: Math.min(was.floor, page.first ?? was.floor) };
  const some = page.messages.length > 0;
  if ("before" in asked) {
    if (page.to >= asked.before) return null;
    if (!some || !page.has_more) log = { ...log, floor: Math.max(log.floor, some ? page.from : asked.before) };
  } else {
    if (page.from <= asked.after) return null;
    if (some && page.from > asked.after + 1) log = lost(log, [asked.after + 1, Math.min(page.from - 1, to)]);
  }
  if (!some) return log;
  const after = (page.last ?? page.to) + 1;
  if (log.end < 0) log = { ...log, since: log.held.length > 0 ? Math.min(log.since, after) : after };
  return holding(log, [page.from, to]);
}

/** Gives a position up, and with it what is held: the log goes on wherever the server begins, behind a gap. */
export const unplaced = (log: Log): Log => ({ ...emptyLog("", log.life + 1), gaps: log.end < 0 ? log.gaps : [[1, 0]] });

/** Remembers changes whose messages are not held, and says which ones are forgotten for them. */
export function loosened(log: Log, ids: number[]): { log: Log; forgotten: number[] } {
  const all = [...log.loose, ...ids];
  return { log: ids.length > 0 ? { ...log, loose: all.slice(-LOOSE_MAX) } : log, forgotten: all.slice(0, -LOOSE_MAX) };
}

/** Whether an entry is a line of its own. */
export const isLine = (m: { kind: string }) => m.kind === "text" || m.kind === "data" || m.kind === "notice";

/** A line as it is stored, with the changes up to at. */
export function entry(m: Message & { reactions?: Record<string, Reaction> }, at: number): Entry {
  const { target, emoji, removed, reactions, ...rest } = m;
  const some = Object.entries(reactions ?? {});
  return { ...rest, at, ...(some.length > 0 && { reactions: some }) };
}

type Content = { body?: string | undefined; data?: Json | undefined; mentions?: readonly string[] | undefined; files?: readonly FileInfo[] | undefined; actions?: readonly unknown[] | undefined };
type Change = Content & { kind: string; stream?: Message["stream"] };
const FIELDS = ["body", "data", "mentions", "files"] as const;

/** A message after an edit or a deletion; after any other change it is as before. An edit replaces the fields that it has. */
export function revised<M extends Content & { stream?: Message["stream"]; edited_at?: string; deleted_at?: string }>(m: M, change: Change, at: string): M {
  if (change.kind === "delete") {
    const { body, data, mentions, files, actions, ...bare } = m;
    return { ...bare, deleted_at: at } as unknown as M;
  }
  // The entry of an edit whose message was deleted later has no content; the deletion follows.
  if (change.kind !== "edit" || m.deleted_at) return m;
  const given = FIELDS.filter((f) => change[f] !== undefined).map((f) => [f, change[f]]);
  if (given.length === 0) return m;
  const { stream, ...rest } = m;
  // The end of a stream is no edit: the text is whole now.
  const how = change.stream ? change.stream === "cut" && { stream: "cut" } : { edited_at: at };
  return { ...rest, ...Object.fromEntries(given), ...how } as unknown as M;
}

/** A root after one more reply, or one less; newest: the newest one then. */
const replied = ({ lastReplyAt, ...e }: Entry, by: number, newest: { id: number; sent_at: string } | undefined): Entry =>
  ({ ...e, replies: Math.max(0, (e.replies ?? 0) + by), last_reply_id: newest?.id ?? 0, ...(newest && { lastReplyAt: newest.sent_at }) });

/** Whether an entry deletes a message. That of an erasure which names other entries takes an author off what was deleted before. */
export const deletes = (m: Message): boolean => m.kind === "delete" && !m.erased;

/** The root of a thread after one of its replies was deleted. */
export const unreplied = (e: Entry, m: Message, newest: { id: number; sent_at: string } | undefined): Entry => (m.id > e.at ? { ...replied(e, -1, newest), at: m.id } : e);

/** A line after a change of the log that is about it. */
export function changed(e: Entry, m: Message, me: string): Entry {
  if (m.id <= e.at) return e;
  // One that comes without content counts as well: whether the line has it already depends on when that was read; its deletion follows.
  if (m.thread === e.id) return { ...replied(e, 1, m), at: m.id };
  const next = { ...revised(e, m, m.sent_at), at: m.id };
  if (m.kind === "delete") delete next.reactions;
  if (m.kind === "reaction" && m.emoji) return { ...next, reactions: react(e.reactions ?? [], m.emoji, !m.removed, m.from === me) };
  return next;
}

const bare = (emoji: string) => emoji.replaceAll("\uFE0F", "");

/** The reactions after one more, or one less. One emoji may be spelled in two ways: it keeps the one that is shown. */
export function react(list: readonly [string, Reaction][], emoji: string, on: boolean, mine: boolean): [string, Reaction][] {
  const next = [...list];
  let i = next.findIndex(([e]) => bare(e) === bare(emoji));
  if (i < 0) i = next.push([emoji, { count: 0, mine: false }]) - 1;
  const [shown, was] = next[i]!;
  next[i] = [shown, { count: was.count + (on ? 1 : -1), mine: mine ? on : was.mine }];
  return next.filter(([, r]) => r.count > 0);
}
