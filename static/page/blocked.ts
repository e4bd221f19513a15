/** Whom the person blocks: what they say in groups is folded. The server has the list; what was known last is shown until it answers. */
import type { Chatd } from "@chatd/client";
import { useSyncExternal } from "./hooks.ts";
import { load, save, watch } from "./saved.ts";
import { say } from "./say.ts";
import type { Question } from "./ui/confirm.tsx";

const PAGE = 1000;

const read = (): ReadonlySet<string> => new Set(load("blocked") ?? []);
let blocked = read();
const listeners = new Set<() => void>();
const now = () => blocked;

function take(next: ReadonlySet<string>): void {
  blocked = next;
  for (const fn of [...listeners]) fn();
}
watch("blocked", () => take(read()));

function set(next: ReadonlySet<string>): void {
  save("blocked", next.size > 0 ? [...next] : null);
  take(next);
}

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** The same set until it changes. */
export const useBlocked = (): ReadonlySet<string> => useSyncExternal(subscribe, now);

/** Asks the server; with the start of the page. */
export async function loadBlocked({ blocks }: Pick<Chatd, "blocks">): Promise<void> {
  take(read());
  const users = new Set<string>();
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Awaited<ReturnType<typeof blocks.list>> = await blocks.list({ limit: PAGE, ...(cursor && { cursor }) });
    for (const b of page.blocks) users.add(b.user);
    cursor = page.next;
  }
  set(users);
}

export async function block({ blocks }: Pick<Chatd, "blocks">, user: string, on: boolean): Promise<void> {
  await (on ? blocks.put(user) : blocks.delete(user));
  const next = new Set(blocked);
  if (on) next.add(user);
  else next.delete(user);
  set(next);
}

/** Asks before somebody is blocked, or no longer is. */
export const blockQuestion = (chat: Pick<Chatd, "blocks">, user: string, name: string, on: boolean): Question => on
  ? {
    title: say(`Block ${name}?`, `屏蔽 ${name}？`), button: say("Block", "屏蔽"), danger: true, run: () => block(chat, user, true),
    text: say("They can’t send you direct messages, add you to groups or notify you by mentioning you. What they write in groups is folded. They aren’t told.", "对方无法向您发送私信、将您加入群组，提及您时也不会通知您；其在群组中的消息会被折叠。对方不会收到通知。"),
  }
  : {
    title: say(`Unblock ${name}?`, `取消屏蔽 ${name}？`), button: say("Unblock", "取消屏蔽"), run: () => block(chat, user, false),
    text: say("They can send you direct messages and mention you again.", "对方可以再次向您发送私信和提及您。"),
  };
