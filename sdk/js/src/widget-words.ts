/** What the widget says, by language. */
import type { Message } from "./types.js";

type Names = (user: string) => string;
type Notice = Pick<Message, "from" | "notice" | "user" | "users" | "role" | "name">;

/** All that the widget says of itself. */
export type Words = {
  conversations: string; noConversations: string; back: string; open: string; close: string; chat: string;
  messages: string; noMessages: string; sayHello: string; newest: string; earlier: string; unread: string; gap: string; missing: string; load: string; notLoaded: string;
  write: string; send: string; sending: string; queued: string; retry: string; discard: string; failed(why: string): string;
  you: string; edited: string; deleted: string; data: string; file: string; original: string; today: string; yesterday: string;
  actions: string; react: string; reply: string; replyTo(name: string): string; edit: string; editing: string; remove: string; removeNow: string; cancel: string;
  connecting: string; offline: string; reconnect: string; signedOut: string; notMember: string;
  members(n: number): string; fresh(n: number): string; unreadCount(n: number): string; reactions(emoji: string, n: number): string;
  /** names: at most three. */
  typing(names: string[]): string;
  severalTyping: string;
  /** What a notice of the log says; nameOf gives the name of a user. */
  notice(notice: Notice, nameOf: Names): string;
};

/** Words, and how the language writes times and lists. */
export type Language = Words & { readonly tag: string; time(at: string): string; full(at: string): string; day(at: string): string; short(at: string): string };

const concerned = (m: Notice) => m.users ?? (m.user === undefined ? [] : [m.user]);
const list = (tag: string, names: string[]) => new Intl.ListFormat(tag).format(names);

const en: Words = {
  conversations: "Conversations", noConversations: "No conversations yet", back: "Back to conversations", open: "Open chat", close: "Close chat", chat: "Chat",
  messages: "Messages", noMessages: "No messages yet", sayHello: "Say hello!", newest: "Jump to newest", earlier: "Load earlier messages", unread: "New messages",
  gap: "Some messages are no longer available", missing: "Some messages are missing here", load: "Load", notLoaded: "Messages could not be loaded.",
  write: "Write a message", send: "Send", sending: "Sending…", queued: "Sends when you are back online", retry: "Retry", discard: "Discard",
  failed: (why) => `Not sent: ${why}`,
  you: "You", edited: "edited", deleted: "This message was deleted", data: "Data", file: "File", original: "Show the original message", today: "Today", yesterday: "Yesterday",
  actions: "Message actions", react: "Add reaction", reply: "Reply", replyTo: (name) => `Reply to ${name}`, edit: "Edit", editing: "Edit message",
  remove: "Delete", removeNow: "Delete for everyone", cancel: "Cancel",
  connecting: "Connecting…", offline: "You are offline", reconnect: "Reconnect", signedOut: "You are signed out", notMember: "You are not a member of this conversation",
  members: (n) => (n === 1 ? "1 member" : `${n} members`),
  fresh: (n) => (n === 1 ? "1 new message" : `${n} new messages`),
  unreadCount: (n) => `${n} unread`,
  reactions: (emoji, n) => `${emoji}, ${n}`,
  typing: (names) => `${list("en", names)} ${names.length === 1 ? "is" : "are"} typing`,
  severalTyping: "Several people are typing",
  notice(m, of) {
    const by = of(m.from);
    const whom = list("en", concerned(m).map(of));
    switch (m.notice) {
      case "created": return `${by} created the group`;
      case "joined": return concerned(m).every((u) => u === m.from) ? `${by} joined` : `${by} added ${whom}`;
      case "left": return `${of(m.user ?? m.from)} left`;
      case "removed": return `${by} removed ${whom}`;
      case "role": return `${by} made ${whom} ${m.role === "owner" ? "the owner" : m.role === "admin" ? "an admin" : "a member"}`;
      case "pinned": return `${by} pinned a message`;
      case "unpinned": return `${by} unpinned a message`;
      case "renamed": return m.name ? `${by} renamed the group to “${m.name}”` : `${by} removed the name of the group`;
      default: return `${by} changed the settings`;
    }
  },
};

const zh: Words = {
  conversations: "会话", noConversations: "还没有会话", back: "返回会话列表", open: "打开聊天", close: "关闭聊天", chat: "聊天",
  messages: "消息", noMessages: "还没有消息", sayHello: "打个招呼吧！", newest: "跳到最新消息", earlier: "加载更早的消息", unread: "新消息",
  gap: "部分消息已无法获取", missing: "此处缺少部分消息", load: "加载", notLoaded: "消息加载失败。",
  write: "输入消息", send: "发送", sending: "发送中…", queued: "恢复连接后自动发送", retry: "重试", discard: "放弃",
  failed: (why) => `未发送：${why}`,
  you: "我", edited: "已编辑", deleted: "此消息已删除", data: "数据", file: "文件", original: "查看原消息", today: "今天", yesterday: "昨天",
  actions: "消息操作", react: "添加表情", reply: "回复", replyTo: (name) => `回复${name}`, edit: "编辑", editing: "编辑消息",
  remove: "删除", removeNow: "为所有人删除", cancel: "取消",
  connecting: "正在连接…", offline: "网络已断开", reconnect: "重新连接", signedOut: "您已退出登录", notMember: "您不是该会话的成员",
  members: (n) => `${n} 位成员`,
  fresh: (n) => `${n} 条新消息`,
  unreadCount: (n) => `${n} 条未读`,
  reactions: (emoji, n) => `${emoji}，${n}`,
  typing: (names) => `${list("zh", names)}正在输入`,
  severalTyping: "多人正在输入",
  notice(m, of) {
    const by = of(m.from);
    const whom = list("zh", concerned(m).map(of));
    switch (m.notice) {
      case "created": return `${by}创建了群组`;
      case "joined": return concerned(m).every((u) => u === m.from) ? `${by}加入了群组` : `${by}添加了${whom}`;
      case "left": return `${of(m.user ?? m.from)}离开了群组`;
      case "removed": return `${by}移除了${whom}`;
      case "role": return `${by}将${whom}设为${m.role === "owner" ? "群主" : m.role === "admin" ? "管理员" : "成员"}`;
      case "pinned": return `${by} 置顶了一条消息`;
      case "unpinned": return `${by} 取消了一条消息的置顶`;
      case "renamed": return m.name ? `${by}将群组改名为“${m.name}”` : `${by}移除了群组名称`;
      default: return `${by}更改了设置`;
    }
  },
};

const spoken: Record<string, Words> = { en, zh };

/** Scripts that are written from right to left. */
const RTL = /Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Samr|Syrc|Thaa|Yezi/;

export const isRtl = (tag: string) => RTL.test(new Intl.Locale(known(tag)).maximize().script ?? "");

/** A tag that Intl takes. */
function known(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? "en";
  } catch {
    return "en";
  }
}

/** A language such as "zh-CN", with some of its words replaced. One that is not there has English words, and its own dates. */
export function languageOf(lang: string, own: Partial<Words> = {}): Language {
  const tag = known(lang);
  const words = { ...(spoken[tag.split("-")[0]!] ?? en), ...own };
  const format = (options: Intl.DateTimeFormatOptions) => {
    const f = new Intl.DateTimeFormat(tag, options);
    return (at: string | Date) => f.format(new Date(at));
  };
  const time = format({ hour: "numeric", minute: "2-digit" });
  const full = format({ dateStyle: "full", timeStyle: "short" });
  const weekday = format({ weekday: "short" });
  const date = format({ day: "numeric", month: "short" });
  const long = format({ weekday: "long", day: "numeric", month: "long" });
  const year = format({ day: "numeric", month: "long", year: "numeric" });
  return {
    ...words, tag, time, full,
    day(at) {
      const days = daysSince(at);
      if (days === 0) return words.today;
      if (days === 1) return words.yesterday;
      return new Date(at).getFullYear() === new Date().getFullYear() ? long(at) : year(at);
    },
    short(at) {
      const days = daysSince(at);
      return days <= 0 ? time(at) : days === 1 ? words.yesterday : days < 7 ? weekday(at) : date(at);
    },
  };
}

/** Days between the calendar days of a time and of now, as the reader's clock has them. */
function daysSince(at: string): number {
  const day = (d: Date) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  return Math.round((day(new Date()) - day(new Date(at))) / 86_400_000);
}
