/** What is offered while a word is being written: people behind an @, emoji behind a colon, commands behind a slash. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GroupState } from "@chatd/client";
import { ALL } from "../mentions.ts";
import { labelOf, nameIn, usePeople, type People } from "../people.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { type Emoji, find, loadEmoji, toneNow, usedEmoji, withTone } from "../ui/emoji-table.ts";
import { Avatar, Name } from "../ui/parts.tsx";
import { manages, useMembers } from "../members.ts";
import { COMMANDS, insert, wordAt } from "./text.ts";

/** Offered at a time. */
const OFFERED_MAX = 8;
/** People whose names are asked for when the first is mentioned; those of larger groups are searched for. */
const NAMED_MAX = 200;
/** Members who are loaded at most. */
const LOADED_MAX = 1000;
const SEARCH_MS = 150;
/** In a group of more members, only those who manage it mention all. */
const ALL_MAX = 1000;

const DOES = { schedule: say("Send a message later", "稍后发送消息"), invite: say("Invite people to this group", "邀请他人加入此群组") };

type Offer = { key: string; insert: string; name: string; view: ComponentChildren };

const plain = (text: string): string => text.normalize("NFKD").replaceAll(/\p{Mn}/gu, "").toLowerCase();

/** Who can be mentioned. complete: there is nobody else. */
export type Mentionable = { users: readonly string[]; complete: boolean; /** All members at once can be. */ all: boolean };

/** Who can be mentioned in a group, once there is an @ and they are loaded; more than the first are searched for by name. */
export function useMentionable(group: Pick<GroupState, "id" | "members"> & { mention_all: GroupState["mention_all"] | undefined }, wanted: boolean): Mentionable | null {
  const { people } = useSession();
  const { list, complete, mine } = useMembers(group, wanted ? LOADED_MAX : 1);
  const all = group.mention_all !== "off" && (manages(mine) || (group.mention_all === "members" && group.members <= ALL_MAX));
  const loaded = wanted && (complete || list.length >= LOADED_MAX);
  const mentionable = useMemo(() => {
    if (!loaded) return null;
    const users = list.map((m) => m.user);
    return { users, complete, all: all && !users.includes("all") }; // whose name is all keeps it
  }, [loaded, list, complete, all]);
  useEffect(() => people.want(mentionable?.users.slice(0, NAMED_MAX) ?? []), [mentionable]);
  return mentionable;
}

/** Those of a large group whom the server finds by a beginning of their names. */
function useFound(word: string | null, members: Mentionable | null): readonly string[] {
  const { chat, people } = useSession();
  const [found, setFound] = useState<readonly string[]>([]);
  const asks = word && members && members.users.length > NAMED_MAX ? word : "";
  useEffect(() => {
    setFound((before) => (asks ? before : before.length ? [] : before));
    if (!asks) return;
    let here = true;
    const timer = setTimeout(() => chat.users({ q: asks, limit: OFFERED_MAX }).then(({ users }) => {
      if (!here) return;
      people.want(users.map((u) => u.user));
      setFound(users.map((u) => u.user).filter((user) => !members?.complete || members.users.includes(user)));
    }, () => {}), SEARCH_MS);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [asks, members]);
  return found;
}

/** The members whose id, or whose name from one of its words on, begins so. */
export function peopleFor(word: string, users: Iterable<string>, people: People): string[] {
  const begun = plain(word);
  const fits = (user: string): boolean => {
    const label = plain(labelOf(people, user));
    return plain(user).startsWith(begun) || label.startsWith(begun) || label.split(/\s+/).some((part) => part.startsWith(begun));
  };
  return [...new Set(users)].filter(fits).sort((a, b) => labelOf(people, a).localeCompare(labelOf(people, b))).slice(0, OFFERED_MAX);
}

/** The keys go to the list first: onKeyDown says whether it took one. */
export function useCompletion(area: { readonly current: HTMLTextAreaElement | null }, text: string, caret: number, members: Mentionable | null, commands: boolean) {
  const people = usePeople();
  const [emoji, setEmoji] = useState<readonly Emoji[]>([]);
  const [at, setAt] = useState(0);
  const [left, setLeft] = useState(""); // a word that is to be left alone
  const list = useRef<HTMLUListElement>(null);
  const begun = wordAt(text, caret);
  const here = begun?.kind === "/" && !commands ? null : begun;
  const word = here && `${here.kind}${here.from}` !== left ? here : null;
  const found = useFound(word?.kind === "@" ? word.word : null, members);
  useEffect(() => {
    if (word?.kind === ":" && emoji.length === 0) void loadEmoji().then(setEmoji, () => {});
  }, [word?.kind]);
  useLayoutEffect(() => setAt(0), [word?.word, word?.from]);
  useEffect(() => { if (!here) setLeft(""); }, [!here]);

  const all: Offer[] = members?.all && word?.kind === "@" && "all".startsWith(word.word) ? [{ key: ALL, name: "all", insert: `${ALL} `, view: <><b>{ALL}</b>{say("Everyone in this group", "此群组的所有人")}</> }] : [];
  const offered: Offer[] = !word ? [] : word.kind === "@" ? all.concat(peopleFor(word.word, [...(members?.users ?? []), ...found], people).map((user) => ({
    key: user, name: labelOf(people, user), insert: `@${nameIn(people)(user)} `,
    view: <><Avatar user={user} small /><Name user={user} />{labelOf(people, user) !== user && <small class="id">{user}</small>}</>,
  }))) : word.kind === "/" ? COMMANDS.filter((c) => c.startsWith(word.word)).map((c) => (
    { key: c, name: c, insert: `/${c} `, view: <><b>/{c}</b>{DOES[c]}</> }
  )) : find(emoji, word.word).slice(0, OFFERED_MAX).map((e) => {
    const char = withTone(e, toneNow());
    return { key: char, name: e.name, insert: `${char} `, view: <><span class="glyph">{char}</span>{e.name}</> };
  });
  // A name that is written out needs no offer: Enter sends.
  const [only] = offered;
  if (word && word.kind !== ":" && offered.length === 1 && only && [only.key, only.name].some((name) => plain(name) === plain(word.word))) offered.length = 0;
  const active = Math.min(at, offered.length - 1);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active]);

  function choose(offer: Offer): void {
    if (!word || !area.current) return;
    if (word.kind === ":") usedEmoji(offer.key);
    insert(area.current, { from: word.from, to: caret, text: offer.insert, select: [offer.insert.length, offer.insert.length] });
  }
  function onKeyDown(e: KeyboardEvent): boolean {
    if (offered.length === 0 || e.ctrlKey || e.metaKey || e.altKey) return false;
    const step = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (step) setAt((active + step + offered.length) % offered.length);
    else if ((e.key === "Enter" || e.key === "Tab") && !e.shiftKey) choose(offered[active]!);
    else if (e.key === "Escape") setLeft(`${word!.kind}${word!.from}`);
    else return false;
    e.preventDefault();
    e.stopPropagation();
    return true;
  }
  const view = offered.length > 0 && (
    <ul ref={list} class="offered" role="listbox" id="offered" aria-label={word?.kind === "@" ? say("People to mention", "可提及的人") : word?.kind === "/" ? say("Commands", "命令") : say("Emoji", "表情")}>
      {offered.map((o, i) => (
        <li key={o.key} role="option" id={`offered-${i}`} aria-selected={i === active} data-offer={o.key} onMouseDown={(e) => { e.preventDefault(); choose(o); }}>{o.view}</li>
      ))}
    </ul>
  );
  const described = { "aria-autocomplete": "list", "aria-haspopup": "listbox", ...(offered.length > 0 && { "aria-controls": "offered", "aria-activedescendant": `offered-${active}` }) } as const;
  return { view, onKeyDown, described };
}
