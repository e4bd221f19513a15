/** Deletions that can still be taken back. They are made once their time is over, or with the next start of the page. */
import type { Chatd } from "@chatd/client";
import { keep, keysOf } from "./kept.ts";
import { useSyncExternal } from "./hooks.ts";

const UNDO_MS = 6000;
const PREFIX = "chatd.removal ";

type Held = { timer: ReturnType<typeof setTimeout>; run: () => void };
const held = new Map<string, Held>();
const listeners = new Set<() => void>();
/** Ids by group: another set whenever one of that group begins or ends to wait. */
const waiting = new Map<string, ReadonlySet<number>>();
const none: ReadonlySet<number> = new Set();
const keyOf = (me: string, group: string, id: number): string => `${PREFIX}${JSON.stringify([me, group, id])}`;

function mark(group: string, id: number, on: boolean): void {
  const ids = new Set(waiting.get(group));
  if (on) ids.add(id);
  else ids.delete(id);
  waiting.set(group, ids);
  for (const fn of [...listeners]) fn();
}

/** Deletes a message of one's own, a little later. failed: what to do where it can't even be queued. */
export function removeSoon(chat: Chatd, me: string, group: string, id: number, failed: (err: Error) => void): void {
  const key = keyOf(me, group, id);
  if (held.has(key)) return;
  const run = () => {
    clearTimeout(held.get(key)?.timer);
    held.delete(key);
    void chat.group(group).delete(id).then(() => keep(key, undefined), failed).finally(() => mark(group, id, false));
  };
  keep(key, 1);
  held.set(key, { timer: setTimeout(run, UNDO_MS), run });
  mark(group, id, true);
}

export function takeBack(me: string, group: string, id: number): void {
  const key = keyOf(me, group, id);
  clearTimeout(held.get(key)?.timer);
  held.delete(key);
  keep(key, undefined);
  mark(group, id, false);
}

/** The messages of a group that are about to be deleted. */
export function useRemovals(group: string): ReadonlySet<number> {
  return useSyncExternal(subscribe, () => waiting.get(group) ?? none);
}
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Makes the deletions that wait: with the end of a session. */
export function removeNow(): void {
  for (const { run } of [...held.values()]) run();
}

/** Makes those that a tab did not come to before it was closed; not those that another tab still holds back. */
export function removeLeft(chat: Chatd, me: string): void {
  for (const key of keysOf(PREFIX)) {
    const [owner, group, id] = JSON.parse(key.slice(PREFIX.length)) as [string, string, number];
    if (owner !== me || held.has(key)) continue;
    setTimeout(() => {
      if (!held.has(key) && keysOf(key).length > 0) void chat.group(group).delete(id).finally(() => keep(key, undefined)).catch(() => {}); // it is gone, or was never there
    }, UNDO_MS);
  }
}
