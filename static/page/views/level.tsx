/** What a person wants to be told of a group. */
import type { Wire } from "@chatd/client";
import { useRef, useState } from "preact/hooks";
import { save } from "../saved.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Icon, IconButton, Popover } from "../ui/parts.tsx";
import { whenText } from "./when.ts";

const HOUR_MS = 3_600_000;
type Choice = { name: string; label: string; level: Wire.Notify["level"]; hours?: number };
const CHOICES: Choice[] = [
  { name: "all", label: say("All messages", "所有消息"), level: "all" },
  { name: "mentions", label: say("Mentions only", "仅提及"), level: "mentions" },
  { name: "none", label: say("Nothing", "不通知"), level: "none" },
  { name: "hour", label: say("Nothing for an hour", "静音 1 小时"), level: "none", hours: 1 },
  { name: "day", label: say("Nothing for a day", "静音 1 天"), level: "none", hours: 24 },
];

/** Asked for when it is first opened: most groups are never changed. */
export function Level({ group }: { group: string }) {
  const { chat, toast } = useSession();
  const [now, setNow] = useState<Wire.Notify | null>(null);
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLSpanElement>(null);
  const api = chat.group(group);
  const failed = (err: unknown) => {
    setOpen(false);
    toast(problemOf(err), { bad: true });
  };
  function show(): void {
    setOpen(!open);
    if (!open) void api.notifies().then(setNow, failed);
  }
  function choose({ level, hours }: Choice): void {
    setOpen(false);
    void api.notify({ level, ...(hours && { until: new Date(Date.now() + hours * HOUR_MS).toISOString() }) })
      .then((set) => { save("levels", Date.now()); setNow(set); }, failed);
  }
  const until = now?.until ?? null;
  return (
    <span ref={ref} class="wide-only">
      <IconButton icon={now?.level === "none" ? "bell-off" : "bell"} label={say("Notifications of this group", "此群组的通知")} aria-expanded={open} aria-haspopup="menu" onClick={show} />
      {open && now && (
        <Popover anchor={ref} name="menu" role="menu" label={say("Notifications of this group", "此群组的通知")} onClose={() => setOpen(false)}>
          {CHOICES.map((c) => {
            const on = c.level === now.level && !c.hours && !until;
            return <button key={c.name} type="button" role="menuitemradio" aria-checked={on} name={c.name} data-focus={on ? "" : undefined} onClick={() => choose(c)}>{c.label}{on && <Icon name="check" />}</button>;
          })}
          {until && <small class="quiet">{say(`Nothing until ${whenText(new Date(until))}`, `静音至 ${whenText(new Date(until))}`)}</small>}
        </Popover>
      )}
    </span>
  );
}
