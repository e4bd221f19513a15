/** What a person has begun to write, by group. It outlives the tab: each change is kept at once. */
import type { FileInfo, MessageItem } from "@chatd/client";
import { useMemo } from "preact/hooks";
import { useSyncExternal } from "./hooks.ts";
import { keep, keysOf, recall } from "./kept.ts";
import { useSession } from "./session.ts";

/** What is needed of a message to answer it. */
export type Target = Pick<MessageItem, "id" | "from" | "body" | "mentions" | "files">;
export type Draft = {
  readonly text: string;
  readonly reply?: Target | undefined;
  /** Uploaded already. */
  readonly files?: readonly FileInfo[] | undefined;
  /** When it was changed last, ms. */
  readonly at: number;
};

/** Of one person; the oldest make room. */
const DRAFTS_MAX = 100;
const PREFIX = "chatd.draft ";

const known = new Map<string, Draft | undefined>();
const listeners = new Map<string, Set<() => void>>();
const keyOf = (user: string, group: string): string => `${PREFIX}${JSON.stringify([user, group])}`;

function read(key: string): Draft | undefined {
  if (!known.has(key)) {
    const kept = recall<Draft>(key);
    known.set(key, typeof kept?.text === "string" ? kept : undefined);
  }
  return known.get(key);
}

/** What a person has begun to write in a group; undefined: nothing. */
export const draftOf = (user: string, group: string): Draft | undefined => read(keyOf(user, group));

/** Changes a part of a draft. One without anything in it is none. */
export function setDraft(user: string, group: string, change: Partial<Omit<Draft, "at">>): void {
  const key = keyOf(user, group);
  const before = read(key);
  const next = { text: "", ...before, ...change, at: Date.now() };
  const some = next.text.trim() !== "" || next.reply || (next.files?.length ?? 0) > 0;
  if (!some && !before) return;
  if (some && !before) makeRoom(user);
  known.set(key, some ? next : undefined);
  keep(key, some ? next : undefined);
  tell(key);
}

/** All that a person has begun to write, the newest first. */
export function draftsOf(user: string): { group: string; draft: Draft }[] {
  return keysOf(PREFIX).flatMap((key) => {
    const [owner, group] = JSON.parse(key.slice(PREFIX.length)) as [string, string];
    const draft = owner === user ? read(key) : undefined;
    return draft ? [{ group, draft }] : [];
  }).sort((a, b) => b.draft.at - a.draft.at);
}

const makeRoom = (user: string): void => drop(user, draftsOf(user).slice(DRAFTS_MAX - 1));

/** Deletes all that a person has begun to write. */
export const dropDrafts = (user: string): void => drop(user, draftsOf(user));

function drop(user: string, drafts: { group: string }[]): void {
  for (const { group } of drafts) {
    known.delete(keyOf(user, group));
    keep(keyOf(user, group), undefined);
    tell(keyOf(user, group));
  }
}

function tell(key: string): void {
  for (const fn of [...(listeners.get(key) ?? [])]) fn();
}

addEventListener("storage", (e) => {
  if (!e.key?.startsWith(PREFIX)) return;
  known.delete(e.key);
  tell(e.key);
});

function subscriberOf(key: string): (fn: () => void) => () => void {
  return (fn) => {
    const all = listeners.get(key) ?? new Set();
    listeners.set(key, all.add(fn));
    return () => {
      all.delete(fn);
      if (all.size === 0) listeners.delete(key);
    };
  };
}

/** Whether something is begun in a group. */
export function useHasDraft(group: string): boolean {
  const key = keyOf(useSession().me, group);
  const subscribe = useMemo(() => subscriberOf(key), [key]);
  return useSyncExternal(subscribe, () => read(key) !== undefined);
}
