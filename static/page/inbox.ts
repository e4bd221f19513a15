/** Which items of the inbox are still to be looked at. An item is done when what it is about was read, wherever that was. */
import type { Chatd, GroupState, InboxItem, Snapshot } from "@chatd/client";
import { useEffect } from "preact/hooks";
import { isFor } from "./mentions.ts";
import { load, save, watch } from "./saved.ts";
import { useSnapshot, useSyncExternal } from "./hooks.ts";
import { useSession } from "./session.ts";

/** What a person has done with in another order than the items came: the inbox itself only knows a position. */
type Done = { user: string; seqs: readonly number[] };
const nothing: Done = { user: "", seqs: [] };
let done: Done = load("inbox-done") ?? nothing;
const listeners = new Set<() => void>();

function take(next: Done): void {
  done = next;
  for (const fn of listeners) fn();
}
watch("inbox-done", (next) => take(next ?? nothing));
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Replies that mention the person, and the roots of their threads: an item does not say where it is. */
const replies = new Map<string, number>(load("inbox-replies") ?? []);
const REPLIES_MAX = 200;

/** Reading a group reads no thread of it. */
function isUnread({ id = 0 }: InboxItem, group: GroupState): boolean {
  const root = replies.get(`${group.id} ${id}`);
  return (root && group.unreadThreads?.includes(root)) || (!!root && !group.unreadThreads && (group.threads_unread ?? 0) > 0) || group.read < id;
}

export function isOpen(item: InboxItem, group: GroupState | undefined, seqs: ReadonlySet<number>): boolean {
  if (seqs.has(item.seq)) return false;
  if (item.kind === "mention") return group !== undefined && isUnread(item, group);
  if (released(item)) return group !== undefined && group.read < (item.id ?? 0);
  if (item.kind === "added") return group !== undefined && group.read < group.last;
  return true;
}

/** A message of the person's own that a moderator let through. */
const released = (item: InboxItem): boolean => item.kind === "review" && item.group !== undefined && (item.data as { state?: string }).state === "released";

/** The open ones, oldest first. */
export function openItems({ inbox, groups, me }: Pick<Snapshot, "inbox" | "groups" | "me">, { user, seqs } = done): InboxItem[] {
  const byId = new Map(groups.map((g) => [g.id, g]));
  const hidden = new Set(user === me ? seqs : []);
  return inbox.items.filter((i) => isOpen(i, byId.get(i.group ?? ""), hidden));
}

let last: { snapshot: Snapshot | null; done: Done; items: InboxItem[] } = { snapshot: null, done: nothing, items: [] };

/** The same array until it holds others. */
function openNow(snapshot: Snapshot): InboxItem[] {
  if (last.snapshot !== snapshot || last.done !== done) {
    const items = openItems(snapshot);
    const same = items.length === last.items.length && items.every((i, at) => i === last.items[at]);
    last = { snapshot, done, items: same ? last.items : items };
  }
  return last.items;
}

export function useOpenItems(): readonly InboxItem[] {
  const { chat } = useSession();
  useSyncExternal(subscribe, () => done);
  return useSyncExternal(chat.subscribe, () => openNow(chat.snapshot()));
}

/** The person is done with these. */
export function finish(chat: Chatd, items: readonly InboxItem[]): void {
  const { me, inbox } = chat.snapshot();
  const held = new Set(inbox.items.map((i) => i.seq)); // the others are acked
  const seqs = new Set([...(done.user === me ? done.seqs : []), ...items.map((i) => i.seq)].filter((seq) => held.has(seq)));
  take({ user: me, seqs: [...seqs] });
  save("inbox-done", done);
}

/** The last item of those that are done at the beginning of the inbox. One of a group that is not known may be of one that is only not loaded yet. */
function doneTo({ inbox, groups, me }: Snapshot): number | undefined {
  const byId = new Map(groups.map((g) => [g.id, g]));
  const hidden = new Set(done.user === me ? done.seqs : []);
  const first = inbox.items.findIndex((i) => !hidden.has(i.seq) && ((i.group !== undefined && !byId.has(i.group)) || isOpen(i, byId.get(i.group ?? ""), hidden)));
  return inbox.items[first < 0 ? inbox.items.length - 1 : first - 1]?.seq;
}

/** Acks what is done, as far as nothing that is open lies below. Shown once. */
export function useInboxAcks(): void {
  const { chat, me } = useSession();
  useSyncExternal(subscribe, () => done);
  useEffect(() => chat.on("message", (m) => {
    if (!m.thread || !isFor(m, me)) return;
    replies.set(`${m.group} ${m.id}`, m.thread);
    save("inbox-replies", [...replies].slice(-REPLIES_MAX));
  }), [chat]);
  const live = useSnapshot((s) => s.connection.phase === "live");
  const upTo = useSnapshot(doneTo);
  useEffect(() => {
    if (live && upTo !== undefined) chat.inbox.ack(upTo).catch(() => {}); // it stays, and is acked the next time
  }, [live, upTo]);
}
