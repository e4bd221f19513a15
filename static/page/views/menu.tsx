/** The menu of a message: everything that can be done with it. Loaded when it is first opened, and that of a group with it. */
import "../whole.ts";
import type { MessageItem } from "@chatd/client";
import { useBlocked } from "../blocked.ts";
import { useSnapshot } from "../hooks.ts";
import { openPanel, pathOf, placeOf } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { menuKeys } from "../ui/menukeys.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Icon, Popover } from "../ui/parts.tsx";
import type { RowActions } from "./row.tsx";

export { GroupMenu } from "./groupmenu.tsx";

type Choice = { icon: IconName; label: string; key?: string; danger?: boolean; run: () => void };

export function Menu({ item, mine, manages, on, anchor, onClose }: {
  item: MessageItem; mine: boolean; manages: boolean; on: RowActions; anchor: { readonly current: HTMLElement | null }; onClose: () => void;
}) {
  const { chat, features, toast } = useSession();
  const pins = useSnapshot((s) => s.groups.find((g) => g.id === item.group)?.pins);
  const blocked = useBlocked().has(item.from);
  const copy = (text: string) => void navigator.clipboard.writeText(text).then(() => toast(say("Copied", "已复制")), () => toast(say("The browser does not allow copying here.", "浏览器不允许复制。"), { bad: true }));
  const pin = () => void chat.group(item.group).pins.put(item.id)
    .then(() => toast(say("Pinned. See “Pinned messages”.", "已置顶，可在“置顶消息”中查看。")), (err) => toast(problemOf(err), { bad: true }));
  const choices: Choice[] = [
    { icon: "smile", label: say("Add reaction", "添加回应"), key: "+", run: () => on.show(item.key, "picker") },
    { icon: "reply", label: say("Reply", "回复"), key: "r", run: () => on.reply(item) },
    ...(on.thread ? [{ icon: "thread" as const, label: say("Reply in thread", "在消息列中回复"), key: "t", run: () => on.thread!(item) }] : []),
    ...(mine && item.kind === "text" ? [{ icon: "pencil" as const, label: say("Edit", "编辑"), key: "e", run: () => on.edit(item) }] : []),
    ...(item.body ? [{ icon: "copy" as const, label: say("Copy text", "复制文本"), run: () => copy(item.body!) }] : []),
    { icon: "link", label: say("Copy link", "复制链接"), run: () => copy(location.origin + pathOf(placeOf(item))) },
    ...(item.body !== undefined || item.data !== undefined || item.files ? [{ icon: "forward" as const, label: say("Forward…", "转发…"), run: () => on.ask({ item, what: "forward" }) }] : []),
    ...(features.includes("schedules") ? [{ icon: "clock" as const, label: say("Remind me…", "提醒我…"), run: () => on.ask({ item, what: "remind" }) }] : []),
    ...(on.unread ? [{ icon: "bell" as const, label: say("Mark unread from here", "从此处标为未读"), key: "u", run: () => on.unread!(item) }] : []),
    ...(manages || pins === "members" ? [{ icon: "pin" as const, label: say("Pin to the group", "在群组中置顶"), run: pin }] : []),
    ...(mine || manages ? [{ icon: "check" as const, label: say("Ask for reading…", "要求阅读…"), run: () => on.ask({ item, what: "quorum" }) }] : []),
    { icon: "eye", label: say("View read receipts", "查看已读情况"), run: () => openPanel("receipts", item.id) },
    ...(mine || !item.from || item.via ? [] : [{ icon: "shield" as const, label: blocked ? say("Unblock…", "取消屏蔽…") : say("Block…", "屏蔽…"), run: () => on.show(item.key, "block") }]),
    ...(manages && !mine && item.from ? [
      { icon: "bell-off" as const, label: say("Mute the author…", "将作者禁言…"), run: () => on.ask({ item, what: "mute" }) },
      { icon: "leave" as const, label: say("Ban the author…", "封禁作者…"), danger: true, run: () => on.ask({ item, what: "ban" }) },
    ] : []),
    ...(mine || !item.from || item.via ? [] : [{ icon: "alert" as const, label: say("Report…", "举报…"), run: () => on.ask({ item, what: "report" }) }]),
    ...(mine || manages ? [{ icon: "bin" as const, label: say("Delete", "删除"), danger: true, run: () => on.show(item.key, "delete") }] : []),
  ];
  return (
    <Popover anchor={anchor} name="actions" label={say("Actions for this message", "消息操作")} onClose={onClose}>
      <div class="menu" role="menu" onKeyDown={menuKeys}>
        {choices.map((c, i) => (
          <button type="button" key={c.label} role="menuitem" class={c.danger ? "danger" : undefined} aria-label={c.label} data-key={c.key} data-focus={i === 0 ? "" : undefined}
            onClick={() => { onClose(); c.run(); }}><Icon name={c.icon} />{c.label}</button>
        ))}
      </div>
    </Popover>
  );
}
