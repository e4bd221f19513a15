/**
 * What the list of messages shows, line by line: days, notices, gaps, and messages joined into runs of one author.
 * Pure functions.
 *
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {object} Line
 * @property {string} key
 * @property {"day"|"gap"|"notice"|"message"|"new"} type
 * @property {string} [text]
 * @property {number} [id] the first entry of a line that shows entries; 0 for one that has no id yet
 * @property {Entry} [entry] of a message
 * @property {boolean} [head] whether a run of one author begins with it
 * @property {boolean} [tail] whether it ends with it
 * @property {{id: number, text: string}[]} [each] the notices of a line of notices
 */
import { concerned } from "./content.js";
import { dayKey, dayName, namesOf } from "./format.js";

/** Messages of one author further apart than this do not stand together. */
const RUN_MS = 5 * 60_000;
const GAP = "Some messages are no longer available";

/**
 * @param {Entry[]} entries ascending @param {number[]} gaps @param {number} newAfter the id after which "New" is drawn, -1 for none
 * @param {string} me
 * @param {(user: string) => string} [nameOf] how people are called @returns {Line[]}
 */
export function timeline(entries, gaps, newAfter, me, nameOf = (user) => user) {
  /** @type {Line[]} */
  const lines = [];
  const open = [...gaps].sort((a, b) => a - b);
  let marked = newAfter < 0;
  let before = "";
  /** @type {Entry[]} */
  let notices = []; // of the last line
  for (const e of entries) {
    while (open.length > 0 && e.id >= open[0]) {
      lines.push({ key: `gap-${open.shift()}`, type: "gap", text: GAP });
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
    if (e.kind !== "notice") {
      lines.push({ key: e.client_id ? `c-${e.from}-${e.client_id}` : `m-${e.id}`, type: "message", id: e.id, entry: e });
    } else if (lines.at(-1)?.type === "notice" && sortOf(e) === sortOf(notices[0])) {
      notices.push(e);
      Object.assign(/** @type {Line} */ (lines.at(-1)), noticeLine(notices, nameOf));
    } else {
      notices = [e];
      lines.push({ key: `n-${e.id}`, type: "notice", id: e.id, ...noticeLine(notices, nameOf) });
    }
  }
  for (const id of open) lines.push({ key: `gap-${id}`, type: "gap", text: GAP });
  join(lines);
  return lines;
}

/**
 * Up to which id each line has been read once it was on screen: what changes other messages has no line and counts with
 * the line before.
 * @param {Line[]} lines @param {number} to the last id that is held @returns {Map<string, number>}
 */
export function upTo(lines, to) {
  const ids = new Map();
  let last = to;
  for (const l of lines.toReversed()) {
    if (!l.id) continue;
    ids.set(l.key, last);
    last = l.id - 1;
  }
  return ids;
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

/** Notices of one sort stand in one line. @param {Entry} e */
function sortOf(e) {
  switch (e.notice) {
    case "joined": return `joined ${e.from === e.user ? "" : e.from}`;
    case "left": return "left";
    case "role": return `role ${e.from} ${e.role === "owner" ? e.id : e.role}`;
    default: return `${e.notice} ${e.from}`;
  }
}

/** @param {Entry[]} notices of one sort @param {(user: string) => string} nameOf */
function noticeLine(notices, nameOf) {
  const each = notices.map((e) => ({ id: e.id, text: noticeText(e, nameOf) }));
  return { each, text: notices.length > 1 ? noticesText(notices, nameOf) : each[0].text };
}

/** What several notices of one sort say together. @param {Entry[]} notices @param {(user: string) => string} nameOf */
function noticesText(notices, nameOf) {
  const last = notices[notices.length - 1];
  const names = namesOf([...new Set(notices.flatMap((e) => (e.user || e.users ? concerned(e) : [e.from])))].map(nameOf));
  const by = nameOf(last.from);
  switch (last.notice) {
    case "joined": return last.from === last.user ? `${names} joined` : `${by} added ${names}`;
    case "left": return `${names} left`;
    case "removed": return `${by} removed ${names}`;
    case "role": return `${names} are now ${last.role === "admin" ? "admins" : "members"}`;
    case "settings": return `${by} changed the settings ${notices.length} times`;
    default: return noticeText(last, nameOf);
  }
}

/** @param {Entry} e @param {(user: string) => string} nameOf */
export function noticeText(e, nameOf) {
  const own = e.from === e.user;
  const names = namesOf(concerned(e).map(nameOf));
  const by = nameOf(e.from);
  switch (e.notice) {
    case "created": return `${by} created the group`;
    case "joined": return own ? `${by} joined` : `${by} added ${names}`;
    case "left": return `${nameOf(e.user ?? e.from)} left`;
    case "removed": return `${by} removed ${names}`;
    case "role": return `${nameOf(e.user ?? "")} is now ${e.role === "owner" ? "the owner" : e.role === "admin" ? "an admin" : "a member"}`;
    case "data": return `${by} changed what is noted about ${nameOf(e.user ?? "")}`;
    case "renamed": return e.name ? `${by} renamed the group to “${e.name}”` : `${by} removed the group name`;
    case "settings": return `${by} changed the settings${settingsText(e.settings)}`;
    default: return `${by}: ${e.notice}`;
  }
}

/** What changed, in the order of the settings. @param {import("./types.js").Settings|undefined} s */
function settingsText(s) {
  if (!s) return "";
  const parts = [];
  if (s.visibility !== undefined) parts.push(`the group is ${s.visibility}`);
  if (s.post !== undefined) parts.push(s.post === "admins" ? "only admins can post" : "all members can post");
  if (s.history !== undefined) parts.push(`new members ${s.history ? "can" : "can’t"} see earlier messages`);
  if (s.keep !== undefined) parts.push(`at least ${s.keep} messages are kept`);
  if (s.retain_days !== undefined) parts.push(s.retain_days > 0 ? `messages are removed after ${s.retain_days} days` : "messages are kept forever");
  if (s.overflow !== undefined) parts.push(s.overflow === "block" ? "sending waits for members who are behind" : "sending does not wait for members who are behind");
  if (s.backlog_bytes !== undefined) parts.push(`members may fall ${s.backlog_bytes} bytes of files behind`);
  if (s.backlog_max !== undefined) parts.push(`members may fall ${s.backlog_max} messages behind`);
  if (s.data !== undefined) parts.push("custom fields");
  return `: ${parts.join(", ")}`;
}

/**
 * Where each other member's reading ends: the last message shown, by somebody else than them, that they have read.
 * @param {Entry[]} entries ascending @param {Iterable<import("./types.js").Member>} members @param {string} me
 * @param {number} [to] positions above are outside of what is shown
 * @returns {Map<number, string[]>} id of a message -> who read up to there
 */
export function readMarks(entries, members, me, to = Infinity) {
  const shown = entries.filter((e) => e.id > 0 && e.kind !== "notice");
  /** @type {Map<number, string[]>} */
  const marks = new Map();
  for (const m of members) {
    if (m.user === me || m.read > to) continue;
    const id = shown.findLast((e) => e.id <= m.read && e.from !== m.user)?.id;
    if (id !== undefined) marks.set(id, [...(marks.get(id) ?? []), m.user]);
  }
  return marks;
}
