/**
 * What the list of messages shows, line by line: days, notices, gaps, and messages joined into runs of one author.
 * Pure functions.
 *
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {{key: string, type: "day"|"gap"|"notice"|"message"|"new", text?: string, entry?: Entry, head?: boolean, tail?: boolean}} Line
 */
import { dayKey, dayName } from "./format.js";

/** Messages of one author further apart than this do not stand together. */
const RUN_MS = 5 * 60_000;

/**
 * @param {Entry[]} entries ascending @param {number[]} gaps @param {number} newAfter the id after which "New" is drawn, -1 for none
 * @param {string} me @returns {Line[]}
 */
export function timeline(entries, gaps, newAfter, me) {
  /** @type {Line[]} */
  const lines = [];
  const open = [...gaps].sort((a, b) => a - b);
  let marked = newAfter < 0;
  let before = "";
  for (const e of entries) {
    while (open.length > 0 && e.id >= open[0]) {
      lines.push({ key: `gap-${open.shift()}`, type: "gap", text: "Some older messages are gone" });
    }
    const day = dayKey(e.sent_at);
    if (day !== before) {
      lines.push({ key: `day-${day}-${e.id}`, type: "day", text: dayName(e.sent_at) });
      before = day;
    }
    if (!marked && e.id > newAfter && e.from !== me && e.kind !== "notice") {
      lines.push({ key: "new", type: "new", text: "New" });
      marked = true;
    }
    if (e.kind === "notice") lines.push({ key: `n-${e.id}`, type: "notice", text: noticeText(e), entry: e });
    else lines.push({ key: e.client_id ? `c-${e.from}-${e.client_id}` : `m-${e.id}`, type: "message", entry: e });
  }
  for (const id of open) lines.push({ key: `gap-${id}`, type: "gap", text: "Some older messages are gone" });
  join(lines);
  return lines;
}

/** Marks where a run of one author begins and ends. @param {Line[]} lines */
function join(lines) {
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].type !== "message") continue;
    lines[i].head = !together(lines[i - 1], lines[i]);
    lines[i].tail = !together(lines[i], lines[i + 1]);
  }
}

/** @param {Line|undefined} a @param {Line|undefined} b */
function together(a, b) {
  if (a?.type !== "message" || b?.type !== "message" || !a.entry || !b.entry) return false;
  return a.entry.from === b.entry.from && Date.parse(b.entry.sent_at) - Date.parse(a.entry.sent_at) < RUN_MS;
}

/** @param {Entry} e */
export function noticeText(e) {
  const own = e.from === e.user;
  switch (e.notice) {
    case "created": return `${e.from} made the group`;
    case "joined": return own ? `${e.from} joined` : `${e.from} added ${e.user}`;
    case "left": return `${e.user ?? e.from} left`;
    case "removed": return `${e.from} removed ${e.user}`;
    case "role": return `${e.user} is now ${e.role === "owner" ? "the owner" : e.role === "admin" ? "an admin" : "a member"}`;
    case "renamed": return `${e.from} named the group “${e.name}”`;
    case "settings": return `${e.from} changed the settings${settingsText(e.settings)}`;
    default: return `${e.from}: ${e.notice}`;
  }
}

/** What changed, in the order of the settings. @param {import("./types.js").Settings|undefined} s */
function settingsText(s) {
  if (!s) return "";
  const parts = [];
  if (s.visibility !== undefined) parts.push(`the group is ${s.visibility}`);
  if (s.post !== undefined) parts.push(s.post === "admins" ? "only admins post" : "every member posts");
  if (s.history !== undefined) parts.push(`new members ${s.history ? "see" : "don’t see"} earlier messages`);
  if (s.keep !== undefined) parts.push(`${s.keep} messages are kept`);
  if (s.backlog_max !== undefined) parts.push(`members may fall ${s.backlog_max} messages behind`);
  return `: ${parts.join(", ")}`;
}

/**
 * Where each other member's reading ends: the last message shown, by somebody else than them, that they have read.
 * @param {Entry[]} entries ascending @param {Iterable<import("./types.js").Member>} members @param {string} me
 * @returns {Map<number, string[]>} id of a message -> who read up to there
 */
export function readMarks(entries, members, me) {
  const shown = entries.filter((e) => e.id > 0 && e.kind !== "notice");
  /** @type {Map<number, string[]>} */
  const marks = new Map();
  for (const m of members) {
    if (m.user === me) continue;
    const id = shown.findLast((e) => e.id <= m.read && e.from !== m.user)?.id;
    if (id !== undefined) marks.set(id, [...(marks.get(id) ?? []), m.user]);
  }
  return marks;
}
