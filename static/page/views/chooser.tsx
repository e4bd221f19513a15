/** A field for a few letters, and beneath it the groups, people or actions whose names have them. */
import "../whole.ts";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GroupState, Wire } from "@chatd/client";
import { useGroups } from "../hooks.ts";
import { titleOf } from "../groups.ts";
import { usePeople } from "../people.ts";
import { say } from "../say.ts";
import { fold } from "../sections.ts";
import { useSession } from "../session.ts";
import type { IconName } from "../ui/icons.ts";
import { Avatar, GroupFace, Icon } from "../ui/parts.tsx";

const MOST = 8;
const AFTER_KEY_MS = 150;
export type Choice = { key: string; label: string; note: string; run: () => void } & ({ icon: IconName } | { user: string } | { group: GroupState });

type Props = { label: string; placeholder: string; text: string; onText: (text: string) => void; choices: readonly Choice[]; onPick: (choice: Choice) => void };

export function Chooser({ label, placeholder, text, onText, choices, onPick }: Props) {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const now = choices[Math.min(at, choices.length - 1)];
  useLayoutEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }));
  function keyDown(e: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) {
      e.preventDefault();
      setAt((Math.min(at, choices.length - 1) + by + choices.length) % Math.max(1, choices.length));
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      if (now) onPick(now);
    }
  }
  return (
    <>
      <input type="text" name="switch" dir="auto" autofocus autocomplete="off" spellcheck={false} role="combobox" aria-expanded="true" aria-controls="choices" aria-label={label}
        aria-activedescendant={now && `choice ${now.key}`} placeholder={placeholder} value={text}
        onInput={(e) => { onText(e.currentTarget.value); setAt(0); }} onKeyDown={keyDown} />
      <ul ref={list} id="choices" class="switcher-list" role="listbox" aria-label={say("Choices", "选项")}>
        {choices.map((c) => (
          <li key={c.key} id={`choice ${c.key}`} role="option" aria-selected={c === now} data-choice={c.key} onMouseDown={(e) => e.preventDefault()} onClick={() => onPick(c)}>
            {"icon" in c ? <Icon name={c.icon} /> : "user" in c ? <Avatar user={c.user} /> : <GroupFace group={c.group} title={c.label} />}
            <span dir="auto">{c.label}</span><small>{c.note}</small>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p class="quiet">{say("Nothing is called that.", "没有找到。")}</p>}
    </>
  );
}

export const matches = (text: string, label: string): boolean => fold(text).split(/\s+/).every((w) => fold(label).includes(w));

/** Those with unread messages first, and those whose name begins with the text. */
export function useGroupChoices(text: string, run: (group: GroupState, title: string) => void, counts: (group: GroupState) => boolean = () => true): Choice[] {
  const { me } = useSession();
  const people = usePeople();
  const rank = ({ g, title }: { g: GroupState; title: string }) => (text && fold(title).startsWith(fold(text)) ? 0 : 4) + (g.mentions_unread > 0 ? 0 : g.unread > 0 ? 1 : 2);
  return useGroups().filter(counts).map((g) => ({ g, title: titleOf(g, me, people) })).filter(({ g, title }) => matches(text, `${title} ${g.id}`)).sort((a, b) => rank(a) - rank(b)).slice(0, MOST)
    .map(({ g, title }) => ({ key: `group ${g.id}`, label: title, group: g, note: g.unread > 0 ? say(`${g.unread} unread`, `${g.unread} 条未读`) : "", run: () => run(g, title) }));
}

/** People whom the server finds; those of direct groups are among the groups. */
export function usePeopleChoices(text: string, run: (user: string, name: string) => void): Choice[] {
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
    .map(({ user, name }) => ({ key: `user ${user}`, label: name || user, user, note: say("Write to", "发消息"), run: () => run(user, name || user) }));
}
