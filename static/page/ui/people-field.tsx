/** Names people, with completion by those whom the server lets one see. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Icon, Name } from "./parts.tsx";

/** text: what is typed and no chip yet. */
export type Named = { users: readonly string[]; text: string };
export const nobody: Named = { users: [], text: "" };

/** All who are named, also by what is only typed. */
export const usersOf = ({ users, text }: Named): string[] => [...new Set([...users, ...text.split(/[\s,，、;]+/).filter(Boolean)])];

const WAIT_MS = 150;
const MOST = 6;

export function PeopleField({ label, note, name, value, onValue, except, placeholder }: {
  label: string; note?: string; name: string; value: Named; onValue: (next: Named) => void; except: (user: string) => boolean; placeholder: string;
}) {
  const { chat, me, people } = useSession();
  const [found, setFound] = useState<string[]>([]);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const q = value.text.trim();
  useEffect(() => {
    setChosen(-1);
    if (!q || /[,，、;]/.test(q)) return setFound([]);
    let shown = true;
    const timer = setTimeout(() => {
      chat.users({ q: q.slice(0, 64), limit: 20 }).then(({ users }) => {
        if (!shown) return;
        for (const user of users) people.changed(user);
        setFound(users.map((u) => u.user).filter((u) => u !== me && !value.users.includes(u) && !except(u)).slice(0, MOST));
      }, () => {}); // what is typed counts all the same
    }, WAIT_MS);
    return () => {
      shown = false;
      clearTimeout(timer);
    };
  }, [q]);

  function add(users: readonly string[]): void {
    onValue({ users: [...new Set([...value.users, ...users])], text: "" });
    setFound([]);
    input.current?.focus();
  }
  function key(e: KeyboardEvent): void {
    if (e.isComposing) return;
    if ((e.key === "ArrowDown" || e.key === "ArrowUp") && found.length > 0) {
      e.preventDefault();
      setChosen((at) => (at + (e.key === "ArrowDown" ? 1 : -1) + found.length + (at < 0 && e.key === "ArrowUp" ? 1 : 0)) % found.length);
    } else if (e.key === "Enter" && found[chosen]) {
      e.preventDefault();
      add([found[chosen]]);
    } else if (e.key === "Enter" && q && value.users.length > 0) {
      e.preventDefault();
      add(usersOf({ users: [], text: q }));
    } else if (e.key === "Escape" && found.length > 0) {
      e.stopPropagation();
      setFound([]);
    } else if (e.key === "Backspace" && !value.text && value.users.length > 0) {
      onValue({ users: value.users.slice(0, -1), text: "" });
    }
  }

  return (
    <div class="field people-field">
      <label for={id}>{label}</label>
      <div class="named">
        {value.users.map((u) => (
          <button key={u} type="button" class="named-one" data-user={u} aria-label={say(`Take ${u} off`, `移除 ${u}`)} onClick={() => onValue({ ...value, users: value.users.filter((other) => other !== u) })}>
            <Avatar user={u} small /><Name user={u} /><Icon name="close" />
          </button>
        ))}
        <input ref={input} id={id} name={name} autocomplete="off" autocapitalize="none" spellcheck={false} dir="auto" maxlength={4000} placeholder={value.users.length === 0 ? placeholder : ""}
          role="combobox" aria-expanded={found.length > 0} aria-controls={`${id}list`} aria-autocomplete="list" aria-activedescendant={found[chosen] ? `${id}-${chosen}` : undefined}
          value={value.text} onInput={(e) => onValue({ ...value, text: e.currentTarget.value })} onKeyDown={key} onBlur={() => setFound([])} />
      </div>
      <ul class="choices" id={`${id}list`} role="listbox" aria-label={label} hidden={found.length === 0}>
        {found.map((u, i) => (
          <li key={u} id={`${id}-${i}`} role="option" aria-selected={i === chosen} data-user={u} onMouseDown={(e) => { e.preventDefault(); add([u]); }}>
            <Avatar user={u} small /><Name user={u} /><small dir="ltr">{u}</small>
          </li>
        ))}
      </ul>
      {note && <small>{note}</small>}
    </div>
  );
}
