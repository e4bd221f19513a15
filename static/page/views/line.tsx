/** Lines between messages. */
import { useState } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { dayKey, fullTime } from "../format.ts";
import { FOLDED_FROM } from "../lines.ts";
import { noticesText, noticeText } from "../notices.ts";
import { useNames } from "../people.ts";
import { counted, language, say } from "../say.ts";

const DAY_MS = 86_400_000;

/** "Today", "Yesterday", or the date. */
function dayName(at: string): string {
  const [then, now] = [new Date(at), new Date()];
  if (dayKey(at) === dayKey(now.toISOString())) return say("Today", "今天");
  if (dayKey(at) === dayKey(new Date(now.getTime() - DAY_MS).toISOString())) return say("Yesterday", "昨天");
  const year = then.getFullYear() === now.getFullYear() ? ({ weekday: "long" } as const) : ({ year: "numeric" } as const);
  return new Intl.DateTimeFormat(language === "zh" ? "zh" : undefined, { day: "numeric", month: "long", ...year }).format(then);
}

export const DayLine = ({ at }: { at: string }) => <li class="line day"><span>{dayName(at)}</span></li>;
export const NewLine = () => <li class="line new"><span>{say("New", "新消息")}</span></li>;

/** Notices or deleted messages in a row: one line, which opens where they are many. */
export function Folded({ id, type, items }: { id: string; type: "notices" | "deleted"; items: readonly MessageItem[] }) {
  const [open, setOpen] = useState(false);
  const nameOf = useNames(items.flatMap((e) => [e.from, e.user ?? "", ...(e.users ?? [])]));
  const textOf = (e: MessageItem) => (type === "notices" ? noticeText(e, nameOf) : say(`A message of ${nameOf(e.from)} was deleted`, `${nameOf(e.from)} 的一条消息已删除`));
  const fold = items.length >= FOLDED_FROM;
  const first = items[0]!;
  return (
    <li class={type === "notices" ? "line notice" : "line deleted"} data-key={id} data-id={type === "deleted" ? first.id : undefined}>
      {fold && (
        <button type="button" class="text-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {type === "notices" ? noticesText(items, nameOf) : counted(items.length, "message was deleted", "messages were deleted", "条消息已删除")}
        </button>
      )}
      {(!fold || open) && items.map((e) => <p key={e.key} title={fullTime(e.sent_at)}>{textOf(e)}</p>)}
    </li>
  );
}
