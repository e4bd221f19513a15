/**
 * A group's log as far as the page holds it. Pure functions: each returns a new log and leaves its argument alone.
 *
 * A message is changed only by later entries of the same log (edit, delete, reaction). A page of older messages is read at
 * some later point, so its messages already contain changes up to the `last` of that page. Each message remembers that
 * point as `at`, and a change applies only when it is newer: so nothing is counted twice, in whatever order pages and live
 * entries arrive.
 *
 * @typedef {import("./types.js").Log} Log
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").Batch} Batch
 * @typedef {import("./types.js").Page} Page
 */

/** Changes to messages that are not loaded: more of them than this are not kept, a page brings them anyway. */
const CHANGES_MAX = 500;
/** Entries of a group that is not open. */
const ENTRIES_MAX = 500;

/**
 * A log that holds nothing yet and goes on after `after`.
 * @param {number} after @param {string} epoch @param {string} [cursor] @returns {Log}
 */
export function emptyLog(after, epoch, cursor = "") {
  return { epoch, from: after + 1, to: after, cursor, more: after > 0, trimmed: false, gaps: [], entries: new Map(), changes: [] };
}

/**
 * Adds what the server sent after the cursor.
 * @param {Log|undefined} log @param {Batch} batch @param {string} me @returns {Log}
 */
export function append(log, batch, me) {
  let next = log ? { ...log, entries: new Map(log.entries), changes: [...log.changes] } : emptyLog(batch.from - 1, batch.epoch);
  const hole = log !== undefined && (!batch.complete || batch.from > log.to + 1);
  if (log && (log.epoch !== batch.epoch || (hole && batch.from <= log.to))) {
    // Another life of the log, or one that lost its end: what is held says nothing about it.
    next = { ...emptyLog(batch.from - 1, batch.epoch), more: true, gaps: [batch.from] };
  } else if (hole) {
    next.gaps = [...next.gaps, batch.from];
  } else if (!log && !batch.complete) {
    next.gaps = [batch.from];
  }
  for (const m of batch.messages) {
    if (m.id > next.to) apply(next, m, me);
  }
  next.to = hole ? batch.to : Math.max(next.to, batch.to);
  next.cursor = batch.cursor || next.cursor;
  next.changes = next.changes.slice(-CHANGES_MAX);
  return next;
}

/**
 * Adds a page of what came before.
 * @param {Log} log @param {Page} page @param {string} me @returns {Log}
 */
export function prepend(log, page, me) {
  if (page.epoch !== log.epoch) return log;
  /** @type {Log} */
  const older = { ...log, entries: new Map(), changes: [] };
  const messages = page.messages.filter((m) => m.id < log.from);
  for (const m of messages) {
    if (m.kind === "text" || m.kind === "data" || m.kind === "notice") older.entries.set(m.id, entry(m, page.last));
  }
  const changes = log.changes.filter((m) => m.id > page.last);
  for (const m of changes) change(older, m, me);
  for (const [id, e] of log.entries) older.entries.set(id, e);
  older.changes = changes.filter((m) => !older.entries.has(m.target ?? 0));
  const from = messages.length > 0 ? messages[0].id : log.from;
  older.from = from;
  older.more = messages.length > 0 && from > page.first;
  older.trimmed = !older.more && from > 1;
  return older;
}

/** Drops the oldest of a log that is not on screen. @param {Log} log @returns {Log} */
export function shorten(log) {
  if (log.entries.size <= ENTRIES_MAX) return log;
  const kept = [...log.entries].slice(-ENTRIES_MAX);
  const from = kept[0][0];
  return { ...log, entries: new Map(kept), from, more: true, trimmed: false, gaps: log.gaps.filter((id) => id > from) };
}

/** @param {Log} log @param {Message} m @param {string} me */
function apply(log, m, me) {
  if (m.kind === "text" || m.kind === "data" || m.kind === "notice") {
    log.entries.set(m.id, entry(m, m.id));
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
  const next = { ...held, at: m.id };
  if (m.kind === "edit" && !held.deleted_at && (m.body !== undefined || m.data !== undefined)) {
    // The entry of an edit whose message was deleted later has no content; the deletion follows.
    next.body = m.body;
    next.data = m.data;
    next.edited_at = m.sent_at;
  } else if (m.kind === "delete") {
    next.body = undefined;
    next.data = undefined;
    next.deleted_at = m.sent_at;
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
  const was = next.get(emoji) ?? { count: 0, mine: false };
  const count = was.count + by;
  if (count <= 0) next.delete(emoji);
  else next.set(emoji, { count, mine: mine ? by > 0 : was.mine });
  return next;
}
