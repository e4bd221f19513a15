/** Goes to a group or a person, or does something, by a few letters of its name. */
import "../whole.ts";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GroupState, Wire } from "@chatd/client";
import { useGroups } from "../hooks.ts";
import { titleOf } from "../groups.ts";
import { usePeople } from "../people.ts";
import { prefs, setPrefs } from "../prefs.ts";
import { go } from "../route.ts";
import { say } from "../say.ts";
import { fold } from "../sections.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { Avatar, Dialog, GroupFace, Icon } from "../ui/parts.tsx";
import { type Over } from "../keys.ts";

const MOST = 8;
const AFTER_KEY_MS = 150;
type Choice = { key: string; label: string; note: string; run: () => void } & ({ icon: IconName } | { user: string } | { group: GroupState });

export function Switcher({ onClose, onOver }: { onClose: () => void; onOver: (over: Over) => void }) {
  const { features } = useSession();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const groups = useGroupChoices(text);
  const people = usePeopleChoices(text);
  const all = [...groups, ...people, ...actions(features, onOver).filter((a) => matches(text, a.label)).slice(0, text ? MOST : 4)];
  const now = all[Math.min(at, all.length - 1)];
  useLayoutEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }));
  function pick(choice: Choice | undefined): void {
    if (!choice) return;
    onClose();
    choice.run();
  }
  function keyDown(e: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) {
      e.preventDefault();
      setAt((Math.min(at, all.length - 1) + by + all.length) % Math.max(1, all.length));
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      pick(now);
    }
  }
  return (
    <Dialog title={say("Go to", "前往")} onClose={onClose}>
      <input type="text" name="switch" dir="auto" autofocus autocomplete="off" spellcheck={false} role="combobox" aria-expanded="true" aria-controls="choices" aria-label={say("Go to", "前往")}
        aria-activedescendant={now && `choice ${now.key}`} placeholder={say("Group, person or action", "群组、联系人或操作")} value={text}
        onInput={(e) => { setText(e.currentTarget.value); setAt(0); }} onKeyDown={keyDown} />
      <ul ref={list} id="choices" class="switcher-list" role="listbox" aria-label={say("Choices", "选项")}>
        {all.map((c) => (
          <li key={c.key} id={`choice ${c.key}`} role="option" aria-selected={c === now} data-choice={c.key} onMouseDown={(e) => e.preventDefault()} onClick={() => pick(c)}>
            {"icon" in c ? <Icon name={c.icon} /> : "user" in c ? <Avatar user={c.user} /> : <GroupFace group={c.group} title={c.label} />}
            <span dir="auto">{c.label}</span><small>{c.note}</small>
          </li>
        ))}
      </ul>
      {all.length === 0 && <p class="quiet">{say("Nothing is called that.", "没有找到。")}</p>}
    </Dialog>
  );
}

const matches = (text: string, label: string) => fold(text).split(/\s+/).every((w) => fold(label).includes(w));

/** Those with unread messages first, and those whose name begins with the text. */
function useGroupChoices(text: string): Choice[] {
  const { me } = useSession();
  const people = usePeople();
  const rank = ({ g, title }: { g: GroupState; title: string }) => (text && fold(title).startsWith(fold(text)) ? 0 : 4) + (g.mentions_unread > 0 ? 0 : g.unread > 0 ? 1 : 2);
  return useGroups().map((g) => ({ g, title: titleOf(g, me, people) })).filter(({ g, title }) => matches(text, `${title} ${g.id}`)).sort((a, b) => rank(a) - rank(b)).slice(0, MOST)
    .map(({ g, title }) => ({ key: `group ${g.id}`, label: title, group: g, note: g.unread > 0 ? say(`${g.unread} unread`, `${g.unread} 条未读`) : "", run: () => go({ view: "group", group: g.id }) }));
}

/** People whom the server finds; those of direct groups are among the groups. */
function usePeopleChoices(text: string): Choice[] {
  const { chat, me } = useSession();
  const direct = new Set(useGroups().flatMap((g) => g.direct ?? []));
  const [found, setFound] = useState<readonly Wire.User[]>([]);
  useEffect(() => {
    if (!text.trim()) return setFound([]);
    let current = true;
    const timer = setTimeout(() => chat.users({ q: text.trim(), limit: MOST }).then((page) => current && setFound(page.users), () => {}), AFTER_KEY_MS); // the groups are there all the same
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  return found.filter(({ user }) => user !== me && !direct.has(user))
    .map(({ user, name }) => ({ key: `user ${user}`, label: name || user, user, note: say("Write to", "发消息"), run: () => go({ view: "direct", user }) }));
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
  ["E", say("Edit, if it is your own", "编辑（自己的消息）")],
  ["+", say("React", "添加回应")],
  ["U", say("Mark unread from here", "从此处标为未读")],
  [".", say("All actions", "所有操作")],
];
const BEHIND = ["Ctrl .", say("Behind the scenes", "幕后")] as const;

export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={say("Keyboard shortcuts", "键盘快捷键")} onClose={onClose}>
    <Keys list={useSession().features.includes("dev") ? [...SHORTCUTS, BEHIND] : SHORTCUTS} />
    <h3>{say("On a message", "在消息上")}</h3>
    <Keys list={OF_MESSAGES} />
  </Dialog>
);

const Keys = ({ list }: { list: typeof SHORTCUTS }) => (
  <dl class="shortcuts">{list.map(([keys, what]) => <div key={keys}><dt>{what}</dt><dd>{keys.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dd></div>)}</dl>
);
