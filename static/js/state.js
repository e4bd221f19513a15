/**
 * The state of the page and every way in which it changes. Pure functions: each takes a state and returns the next;
 * none talks to the server or to the document. Groups and users are keys of Maps, never of objects: `__proto__` is a
 * valid id.
 *
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Group} Group
 * @typedef {import("./types.js").Batch} Batch
 * @typedef {import("./types.js").Page} Page
 * @typedef {import("./types.js").Message} Message
 */
import { concerned, revised } from "./content.js";
import { append, emptyLog, shorten } from "./log.js";
import { settled } from "./outbox.js";
import { labelOf, nobody } from "./people.js";

/** How long one sign of typing holds, ms. */
export const TYPING_MS = 5000;

/** @param {string} me @returns {State} */
export function initialState(me = "") {
  return {
    me, link: { phase: "off" }, groups: new Map(), logs: new Map(), members: new Map(), people: nobody(), typing: new Map(), open: "",
    inbox: { items: [], to: 0, epoch: "", cursor: "", complete: true }, outbox: [], uploads: [], fileMax: undefined, toasts: [], heard: "", signedOut: "", invite: null, stale: false, memberships: 0, place: null,
  };
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {V} value @returns {Map<K, V>} */
export const put = (map, key, value) => new Map(map).set(key, value);

/** @template K, V @param {Map<K, V>} map @param {K} key @returns {Map<K, V>} */
function without(map, key) {
  const next = new Map(map);
  next.delete(key);
  return next;
}

/** A group of which only the id is known yet. @param {string} id @returns {Group} */
function unknownGroup(id) {
  return {
    id, name: "", visibility: "private", created_by: "", created_at: new Date(0).toISOString(), epoch: "", first: 1, last: 0,
    members: 0, post: "members", seen: 0, read: 0, unread: 0, mentions_unread: 0, counted: 0, last_message: null, known: false,
  };
}

/**
 * The caller's groups as listed by the server. Counts of a list that is older than what the page has seen live, or than
 * what the person has read meanwhile, are not taken; `stale` then asks for another.
 * @param {State} s @param {any[]} list @param {Map<string, string>} cursors kept from before a reload
 * @param {Set<string>} reading groups whose reading the server has not confirmed yet @returns {State}
 */
export function withGroups(s, list, cursors, reading) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  const logs = new Map();
  let stale = s.stale;
  for (const g of list) {
    const held = s.groups.get(g.id);
    const late = held !== undefined && held.epoch === g.epoch && (g.last < held.counted || reading.has(g.id));
    stale ||= late;
    groups.set(g.id, late ? { ...held, ...described(g) } : { ...unknownGroup(g.id), ...g, peer: peerOf(s, g), counted: g.last, known: true });
    logs.set(g.id, s.logs.get(g.id) ?? firstLog(g, cursors.get(g.id)));
  }
  return { ...s, groups, logs, stale, open: groups.has(s.open) ? s.open : "" };
}

/** @param {any} g @param {string|undefined} cursor */
function firstLog(g, cursor) {
  const [epoch, id] = (cursor ?? "").split(".");
  const at = Number(id);
  return cursor && epoch === g.epoch && at <= g.last && at >= 0 ? emptyLog(at, g.epoch, cursor) : emptyLog(g.last, g.epoch);
}

/** The other user of a direct group. @param {State} s @param {any} g @returns {string|undefined} */
const peerOf = (s, g) => g.direct?.find((/** @type {string} */ user) => user !== s.me);

/** What describes a group, without anyone's position in it. @param {any} g */
function described(g) {
  const { seen, read, unread, mentions_unread, last_message, last, ...rest } = g;
  return { ...rest, known: true };
}

/** One group as GET /v1/groups/{g} returns it. @param {State} s @param {any} g @returns {State} */
export function withGroup(s, g) {
  const held = s.groups.get(g.id) ?? { ...unknownGroup(g.id), last: g.last, counted: g.last };
  const logs = s.logs.has(g.id) ? s.logs : put(s.logs, g.id, emptyLog(g.last, g.epoch));
  return { ...s, memberships: s.memberships + 1, logs, groups: put(s.groups, g.id, { ...held, ...described(g), peer: peerOf(s, g) }) };
}

/** @param {State} s @param {string} id @returns {State} */
export function withoutGroup(s, id) {
  return {
    ...s, memberships: s.memberships + 1, groups: without(s.groups, id), logs: without(s.logs, id), members: without(s.members, id), typing: without(s.typing, id),
    outbox: s.outbox.filter((t) => t.group !== id), uploads: s.uploads.filter((u) => u.group !== id), open: s.open === id ? "" : s.open,
  };
}

/**
 * Gives up positions that the server cannot read: the groups are shown from their newest page on, the inbox as it is listed.
 * @param {State} s @param {{group: string, inbox?: boolean}[]} unreadable @returns {State}
 */
export function withoutPositions(s, unreadable) {
  const logs = new Map(s.logs);
  for (const { group } of unreadable) {
    const held = s.groups.get(group);
    if (held) logs.set(group, emptyLog(held.last, held.epoch));
  }
  return { ...s, logs, inbox: unreadable.some((e) => e.inbox) ? initialState().inbox : s.inbox, stale: s.stale || unreadable.length > 0 };
}

/** Messages that the server pushed. @param {State} s @param {Batch} batch @returns {State} */
export function withBatch(s, batch) {
  const held = s.groups.get(batch.group) ?? { ...unknownGroup(batch.group), epoch: batch.epoch, counted: batch.from - 1 };
  const was = s.logs.get(batch.group);
  let log = append(was, batch, s.me);
  if (s.open !== batch.group) log = shorten(log);
  const typing = new Map(s.typing.get(batch.group) ?? []);
  for (const m of batch.messages) typing.delete(m.from);
  const { group, stale } = counted(s, held, batch, was);
  return {
    ...s, groups: put(s.groups, group.id, group), logs: put(s.logs, group.id, log), typing: put(s.typing, group.id, typing),
    members: withNotices(s, batch), outbox: settled(s.outbox, group.id, log), stale: s.stale || stale || !batch.complete,
  };
}

/**
 * The group after a batch: what is unread, the newest message, the name.
 * @param {State} s @param {Group} held @param {Batch} batch @param {import("./types.js").Log|undefined} was
 */
function counted(s, held, batch, was) {
  const group = { ...held, last: Math.max(held.last, batch.to), epoch: batch.epoch };
  let stale = false;
  for (const m of batch.messages) {
    if ((m.kind === "text" || m.kind === "data") && m.id > (group.last_message?.id ?? 0)) group.last_message = m;
    if (group.last_message && m.target === group.last_message.id) group.last_message = revised(group.last_message, m, m.sent_at);
    if (m.kind === "notice" && m.notice === "renamed" && m.name !== undefined) group.name = m.name;
    if (m.kind === "notice" && m.settings?.visibility) group.visibility = m.settings.visibility;
    if (m.kind === "notice" && m.settings?.post) group.post = m.settings.post;
    if (m.kind === "notice" && m.settings?.keep !== undefined) group.keep = m.settings.keep;
    if (m.kind === "notice" && m.settings?.retain_days !== undefined) group.retain_days = m.settings.retain_days;
    if (m.id <= group.counted) continue;
    if (m.notice === "joined") group.members += concerned(m).length;
    if (m.notice === "left" || m.notice === "removed") group.members -= Math.max(1, concerned(m).length);
    const mine = m.from === s.me;
    if (mine && group.read === m.id - 1) group.read = m.id; // as the server does
    if ((m.kind === "text" || m.kind === "data") && !mine && !m.deleted_at && m.id > group.read) {
      group.unread++;
      if (m.mentions?.includes(s.me)) group.mentions_unread++;
    }
    // Whether the deleted one counted as unread is known only to the server when it is not at hand.
    if (m.kind === "delete" && (m.target ?? 0) > group.read) stale = true;
  }
  // A log that lost its end goes on from a lower id than the page has seen.
  group.counted = batch.complete ? Math.max(group.counted, batch.to) : batch.to;
  if (!batch.complete) group.last = batch.to;
  return { group, stale: stale || (was !== undefined && was.epoch !== batch.epoch) };
}

/** Who is a member, after the notices of a batch. @param {State} s @param {Batch} batch */
function withNotices(s, batch) {
  const held = s.members.get(batch.group);
  if (!held) return s.members;
  const members = new Map(held);
  for (const m of batch.messages) {
    for (const user of m.kind === "notice" ? concerned(m) : []) {
      const was = members.get(user);
      if (m.notice === "joined") members.set(user, was ?? { user, role: "member", joined_at: m.sent_at, seen: 0, read: 0 });
      if (m.notice === "left" || m.notice === "removed") members.delete(user);
      if (m.notice === "role" && was && m.role) members.set(user, { ...was, role: /** @type {any} */ (m.role) });
    }
    // Who sends at the end has read to the end; the server moves the sender's cursors the same way.
    const author = members.get(m.from);
    if (author && author.read >= m.id - 1) members.set(m.from, { ...author, read: m.id, seen: Math.max(author.seen, m.id) });
  }
  return put(s.members, batch.group, members);
}

/** Someone's cursors moved: one's own on another device, or another member's. @param {State} s @param {any} c @returns {State} */
export function withCursor(s, c) {
  const group = s.groups.get(c.group);
  if (!group) return s;
  if (c.user === s.me) {
    const same = c.read === group.read;
    return { ...s, groups: put(s.groups, c.group, { ...group, seen: c.seen, read: c.read }), stale: s.stale || !same };
  }
  // Of a group that was just opened the list of members may still be on its way, with an older position.
  const members = s.members.get(c.group) ?? (s.open === c.group ? new Map() : undefined);
  if (!members) return s;
  const member = members.get(c.user) ?? { user: c.user, role: /** @type {const} */ ("member"), joined_at: "" };
  return { ...s, members: put(s.members, c.group, put(members, c.user, { ...member, seen: c.seen, read: c.read })) };
}

/**
 * The members as the server listed them. Whose cursors moved while the list was on its way is newer than the list.
 * @param {State} s @param {string} id @param {import("./types.js").Member[]} list
 * @param {Map<string, import("./types.js").Member>|undefined} before the members when the list was asked for @returns {State}
 */
export function withMembers(s, id, list, before) {
  const held = s.members.get(id);
  const members = list.map((m) => {
    const now = held?.get(m.user);
    return now && now !== before?.get(m.user) ? { ...m, seen: now.seen, read: now.read } : m;
  });
  return { ...s, members: put(s.members, id, new Map(members.map((m) => [m.user, m]))) };
}

/** @param {State} s @param {string} group @param {string} user @param {number} now ms @returns {State} */
export function withTyping(s, group, user, now) {
  if (user === s.me) return s;
  return { ...s, typing: put(s.typing, group, put(s.typing.get(group) ?? new Map(), user, now + TYPING_MS)) };
}

/** Forgets who stopped typing. @param {State} s @param {number} now ms @returns {State} */
export function withoutTyping(s, now) {
  const typing = new Map();
  for (const [group, users] of s.typing) {
    const left = [...users].filter(([, until]) => until > now);
    if (left.length > 0) typing.set(group, new Map(left));
  }
  return { ...s, typing };
}

/** Items of the inbox. @param {State} s @param {any} batch @returns {State} */
export function withInbox(s, batch) {
  const same = s.inbox.epoch === "" || s.inbox.epoch === batch.epoch;
  // Where a batch is not complete, the items from there on may be others under seqs that came before.
  const held = same ? s.inbox.items.filter((i) => batch.complete || i.seq < batch.from) : [];
  const known = new Set(held.map((i) => i.seq));
  const items = [...held, ...batch.items.filter((/** @type {any} */ i) => !known.has(i.seq))].sort((a, b) => a.seq - b.seq);
  const complete = (same ? s.inbox.complete : true) && batch.complete;
  const newest = !same || !batch.complete || batch.to >= s.inbox.to ? batch : s.inbox;
  return { ...s, inbox: { items, epoch: batch.epoch, to: newest.to, cursor: newest.cursor, complete } };
}

/** The person is done with the items up to seq. @param {State} s @param {number} seq @returns {State} */
export function withInboxAck(s, seq) {
  return { ...s, inbox: { ...s.inbox, complete: true, items: s.inbox.items.filter((i) => i.seq > seq) } };
}

/** Latest activity first. @param {State} s @returns {Group[]} */
export function groupsInOrder(s) {
  const at = (/** @type {Group} */ g) => g.last_message?.sent_at ?? g.created_at;
  return [...s.groups.values()].sort((a, b) => (at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : a.id < b.id ? -1 : 1));
}

/** @param {Group} g @param {import("./people.js").People} people */
export const titleOf = (g, people) => g.name || (g.peer && labelOf(people, g.peer)) || g.id;

/** @param {State} s */
export function totalUnread(s) {
  let n = 0;
  for (const g of s.groups.values()) n += g.unread;
  return n;
}

/** The role of the person in a group, as far as it is known. @param {State} s @param {string} id */
export function roleOf(s, id) {
  return s.members.get(id)?.get(s.me)?.role ?? "member";
}
