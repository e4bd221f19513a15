/** From what a person wrote to what is sent. */
import type { Chatd, MessageItem } from "@chatd/client";
import { mentionsIn } from "../format.ts";
import { ALL } from "../mentions.ts";
import type { Mentionable } from "./complete.tsx";
import { type People, withIds } from "../people.ts";
import { atWords, wordAt } from "./text.ts";

/** Messages among which one's own last one is looked for. */
const OWN_AMONG = 100;

/**
 * A text that names people, with their ids, and whom it mentions. The server counts only members among them, so where these are not
 * known the message does not wait for that.
 */
export function addressed(text: string, people: People, members: Mentionable | null): { body: string; mentions?: string[] } {
  const users = members?.complete ? members.users : new Set([...(members?.users ?? []), ...people.known.keys(), ...atWords(text).map(({ word }) => word)]);
  const body = withIds(text, people, users);
  const mentions = mentionsIn(body, users);
  if (members?.all && atWords(body).some(({ word }) => word === "all")) {
    return { body, mentions: [ALL, ...mentions.filter((user) => user !== "all")].slice(0, 50) };
  }
  return { body, ...(mentions.length > 0 && { mentions }) };
}

/** The words with an @ that mention nobody, but for the one that is being written. */
export function strangersIn(text: string, caret: number, people: People, users: readonly string[]): string[] {
  const now = wordAt(text, caret)?.word;
  const words = atWords(withIds(text, people, users)).map(({ word }) => word);
  return [...new Set(words)].filter((word) => word !== now && mentionsIn(`@${word}`, users).length === 0).slice(0, 3);
}

const editable = (m: MessageItem): boolean => m.kind === "text" && !m.deleted_at;

/** The newest message of one's own that counts, if not said otherwise one that can be changed; null: there is none among the last ones. */
export async function lastOwn(chat: Chatd, group: string, me: string, counts = editable): Promise<MessageItem | null> {
  const timeline = chat.group(group).timeline({ at: "end", max: OWN_AMONG });
  try {
    await timeline.jump("end"); // it is loaded then
    return timeline.snapshot().items.findLast((i): i is MessageItem => i.type === "message" && i.from === me && i.state === "sent" && counts(i)) ?? null;
  } catch {
    return null;
  } finally {
    timeline.close();
  }
}
