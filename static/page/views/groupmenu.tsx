/** What a person wants to be notified of in a group, and on a narrow screen all else that can be opened of it. */
import type { Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { mute } from "../muted.ts";
import { openPanel, type Panel } from "../route.ts";
import { save } from "../saved.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { star, useStarred } from "../starred.ts";
import { problemOf } from "../ui/confirm.tsx";
import type { IconName } from "../ui/icons.ts";
import { menuKeys } from "../ui/menukeys.ts";
import { Icon, Popover } from "../ui/parts.tsx";
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

/** The level is asked for as it opens: most groups are never changed. */
export function GroupMenu({ anchor, group, label, all, direct, onClose }: {
  anchor: { readonly current: HTMLElement | null }; group: string; label: string; all: boolean; direct: boolean; onClose: () => void;
}) {
  const { chat, me, features, toast } = useSession();
  const [now, setNow] = useState<Wire.Notify | null>(null);
  const starred = useStarred(me).includes(group);
  const api = chat.group(group);
  const failed = (err: unknown) => {
    onClose();
    toast(problemOf(err), { bad: true });
  };
  function take(set: Wire.Notify): void {
    mute(me, group, set);
    setNow(set);
  }
  useEffect(() => void api.notifies().then(take, failed), []);
  function choose({ level, hours }: Choice): void {
    onClose();
    void api.notify({ level, ...(hours && { until: new Date(Date.now() + hours * HOUR_MS).toISOString() }) })
      .then((set) => { save("levels", Date.now()); take(set); }, failed);
  }
  const opens = (name: Panel, icon: IconName, text: string) =>
    <button type="button" role="menuitem" data-open={name} data-focus="" onClick={() => { onClose(); openPanel(name); }}><Icon name={icon} />{text}</button>;
  const until = now?.until ?? null;
  if (!now && !all) return null;
  return (
    <Popover anchor={anchor} name="actions" label={label} onClose={onClose}>
      <div class="menu" role="menu" aria-label={label} onKeyDown={menuKeys}>
        {all && <>
          {features.includes("search") && opens("search", "search", say("Search in this group", "在此群组中搜索"))}
          {opens("pins", "pin", say("Pinned messages", "置顶消息"))}
          {opens("files", "file", say("Files", "文件"))}
          {!direct && opens("settings", "gear", say("Group settings", "群组设置"))}
          <button type="button" role="menuitem" name="star" onClick={() => { onClose(); star(me, group, !starred); }}><Icon name="star" />
            {starred ? say("Remove from favourites", "移出收藏") : say("Add to favourites", "加入收藏")}</button>
          <span class="quiet menu-head" role="presentation">{say("Notify me of", "通知我")}</span>
        </>}
        {CHOICES.map((c) => {
          const on = c.level === now?.level && !c.hours && !until;
          return <button key={c.name} type="button" role="menuitemradio" aria-checked={on} name={c.name} disabled={!now} data-focus={on && !all ? "" : undefined} onClick={() => choose(c)}>{c.label}{on && <Icon name="check" />}</button>;
        })}
        {until && <small class="quiet">{say(`Nothing until ${whenText(new Date(until))}`, `静音至 ${whenText(new Date(until))}`)}</small>}
      </div>
    </Popover>
  );
}
