/**
 * A group's log as far as the page holds it. Pure functions: each returns a new log and leaves its argument alone.
 *
 * A message is changed only by later entries of the same log (edit, delete, reaction). A page of older messages is read
 * at some later point, so its messages already contain changes up to the `last` of that page. Each message remembers
 * that point as `at`, and a change applies only when it is newer: so nothing is counted twice, in whatever order pages
 * and live entries arrive.
 *
 * A log normally reaches up to what comes live. One that is shown from its first unread message on may end before: then
 * live entries only move `end` and change what is held, until pages have filled what is between.
 *
 * @typedef {import("./types.js").Log} Log
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").Batch} Batch
 * @typedef {import("./types.js").Page} Page
 */
import { revised } from "./content.js";


/** Changes to messages that are not loaded: more of them than this are not kept, a page brings them anyway. */
const CHANGES_MAX = 500;
/** Entries of a group that is not open. */
const ENTRIES_MAX = 500;

/**
 * A log that holds nothing yet and goes on after `after`.
 * @param {number} after @param {string} epoch @param {string} [cursor] @returns {Log}
 */
export function emptyLog(after, epoch, cursor = "") {
  return { epoch, from: after + 1, to: after, end: after, cursor, more: after > 0, trimmed: false, gaps: [], entries: new Map(), changes: [] };
}

/** The same log with nothing loaded; pages are loaded from `to` on, upwards and downwards. @param {Log} log @param {number} to @returns {Log} */
export function unloaded(log, to) {
  return { ...emptyLog(Math.min(to, log.end), log.epoch, log.cursor), end: log.end };
}

/** Whether the log reaches up to what comes live. @param {Log} log */
export const reachesEnd = (log) => log.to >= log.end;

/** The id that a cursor of a log names. @param {string} [cursor] */
export const idOf = (cursor = "") => Number(cursor.split(".")[1]);

/**
 * Adds what the server sent after the cursor.
 * @param {Log|undefined} log @param {Batch} batch @param {string} me @returns {Log}
 */
export function append(log, batch, me) {
  let next = log ? { ...log, entries: new Map(log.entries), changes: [...log.changes] } : emptyLog(batch.from - 1, batch.epoch);
  const hole = log !== undefined && (!batch.complete || batch.from > log.end + 1);
  if (log && (log.epoch !== batch.epoch || (hole && batch.from <= log.end))) {
    // Another life of the log, or one that lost its end: what is held says nothing about it.
    next = { ...emptyLog(batch.from - 1, batch.epoch), more: true, gaps: [batch.from] };
  } else if (hole && reachesEnd(next)) {
    next.gaps = [...next.gaps, batch.from];
  } else if (!log && !batch.complete) {
    next.gaps = [batch.from];
  }
  const joins = reachesEnd(next);
  for (const m of batch.messages) {
    if (m.id > next.end) apply(next, m, me, joins);
  }
  next.end = hole ? batch.to : Math.max(next.end, batch.to);
  if (joins) next.to = next.end;
  next.cursor = batch.cursor || next.cursor;
  next.changes = next.changes.slice(-CHANGES_MAX);
  return next;
}

/**
 * Adds a page of what comes before `before`.
 * @param {Log} log @param {Page} page @param {number} before @param {string} me @returns {Log}
 */
export function prepend(log, page, before, me) {
  if (page.epoch !== log.epoch || before !== log.from) return log; // of another place
  /** @type {Log} */
  const older = { ...log, entries: new Map() };
  const messages = page.messages.filter((m) => m.id < log.from);
  for (const m of messages) {
    if (isShown(m)) older.entries.set(m.id, entry(m, page.last));
  }
  for (const [id, e] of log.entries) older.entries.set(id, e);
  const from = messages.length > 0 ? messages[0].id : log.from;
  older.from = from;
  older.more = messages.length > 0 && from > page.first;
  older.trimmed = !older.more && from > 1;
  return caughtUp(older, me);
}

/**
 * Adds a page of what comes after `after`, to a log that does not reach its end.
 * @param {Log} log @param {Page} page @param {number} after @param {string} me @returns {Log}
 */
export function extend(log, page, after, me) {
  if (page.epoch !== log.epoch || after !== log.to) return log; // of another place
  /** @type {Log} */
  const next = { ...log, entries: new Map(log.entries) };
  if (!page.complete || page.from > log.to + 1) next.gaps = [...log.gaps, page.from];
  for (const m of page.messages) {
    if (isShown(m)) next.entries.set(m.id, entry(m, page.last));
    else change(next, m, me);
  }
  next.to = Math.max(log.to, page.to);
  // A log that lost its end has nothing more to load.
  next.end = page.messages.length === 0 ? next.to : Math.max(log.end, next.to);
  return caughtUp(next, me);
}

/** Applies the changes that came live before their targets were loaded. @param {Log} log to be changed @param {string} me */
function caughtUp(log, me) {
  log.changes = log.changes.filter((m) => !change(log, m, me));
  return log;
}

/** Drops the oldest of a log that is not on screen. @param {Log} log @returns {Log} */
export function shorten(log) {
  if (log.entries.size <= ENTRIES_MAX) return log;
  const kept = [...log.entries].slice(-ENTRIES_MAX);
  const from = kept[0][0];
  return { ...log, entries: new Map(kept), from, more: true, trimmed: false, gaps: log.gaps.filter((id) => id > from) };
}

/** Whether a message is a line of its own. @param {Message} m */
const isShown = (m) => m.kind === "text" || m.kind === "data" || m.kind === "notice";

/** @param {Log} log @param {Message} m @param {string} me @param {boolean} joins whether it comes right after what is held */
function apply(log, m, me, joins) {
  if (isShown(m)) {
    if (joins) log.entries.set(m.id, entry(m, m.id));
  } else if (!change(log, m, me)) {
    log.changes.push(m);
  }
}

/** @param {Message} m @param {number} at @returns {Entry} */
function entry(m, at) {
  const { group, target, emoji, removed, reactions, ...rest } = m;
  return /** @type {Entry} */ ({ ...rest, at, reactions: new Map(Object.entries(reactions ?? {})) });
}

/**
 * Applies an edit, a deletion or a reaction to its target. False: the target is not held.
 * @param {Log} log @param {Message} m @param {string} me
 */
function change(log, m, me) {
  const held = log.entries.get(m.target ?? 0);
  if (!held) return false;
  if (m.id <= held.at) return true;
  const next = { ...revised(held, m, m.sent_at), at: m.id };
  if (m.kind === "delete") {
    next.reactions = new Map();
  } else if (m.kind === "reaction" && m.emoji) {
    next.reactions = react(held.reactions, m.emoji, m.removed ? -1 : 1, m.from === me);
  }
  log.entries.set(held.id, next);
  return true;
}

/**
 * The reactions after one more, or one less.
 * @param {Map<string, import("./types.js").Reaction>} reactions @param {string} emoji @param {1|-1} by @param {boolean} mine
 */
export function react(reactions, emoji, by, mine) {
  const next = new Map(reactions);
  const bare = (/** @type {string} */ e) => e.replaceAll("\uFE0F", "");
  emoji = [...next.keys()].find((e) => bare(e) === bare(emoji)) ?? emoji; // the spelling that is shown
  const was = next.get(emoji) ?? { count: 0, mine: false };
  const count = was.count + by;
  if (count <= 0) next.delete(emoji);
  else next.set(emoji, { count, mine: mine ? by > 0 : was.mine });
  return next;
}
