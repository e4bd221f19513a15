/** What was said last in a group, in one line. */
import type { GroupState, Message } from "@chatd/client";
import { plain } from "./markdown.ts";
import { noticeText } from "./notices.ts";
import { nameIn, textOf, type People } from "./people.ts";
import { say } from "./say.ts";

const MAX_CHARS = 120;

/** who: "" where the text says it all. They are apart, because each has a direction of its own. */
export function previewOf(g: GroupState, me: string, people: People, blocked: ReadonlySet<string>): { who: string; text: string } {
  const m = g.last_message;
  if (!m) return { who: "", text: say("No messages yet", "还没有消息") };
  const nameOf = (user: string) => (user === me ? say("You", "您") : textOf(people, user));
  if (m.kind === "notice") return { who: "", text: noticeText(m as any, nameOf) };
  if (blocked.has(m.from)) return { who: "", text: say("Message of a blocked person", "已屏蔽的人的消息") };
  const who = g.direct && m.from !== me ? "" : nameOf(m.from);
  return { who, text: m.deleted_at ? say("message deleted", "消息已删除") : oneLine(m, people) };
}

/** A message without line breaks and marks, and with names in the place of ids. */
export function oneLine(m: { readonly [K in "body" | "files" | "mentions"]?: Message[K] | undefined }, people: People): string {
  const text = m.body ? plain(m.body.slice(0, 4 * MAX_CHARS), m.mentions, nameIn(people)) : m.files?.map((f) => f.name).join(", ") || say("Data", "数据");
  return text.replaceAll(/\s+/g, " ").slice(0, MAX_CHARS);
}
