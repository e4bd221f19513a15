/** Goes to a group or a person, or does something, by a few letters of its name. */
import "../whole.ts";
import { useState } from "preact/hooks";
import { prefs, setPrefs } from "../prefs.ts";
import { go } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { Dialog } from "../ui/parts.tsx";
import { type Over } from "../keys.ts";
import { seesBehind, useOperator } from "./behind-gate.tsx";
import { Chooser, type Choice, matches, useGroupChoices, usePeopleChoices } from "./chooser.tsx";

const MOST = 8;

export function Switcher({ onClose, onOver }: { onClose: () => void; onOver: (over: Over) => void }) {
  const { features } = useSession();
  const [text, setText] = useState("");
  const groups = useGroupChoices(text, (g) => go({ view: "group", group: g.id }));
  const people = usePeopleChoices(text, (user) => go({ view: "direct", user }));
  const all = [...groups, ...people, ...actions(features, onOver).filter((a) => matches(text, a.label)).slice(0, text ? MOST : 4)];
  return (
    <Dialog title={say("Go to", "前往")} onClose={onClose}>
      <Chooser label={say("Go to", "前往")} placeholder={say("Group, person or action", "群组、联系人或操作")} text={text} onText={setText} choices={all}
        onPick={(choice) => { onClose(); choice.run(); }} />
    </Dialog>
  );
}

function actions(features: readonly string[], onOver: (over: Over) => void): Choice[] {
  const note = say("Action", "操作");
  const to = (view: "new" | "browse" | "inbox" | "home" | "me" | "scheduled", icon: IconName, label: string): Choice => ({ key: view, icon, label, note, run: () => go({ view }) });
  return [
    to("new", "plus", say("Create group", "新建群组")), to("browse", "compass", say("Browse public groups", "浏览公开群组")), to("inbox", "bell", say("Inbox", "收件箱")),
    ...(features.includes("search") ? [{ key: "search", icon: "search" as const, label: say("Search messages", "搜索消息"), note, run: () => go({ view: "search", q: "" }) }] : []),
    ...(features.includes("schedules") ? [to("scheduled", "clock", say("Scheduled messages", "定时消息"))] : []),
    to("me", "gear", say("Profile and settings", "个人资料与设置")), to("home", "home", say("Home", "首页")),
    { key: "theme", icon: "image", label: say("Switch between light and dark", "切换浅色与深色"), note, run: () => {
      const dark = prefs().theme === "dark" || (prefs().theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
      setPrefs({ theme: dark ? "light" : "dark" });
    } },
    { key: "density", icon: "more", label: say("Switch between cosy and compact", "切换宽松与紧凑"), note, run: () => setPrefs({ density: prefs().density === "cosy" ? "compact" : "cosy" }) },
    { key: "shortcuts", icon: "pulse", label: say("Keyboard shortcuts", "键盘快捷键"), note, run: () => onOver("shortcuts") },
  ];
}

const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl K", say("Go to a group or a person, or do something", "前往群组或联系人，或执行操作")],
  ["Alt ↑ ↓", say("Group above, below", "上一个、下一个群组")],
  ["Alt Shift ↑ ↓", say("Unread group above, below", "上一个、下一个未读群组")],
  ["Ctrl Shift F", say("Search", "搜索")],
  ["Esc", say("Close, then go to the end, then mark as read", "关闭，然后到末尾，再标为已读")],
  ["F6", say("Next region of the page", "页面的下一个区域")],
  ["//", say("Begin a message with a slash, as in //invite", "以斜杠开头的消息，例如 //invite")],
  ["?", say("This list", "此列表")],
];
/** In a row of the timeline. */
const OF_MESSAGES: typeof SHORTCUTS = [
  ["J K", say("Message below, above", "下一条、上一条消息")],
  ["R", say("Reply", "回复")],
  ["T", say("Reply in thread", "在消息列中回复")],
  ["E", say("Edit, if it is your own", "编辑（自己的消息）")],
  ["+", say("React", "添加回应")],
  ["U", say("Mark unread from here", "从此处标为未读")],
  [".", say("All actions", "所有操作")],
];
const BEHIND = ["Ctrl .", say("Behind the scenes", "幕后")] as const;

export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={say("Keyboard shortcuts", "键盘快捷键")} onClose={onClose}>
    <Keys list={seesBehind(useSession().features, useOperator()) ? [...SHORTCUTS, BEHIND] : SHORTCUTS} />
    <h3>{say("On a message", "在消息上")}</h3>
    <Keys list={OF_MESSAGES} />
  </Dialog>
);

const Keys = ({ list }: { list: typeof SHORTCUTS }) => (
  <dl class="shortcuts">{list.map(([keys, what]) => <div key={keys}><dt>{what}</dt><dd>{keys.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dd></div>)}</dl>
);
