/** What a person has begun to write, by group. It outlives the tab: each change is kept at once. */
import type { FileInfo, MessageItem } from "@chatd/client";
import { useMemo } from "preact/hooks";
import { useSyncExternal } from "./hooks.ts";
import { keep, keysOf, recall } from "./kept.ts";
import { useSession } from "./session.ts";

/** What is needed of a message to answer it. */
export type Target = Pick<MessageItem, "id" | "from" | "body" | "mentions" | "files">;
/** A message as a draft keeps it. */
export const targetOf = ({ id, from, body, mentions, files }: Target): Target => ({ id, from, body, mentions, files });
export type Draft = {
  readonly text: string;
  readonly reply?: Target | undefined;
  /** Uploaded already. */
  readonly files?: readonly FileInfo[] | undefined;
  /** When it was changed last, ms: its revision. */
  readonly at: number;
  /** The revision that the server has; 0: it may have one, undefined: it has none. Files are not part of that. */
  readonly kept?: number | undefined;
};

/** Of one person; the oldest make room. */
const DRAFTS_MAX = 100;
const PREFIX = "chatd.draft ";

/** What is begun in a thread is kept under a name of its own, on this device: the server keeps one draft of a group. */
export const inThread = (group: string, root: number): string => `${group}/t/${root}`;
/** The group and the root of such a name; no id of a group has a slash. */
export function placeOfDraft(name: string): { group: string; root: number } {
  const [group = "", , root] = name.split("/");
  return { group, root: Number(root ?? 0) };
}

const known = new Map<string, Draft | undefined>();
const listeners = new Map<string, Set<() => void>>();
/** What hears of changes; taken: from another device, or tab. */
const hearers = new Set<(group: string, taken: boolean) => void>();
export function onDraft(fn: (group: string, taken: boolean) => void): () => void {
  hearers.add(fn);
  return () => void hearers.delete(fn);
}
const keyOf = (user: string, group: string): string => `${PREFIX}${JSON.stringify([user, group])}`;

function read(key: string): Draft | undefined {
  if (!known.has(key)) {
    const kept = recall<Draft>(key);
    known.set(key, typeof kept?.text === "string" ? kept : undefined);
  }
  return known.get(key);
}

const filled = (draft: Draft | undefined): Draft | undefined =>
  (draft && (draft.text.trim() !== "" || draft.reply || (draft.files?.length ?? 0) > 0) ? draft : undefined);

/** What a person has begun to write in a group; undefined: nothing. */
export const draftOf = (user: string, group: string): Draft | undefined => filled(read(keyOf(user, group)));

/** The same, also where it is empty by now, and the server is not known to know. */
export const changeOf = (user: string, group: string): Draft | undefined => read(keyOf(user, group));

/** Changes a part of a draft. One without anything in it is none. */
export function setDraft(user: string, group: string, change: Partial<Omit<Draft, "at">>): void {
  const key = keyOf(user, group);
  const before = read(key);
  const next = { text: "", ...before, ...change, at: Math.max(Date.now(), (before?.at ?? 0) + 1) };
  if (!filled(next) && !before) return;
  if (before && !change.files && next.text === before.text && next.reply?.id === before.reply?.id) return;
  if (!before) makeRoom(user);
  put(key, filled(next) || next.kept !== undefined ? next : undefined);
  for (const fn of hearers) fn(group, false);
}

/** Takes over what the server has, or what was begun on another device; undefined: nothing any longer. */
export function takeDraft(user: string, group: string, draft: Draft | undefined): void {
  put(keyOf(user, group), draft);
  for (const fn of hearers) fn(group, true);
}

function put(key: string, draft: Draft | undefined): void {
  known.set(key, draft);
  keep(key, draft);
  tell(key);
}

/** All that a person has begun to write, the newest first. */
export const draftsOf = (user: string): { group: string; draft: Draft }[] => changesOf(user).filter((d) => filled(d.draft));

/** The same, with those that are empty by now. */
export function changesOf(user: string): { group: string; draft: Draft }[] {
  return keysOf(PREFIX).flatMap((key) => {
    const [owner, group] = JSON.parse(key.slice(PREFIX.length)) as [string, string];
    const draft = owner === user ? read(key) : undefined;
    return draft ? [{ group, draft }] : [];
  }).sort((a, b) => b.draft.at - a.draft.at);
}

const makeRoom = (user: string): void => drop(user, changesOf(user).slice(DRAFTS_MAX - 1));

/** Deletes all that a person has begun to write. */
export const dropDrafts = (user: string): void => drop(user, changesOf(user));

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
  const [, group] = JSON.parse(e.key.slice(PREFIX.length)) as [string, string];
  for (const fn of hearers) fn(group, true);
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

/** What keeps drafts the same on all devices. */
export const drafts = { changeOf, changesOf, onDraft, takeDraft, targetOf };
export type Drafts = typeof drafts;

/** What is begun in a group; of none, nothing. */
export function useDraft(group: string): Draft | undefined {
  const key = keyOf(useSession().me, group);
  const subscribe = useMemo(() => subscriberOf(key), [key]);
  return useSyncExternal(subscribe, () => filled(read(key)));
}
