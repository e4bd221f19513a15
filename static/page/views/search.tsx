/** Searching what was said, as one types: a page for all groups, and a panel beside one of them. */
import "../whole.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ChatdError, GroupState, Message, Wire } from "@chatd/client";
import { fullTime, shortTime } from "../format.ts";
import { load, save } from "../saved.ts";
import { useGroups } from "../hooks.ts";
import { titleOf } from "../groups.ts";
import { labelOf, nameIn, usePeople } from "../people.ts";
import { FILTERS, filterText, hasAll, parametersOf, parseQuery, without, type FilterName } from "../query.ts";
import { go, placeOf, route } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { partsOf } from "../snippet.ts";
import { Avatar, Back, Icon, Name, Problem } from "../ui/parts.tsx";

const AFTER_KEY_MS = 150;
const RECENT_MAX = 6;
type Hit = Wire.Hit;
type Found = { hits: readonly Hit[]; next: string | null; before?: string | undefined };

const HINTS: Record<FilterName, string> = {
  from: say("from a person", "来自某人"), in: say("in a group", "在某个群组"), has: say("has file, image, link or data", "包含 file、image、link 或 data"),
  after: say("after a day, such as 2026-03-01", "某日之后，如 2026-03-01"), before: say("before a day", "某日之前"),
};

/** What was searched in the panel last, so that it stays while one goes from hit to hit. */
let inPanel = { group: "", text: "" };

/** The address names what is searched for, unless the page is elsewhere by now. */
function named(q: string): void {
  if (route().view === "search") go({ view: "search", q }, "replace");
}

export const SearchPage = ({ q }: { q: string }) => (
  <>
    <header class="pane-head">
      <Back />
      <h1 class="pane-title">{say("Search", "搜索")}</h1>
    </header>
    <div class="pane-body narrow"><Search first={q} onText={named} /></div>
  </>
);

export function SearchPanel({ group }: { group: GroupState }) {
  const { me } = useSession();
  const title = titleOf(group, me, usePeople());
  const first = inPanel.group === group.id ? inPanel.text : "";
  return <Search key={group.id} first={first} group={group.id} title={title} onText={(text) => { inPanel = { group: group.id, text }; }} />;
}

function Search({ first, group = "", title = "", onText }: { first: string; group?: string; title?: string; onText: (text: string) => void }) {
  const [text, setText] = useState(first);
  const [everywhere, setEverywhere] = useState(false);
  const [sort, setSort] = useState<"newest" | "best">("newest");
  const input = useRef<HTMLInputElement>(null);
  const { found, problem, busy, unknown, more } = useFound(text, everywhere ? "" : group, sort, onText);
  useEffect(() => input.current?.focus({ preventScroll: true }), []);
  const { words, filters } = parseQuery(text);
  function narrow(name: FilterName): void {
    setText((t) => `${t.trimEnd()}${t.trim() && " "}${name}:`);
    input.current?.focus();
  }
  return (
    <div class="search">
      <form role="search" onSubmit={(e) => { e.preventDefault(); remember(text); }}>
        <label class="search-field"><Icon name="search" />
          <input ref={input} type="search" name="q" dir="auto" maxlength={500} autocomplete="off" enterkeyhint="search" value={text} onInput={(e) => setText(e.currentTarget.value)}
            aria-label={say("Search messages", "搜索消息")} placeholder={group ? say(`Search ${title}`, `搜索 ${title}`) : say("Words, “a phrase”, -without", "词语、“短语”、-排除")} /></label>
        <div class="chips">
          {filters.map((f) => <button key={f.text} type="button" class={unknown.includes(f.text) ? "chip wrong" : "chip on"} onClick={() => setText(without(text, f))}
            aria-label={say(`Remove ${f.text}`, `移除 ${f.text}`)}><bdi>{f.text}</bdi><Icon name="close" /></button>)}
          {FILTERS.filter((name) => !(group && !everywhere && name === "in") && !filters.some((f) => f.name === name)).map((name) => (
            <button key={name} type="button" class="chip" title={HINTS[name]} onClick={() => narrow(name)}>{`${name}:`}</button>))}
        </div>
        <div class="search-how">
          {group && <select aria-label={say("Where to search", "搜索范围")} value={everywhere ? "all" : "here"} onChange={(e) => setEverywhere(e.currentTarget.value === "all")}>
            <option value="here">{say("This group", "此群组")}</option><option value="all">{say("All groups", "所有群组")}</option></select>}
          <select aria-label={say("Order", "排序")} value={sort} onChange={(e) => setSort(e.currentTarget.value as "newest")}>
            <option value="newest">{say("Newest first", "最新优先")}</option><option value="best">{say("Best match first", "最相关优先")}</option></select>
        </div>
      </form>
      <Problem text={problem} />
      {unknown.length > 0 && <p class="hint">{say("Nothing is called that:", "没有找到：")} <bdi>{unknown.join(" ")}</bdi></p>}
      {found?.before && <p class="hint">{say(`Messages sent after ${fullTime(found.before)} may be missing.`, `${fullTime(found.before)} 之后发送的消息可能缺失。`)}</p>}
      <p class="unseen" role="status">{busy ? say("Searching…", "正在搜索…") : found ? say(`${found.hits.length} found`, `找到 ${found.hits.length} 条`) : ""}</p>
      {!words && filters.length > 0 && <p class="hint" data-wordless>{say("Add a word to look for. Filters narrow what is found by words; on their own they find nothing.", "请再输入要查找的词语。筛选条件只能缩小按词语找到的结果，不能单独搜索。")}</p>}
      {!words ? filters.length === 0 && <Recent onPick={setText} />
        : found && found.hits.length === 0 && !busy && <Blank title={say("No messages found", "没有找到消息")}>{say("Try fewer words, or the beginning of one: deploy*", "试试减少词语，或使用词的开头：deploy*")}</Blank>}
      <ul class="hits" aria-label={say("Messages found", "找到的消息")} aria-busy={busy}>
        {words && found?.hits.map((h) => <HitLine key={`${h.message.group} ${h.message.id}`} hit={h} named={!group || everywhere} onOpen={() => remember(text)} />)}
      </ul>
      {words && found?.next && <p class="buttons"><button type="button" class="button" disabled={busy} onClick={more}>{say("Show more", "显示更多")}</button></p>}
    </div>
  );
}

/** What the server finds for a text, asked for once nothing has been typed for a moment. */
function useFound(text: string, group: string, sort: "newest" | "best", onText: (text: string) => void) {
  const { chat, me } = useSession();
  const people = usePeople();
  const groups = useGroups();
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const newest = useRef(0);
  const names = {
    groups: groups.map((g) => ({ id: g.id, title: titleOf(g, me, people) })), people: [...people.known.keys()].map((user) => ({ user, label: labelOf(people, user) })),
  };
  const { has, unknown, ...asked } = parametersOf(parseQuery(text), names);
  const key = JSON.stringify([asked, has, group, sort]);

  async function ask(before: readonly Hit[], cursor: string): Promise<void> {
    const mine = ++newest.current;
    setBusy(true);
    try {
      const page = await chat.search({ ...asked, ...(group && { group }), sort, limit: 30, ...(cursor && { cursor }) });
      if (mine !== newest.current) return;
      setFound({ hits: [...before, ...page.hits.filter((h) => hasAll(h.message, has))], next: page.next, before: page.incomplete_before });
      setProblem("");
    } catch (err) {
      if (mine === newest.current) refuse(err as ChatdError);
    }
    if (mine === newest.current) setBusy(false);
  }
  function refuse({ code, message }: ChatdError): void {
    const wordless = code === "invalid_request" && !/(^|\s)"?[\p{L}\p{N}]/u.test(asked.q);
    if (wordless) setFound(null);
    setProblem(wordless ? say("Name a word to look for: words with a “-” only leave messages out.", "请输入要查找的词语：带“-”的词只用于排除消息。") : message);
  }
  useEffect(() => {
    newest.current++; // an answer to what was typed before is void
    setBusy(false);
    if (!asked.q) {
      setProblem("");
      return setFound(null);
    }
    const timer = setTimeout(() => void ask([], ""), found || text !== "" ? AFTER_KEY_MS : 0);
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => {
    const timer = setTimeout(() => onText(text.trim()), AFTER_KEY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { found, problem, busy, unknown: unknown.map((f) => f.text), more: () => void ask(found?.hits ?? [], found?.next ?? "") };
}

function HitLine({ hit: { message: m, snippet }, named, onOpen }: { hit: Hit; named: boolean; onOpen: () => void }) {
  const { me, people: store } = useSession();
  const people = usePeople();
  const group = useGroups().find((g) => g.id === m.group);
  useEffect(() => store.seen([m as Message]), [m]);
  function open(): void {
    onOpen();
    const now = route();
    const panel = now.view === "group" && now.panel === "search";
    if (panel && now.group !== m.group) inPanel = { group: m.group, text: inPanel.text };
    if (m.thread) go(placeOf(m), panel ? "over" : "push"); // Back leads to what was found
    else go({ view: "group", group: m.group, id: m.id, ...(panel && { panel: "search" as const }) }, panel ? "replace" : "push");
  }
  return (
    <li>
      <button type="button" class="item hit" data-hit={`${m.group}/${m.id}`} onClick={open}>
        <Avatar user={m.from} />
        <span class="item-text">
          <span class="item-head"><strong><Name user={m.from} /></strong>{named && <small><bdi>{group ? titleOf(group, me, people) : m.group}</bdi></small>}
            <time dateTime={m.sent_at} title={fullTime(m.sent_at)}>{shortTime(m.sent_at)}</time></span>
          <span class="item-body" dir="auto">{partsOf(snippet.text, snippet.marks, m.mentions, nameIn(people)).map((p, i) => (p.found ? <mark key={i}>{p.text}</mark> : p.text))}</span>
        </span>
      </button>
    </li>
  );
}

/** In this tab only: what people look for is theirs. */
const recent = (): string[] => load("searches") ?? [];
function remember(text: string): void {
  const trimmed = text.trim();
  if (trimmed) save("searches", [trimmed, ...recent().filter((t) => t !== trimmed)].slice(0, RECENT_MAX));
}

function Recent({ onPick }: { onPick: (text: string) => void }) {
  const [texts, setTexts] = useState(recent);
  if (texts.length === 0) {
    return <Blank title={say("Find anything that was said", "查找任何说过的话")}>{say("All words have to be there. Narrow it with", "需包含所有词语。可用以下条件缩小范围：")} <code>{filterText("from", "bob")} {filterText("after", "2026-03-01")}</code></Blank>;
  }
  return (
    <section class="recent">
      <h2>{say("Recent searches", "最近搜索")} <button type="button" class="text-button" onClick={() => { save("searches", null); setTexts([]); }}>{say("Clear", "清除")}</button></h2>
      <ul>{texts.map((t) => <li key={t}><button type="button" class="chip" dir="auto" onClick={() => onPick(t)}>{t}</button></li>)}</ul>
    </section>
  );
}

const Blank = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="nothing"><span class="round"><Icon name="search" /></span><h2>{title}</h2><p class="quiet">{children}</p></div>
);
