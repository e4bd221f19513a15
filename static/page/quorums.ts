/** Messages that shall be read, as far as this browser knows: the person asked for it here, or an item of the inbox says so. */
import type { Chatd } from "@chatd/client";
import { useSyncExternal } from "./hooks.ts";
import { load, save, watch } from "./saved.ts";

const MOST = 200;

let known: readonly string[] = load("quorums") ?? [];
const listeners = new Set<() => void>();

function take(next: readonly string[]): void {
  known = next;
  for (const fn of [...listeners]) fn();
}
watch("quorums", (next) => take(next ?? []));
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Whether there may be something to show at a message. */
export const useQuorum = (group: string, id: number): boolean => useSyncExternal(subscribe, () => known.includes(`${group} ${id}`));

export function keepQuorum(group: string, id: number, on = true): void {
  const key = `${group} ${id}`;
  if (known.includes(key) === on) return;
  take(on ? [...known, key].slice(-MOST) : known.filter((k) => k !== key));
  save("quorums", known);
}

/** For signing out. */
export function dropQuorums(): void {
  take([]);
  save("quorums", null);
}

/** Keeps those that the inbox names; returns how to stop. */
export function followQuorums(chat: Chatd): () => void {
  const look = ({ kind, group, id }: { kind: string; group?: string; id?: number }) => {
    if (kind === "quorum" && group && id) keepQuorum(group, id);
  };
  for (const item of chat.snapshot().inbox.items) look(item);
  return chat.on("inbox", look);
}
