/**
 * What this person sent and the server has not confirmed. Every entry keeps its client_id through retries, reconnects
 * and reloads: the server answers a repeated one as the first time, so nothing is stored twice. Pure functions.
 *
 * @typedef {import("./types.js").Task} Task
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {import("./types.js").Log} Log
 */
import { revised } from "./content.js";
import { react } from "./log.js";

/** More unsent messages than this are refused: something is wrong, and a person should know. */
export const OUTBOX_MAX = 200;

/** A key that nobody else makes: 96 random bits. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/**
 * The next task of each group that nothing is in flight for: one at a time keeps the order in which they were written.
 * @param {Task[]} outbox @param {Set<string>} busy groups with a send in flight
 */
export function due(outbox, busy) {
  /** @type {Task[]} */
  const out = [];
  const taken = new Set(busy);
  for (const t of outbox) {
    if (t.id !== undefined || t.problem !== undefined || taken.has(t.group)) continue;
    taken.add(t.group);
    out.push(t);
  }
  return out;
}

/** What goes over the wire: the task without what only the page knows of it. @param {Task} t */
export function wire(t) {
  const { queued_at, attempts, id, problem, files, ...message } = t;
  return files ? { ...message, files: files.map((f) => f.id) } : message;
}

/** Notes the answer of the server. @param {Task[]} outbox @param {string} key @param {Partial<Task>} answer */
export function noted(outbox, key, answer) {
  return outbox.map((t) => (t.client_id === key ? { ...t, ...answer } : t));
}

/**
 * Drops what the log now holds itself.
 * @param {Task[]} outbox @param {string} group @param {Log} log
 */
export function settled(outbox, group, log) {
  return outbox.filter((t) => t.group !== group || t.id === undefined || t.id > log.to);
}

/**
 * The entries as the person should see them: with their own changes applied before the server has confirmed them.
 * @param {Log} log @param {Task[]} outbox tasks of this group @param {string} me @returns {Entry[]}
 */
export function overlaid(log, outbox, me) {
  const changes = outbox.filter((t) => t.kind !== "text" && t.problem === undefined);
  const entries = [...log.entries.values()].map((e) => {
    const own = changes.filter((t) => t.target === e.id);
    return own.length === 0 ? e : own.reduce(changed, e);
  });
  const held = new Set(entries.map((e) => e.client_id).filter(Boolean));
  for (const t of outbox) {
    if (t.kind === "text" && !held.has(t.client_id)) entries.push(unsent(t, me));
  }
  return entries;
}

/** @param {Entry} e @param {Task} t @returns {Entry} */
function changed(e, t) {
  if (t.kind !== "reaction") return { ...revised(e, t, t.queued_at), pending: "waiting" };
  const mine = e.reactions.get(t.emoji ?? "")?.mine ?? false;
  if (mine === !t.removed) return e;
  return { ...e, reactions: react(e.reactions, t.emoji ?? "", t.removed ? -1 : 1, true) };
}

/** @param {Task} t @param {string} me @returns {Entry} */
function unsent(t, me) {
  const pending = t.problem ? "failed" : t.id ? undefined : "waiting";
  const { group, ...message } = wire(t);
  return { ...message, files: t.files, kind: "text", id: t.id ?? 0, from: me, sent_at: t.queued_at, at: 0, reactions: new Map(), pending, problem: t.problem };
}
