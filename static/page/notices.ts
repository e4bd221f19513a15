/** What notices of a group say, in the reader's language. */
import type { Json, MessageItem } from "@chatd/client";
import { counted, language, say } from "./say.ts";
import { isForEver, lasting, whenText } from "./views/when.ts";

type NameOf = (user: string) => string;
/** Whom a notice concerns. */
const concerned = (e: MessageItem): readonly string[] => e.users ?? (e.user === undefined ? [] : [e.user]);

/** "bob", "bob and carol", "bob, carol and 3 others". */
export function listOf(names: readonly string[], most = 3): string {
  if (names.length <= 1) return names[0] ?? "";
  const shown = names.length <= most ? names : names.slice(0, most - 1);
  const rest = names.length - shown.length;
  if (language === "zh") return shown.join("、") + (rest > 0 ? ` 等 ${names.length} 人` : "");
  return rest > 0 ? `${shown.join(", ")} and ${rest} others` : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** Notices of one sort say one thing together. */
function sortOf(e: MessageItem): string {
  switch (e.notice) {
    case "joined": return `joined ${e.from === e.user ? "" : e.from}`;
    case "left": return "left";
    case "role": return `role ${e.from} ${e.role === "owner" ? e.id : e.role}`;
    default: return `${e.notice} ${e.from}`;
  }
}

/** What several notices say in one line. */
export function noticesText(notices: readonly MessageItem[], nameOf: NameOf): string {
  const last = notices.at(-1)!;
  if (notices.length === 1) return noticeText(last, nameOf);
  const changes = counted(notices.length, "change to the group", "changes to the group", "项群组变动");
  if (new Set(notices.map(sortOf)).size > 1) return changes;
  const names = listOf([...new Set(notices.flatMap((e): readonly string[] => (e.user || e.users ? concerned(e) : [e.from])))].map(nameOf));
  const by = nameOf(last.from);
  switch (last.notice) {
    case "joined": return last.from === last.user ? say(`${names} joined`, `${names} 加入了群组`) : say(`${by} added ${names}`, `${by} 添加了 ${names}`);
    case "left": return say(`${names} left`, `${names} 离开了群组`);
    case "removed": return say(`${by} removed ${names}`, `${by} 移除了 ${names}`);
    case "role": return last.role === "admin" ? say(`${names} are now admins`, `${names} 成为管理员`) : say(`${names} are now members`, `${names} 成为普通成员`);
    case "settings": return say(`${by} changed the settings ${notices.length} times`, `${by} 更改了 ${notices.length} 次设置`);
    default: return changes;
  }
}

export function noticeText(e: MessageItem, nameOf: NameOf): string {
  const names = listOf(concerned(e).map(nameOf));
  const [by, user] = [nameOf(e.from), nameOf(e.user ?? "")];
  switch (e.notice) {
    case "created": return say(`${by} created the group`, `${by} 创建了群组`);
    case "joined": return e.from === e.user ? say(`${by} joined`, `${by} 加入了群组`) : say(`${by} added ${names}`, `${by} 添加了 ${names}`);
    case "left": return say(`${nameOf(e.user ?? e.from)} left`, `${nameOf(e.user ?? e.from)} 离开了群组`);
    case "removed": return say(`${by} removed ${names}`, `${by} 移除了 ${names}`);
    case "role":
      if (e.role === "owner") return say(`${user} is now the owner`, `${user} 成为群主`);
      return e.role === "admin" ? say(`${user} is now an admin`, `${user} 成为管理员`) : say(`${user} is now a member`, `${user} 成为普通成员`);
    case "muted": return !e.muted_until ? say(`${by} lets ${user} write again`, `${by} 解除了 ${user} 的禁言`)
      : isForEver(e.muted_until) ? say(`${by} muted ${user}`, `${by} 将 ${user} 禁言`) : say(`${by} muted ${user} until ${whenText(new Date(e.muted_until))}`, `${by} 将 ${user} 禁言至 ${whenText(new Date(e.muted_until))}`);
    case "banned": return say(`${by} banned ${user}`, `${by} 封禁了 ${user}`);
    case "data": return say(`${by} changed what is noted about ${user}`, `${by} 更改了 ${user} 的备注信息`);
    case "pinned": return say(`${by} pinned a message`, `${by} 置顶了一条消息`);
    case "unpinned": return say(`${by} unpinned a message`, `${by} 取消了一条消息的置顶`);
    case "renamed": return e.name ? say(`${by} renamed the group to “${e.name}”`, `${by} 将群组改名为“${e.name}”`) : say(`${by} removed the group name`, `${by} 移除了群组名称`);
    case "settings": return say(`${by} changed the settings`, `${by} 更改了设置`) + settingsText(e.settings);
    default: return `${by}: ${e.notice}`;
  }
}

/** What changed, in the order of the settings. */
function settingsText(s: Readonly<Record<string, Json>> | undefined): string {
  if (!s) return "";
  const texts: Record<string, (v: any) => string> = {
    visibility: (v) => (v === "public" ? say("the group is public", "群组设为公开") : say("the group is private", "群组设为私密")),
    join: (v) => (v === "ask" ? say("who wants to join asks", "加入须经申请") : v === "closed" ? say("only who is invited can join", "仅受邀者可加入") : say("anyone can join", "任何人都可以加入")),
    post: (v) => (v === "none" ? say("nobody can post for now", "暂时无人可发言") : v === "admins" ? say("only admins can post", "仅管理员可发言") : say("all members can post", "所有成员可发言")),
    mention_all: (v) => (v === "off" ? say("nobody can mention all", "无人可提及全员") : v === "members" ? say("all members can mention all", "所有成员可提及全员") : say("only admins can mention all", "仅管理员可提及全员")),
    slow_s: (v) => (v > 0 ? say(`one message every ${lasting(v)}`, `每 ${lasting(v)}可发一条消息`) : say("slow mode is off", "慢速模式已关闭")),
    expire_s: (v) => (v > 0 ? say(`messages disappear after ${lasting(v)}`, `消息在 ${lasting(v)}后消失`) : say("messages no longer disappear", "消息不再自动消失")),
    receipts: (v) => (v === "required" ? say("everyone sees who has read a message", "所有人可看到谁已读") : v === "counts" ? say("everyone sees how many have read a message", "仅显示已读人数") : v === "off" ? say("nobody sees who has read a message", "不再显示已读情况") : say("whoever hides what they have read isn’t named", "隐藏已读状态的人不会显示")),
    pins: (v) => (v === "members" ? say("all members can pin messages", "所有成员可置顶消息") : say("only admins can pin messages", "仅管理员可置顶消息")),
    history: (v) => (v ? say("new members can see earlier messages", "新成员可查看以前的消息") : say("new members can’t see earlier messages", "新成员不能查看以前的消息")),
    keep: (v) => say(`at least ${v} messages are kept`, `至少保留 ${v} 条消息`),
    retain_days: (v) => (v > 0 ? say(`messages are removed after ${v} days`, `消息在 ${v} 天后移除`) : say("messages are kept forever", "消息永久保留")),
    overflow: (v) => (v === "block" ? say("sending waits for members who are behind", "发送会等待落后的成员") : say("sending does not wait for members who are behind", "发送不等待落后的成员")),
    backlog_bytes: (v) => say(`members may fall ${v} bytes of files behind`, `成员最多可落后 ${v} 字节的文件`),
    backlog_max: (v) => say(`members may fall ${v} messages behind`, `成员最多可落后 ${v} 条消息`),
    data: () => say("custom fields", "自定义字段"),
  };
  const parts = Object.entries(texts).filter(([k]) => s[k] !== undefined).map(([k, text]) => text(s[k]));
  return say(`: ${parts.join(", ")}`, `：${parts.join("，")}`);
}
