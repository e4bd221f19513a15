/**
 * What of a group's log is shown, and how far the person has read it. Pure functions from a state to the next.
 *
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Page} Page
 */
import { extend, prepend, reachesEnd, unloaded } from "./log.js";
import { put } from "./state.js";

/** Entries after the first unread one that the first page of a group has; the rest of that page is before it. */
const UNREAD_FIRST = 40;

/** A page of messages before those that are shown. @param {State} s @param {Page} page @param {number} before @returns {State} */
export function withOlderPage(s, page, before) {
  const log = s.logs.get(page.group);
  return log ? { ...s, logs: put(s.logs, page.group, prepend(log, page, before, s.me)) } : s;
}

/** A page of messages after those that are shown. @param {State} s @param {Page} page @param {number} after @returns {State} */
export function withNewerPage(s, page, after) {
  const log = s.logs.get(page.group);
  return log ? { ...s, logs: put(s.logs, page.group, extend(log, page, after, s.me)) } : s;
}

/** Entries after a message that is looked for; the rest of the page that is loaded is before it. */
const PLACE_AFTER = 30;

/** A message is to be shown, wherever in the log it is. @param {State} s @param {string} group @param {number} id @returns {State} */
export function withPlace(s, group, id) {
  const log = s.logs.get(group);
  if (!log) return s;
  const held = log.from <= id && id <= log.to;
  return { ...s, place: { group, id }, logs: held ? s.logs : put(s.logs, group, unloaded(log, id + PLACE_AFTER)) };
}

/** A group is shown: from its first unread message on, or else at its end. @param {State} s @param {string} id @returns {State} */
export function withOpen(s, id) {
  const group = s.groups.get(id);
  const log = s.logs.get(id);
  if (!group || !log) return { ...s, open: "", heard: "" };
  const read = Math.max(group.read, group.first - 1);
  let next = log;
  if (group.unread === 0) {
    if (!reachesEnd(log)) next = unloaded(log, log.end);
  } else if (read + 1 < log.from || read + 1 > log.to) {
    next = unloaded(log, read + UNREAD_FIRST);
  }
  return { ...s, open: id, heard: "", logs: put(s.logs, id, next) };
}

/** The newest messages of a group are shown. @param {State} s @param {string} id @returns {State} */
export function withNewest(s, id) {
  const log = s.logs.get(id);
  return log && !reachesEnd(log) ? { ...s, logs: put(s.logs, id, unloaded(log, log.end)) } : s;
}

/** The person has read up to id. @param {State} s @param {string} id @param {number} read @returns {State} */
export function withRead(s, id, read) {
  const group = s.groups.get(id);
  const log = s.logs.get(id);
  if (!group || read <= group.read) return s;
  const next = { ...group, read };
  if (read >= group.counted) {
    next.unread = next.mentions_unread = 0;
  } else if (log && read <= log.to && (log.from <= group.read + 1 || !log.more)) {
    for (const e of log.entries.values()) {
      if (e.id <= group.read || e.id > read || e.from === s.me || e.kind === "notice" || e.deleted_at) continue;
      next.unread = Math.max(0, next.unread - 1);
      if (e.mentions?.includes(s.me)) next.mentions_unread = Math.max(0, next.mentions_unread - 1);
    }
  } else {
    return { ...s, groups: put(s.groups, id, next), stale: true };
  }
  return { ...s, groups: put(s.groups, id, next) };
}
