/**
 * Which groups the person has asked to join from this browser. The server does not tell them before the answer, which comes as an
 * item of the inbox.
 */
import type { InboxItem } from "@chatd/client";
import { useEffect } from "preact/hooks";
import { useSnapshot, useSyncExternal } from "./hooks.ts";
import { load, save, watch } from "./saved.ts";
import { useSession } from "./session.ts";

/** When, by group. */
type Asked = Readonly<Record<string, string>>;

/** How long a request stays open. */
const OPEN_MS = 30 * 86_400_000;

const none: Asked = {};
let all: Readonly<Record<string, Asked>> = load("asked") ?? {};
const listeners = new Set<() => void>();

function take(next: typeof all): void {
  all = next;
  for (const fn of listeners) fn();
}
watch("asked", (next) => take(next ?? {}));
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** at: null: they ask no longer. */
export function setAsked(me: string, group: string, at: string | null): void {
  const { [group]: _, ...others } = all[me] ?? none;
  take({ ...all, [me]: at === null ? others : { ...others, [group]: at } });
  save("asked", all);
}

/** Those that wait no longer: answered, entered in another way, or too old. */
const over = (asked: Asked, items: readonly Pick<InboxItem, "kind" | "group" | "sent_at">[], mine: ReadonlySet<string>, nowMs: number): string[] =>
  Object.entries(asked).filter(([group, at]) => mine.has(group) || nowMs - Date.parse(at) > OPEN_MS
    || items.some((i) => i.kind === "request" && i.group === group && i.sent_at >= at)).map(([group]) => group);

/** The groups that wait for an answer. */
export function useAsked(): Asked {
  const { me } = useSession();
  const asked = useSyncExternal(subscribe, () => all[me] ?? none);
  const items = useSnapshot((s) => s.inbox.items);
  const groups = useSnapshot((s) => s.groups);
  useEffect(() => {
    for (const group of over(asked, items, new Set(groups.map((g) => g.id)), Date.now())) setAsked(me, group, null);
  }, [me, asked, items, groups]);
  return asked;
}
