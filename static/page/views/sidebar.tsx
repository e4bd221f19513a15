/** The list of groups: filtered, in sections, and drawn only as far as it is in sight. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GroupState } from "@chatd/client";
import { useEvent, useGroups, useKnown, useNarrow } from "../hooks.ts";
import { peerOf, titleOf } from "../groups.ts";
import { usePeople } from "../people.ts";
import { usePrefs } from "../prefs.ts";
import { go, pathOf } from "../route.ts";
import { say } from "../say.ts";
import { drawnOf, fold, isUnread, linesOf, unreadBeyond, type Line, type SectionName } from "../sections.ts";
import { useSession } from "../session.ts";
import { star, useStarred } from "../starred.ts";
import { lazy } from "../ui/lazy.tsx";
import { memo } from "../ui/memo.ts";
import { Icon } from "../ui/parts.tsx";
import { Divider } from "./divider.tsx";
import { GroupRow } from "./grouprow.tsx";
import type { Theres } from "../presence.tsx";
import { Ways } from "./rail.tsx";

const Peers = lazy(() => import("./there.tsx").then((m) => m.Peers), () => null);

const ROW_PX = matchMedia("(pointer: coarse)").matches ? { cosy: 48, compact: 44 } : { cosy: 48, compact: 32 };
/** Keys that follow within this are one word that is looked for. */
const TYPED_MS = 700;

const SECTIONS: Record<SectionName, string> = {
  unread: say("Unread", "未读"), starred: say("Favourites", "收藏"), direct: say("Direct messages", "私聊"), groups: say("Groups", "群组"), found: "",
};

/** The groups as they were drawn last, for what goes from one to the next. */
export let listed: readonly GroupState[] = [];

/** alone: nothing else is shown, so that it is what the page is about. */
export function Sidebar({ open, alone }: { open: string; alone: boolean }) {
  const [filter, setFilter] = useState("");
  const lines = useLines(open, filter);
  const list = useRef<HTMLElement>(null);
  const narrow = useNarrow();
  const found = lines.find((l) => l.type === "group");
  function keyDown(e: KeyboardEvent): void {
    if (e.key === "Escape" && filter) {
      e.preventDefault();
      setFilter("");
    } else if (e.key === "Enter" && found && !e.isComposing) {
      setFilter("");
      go({ view: "group", group: found.group.id });
    } else if (e.key === "ArrowDown" && !e.altKey) {
      e.preventDefault();
      list.current?.querySelector<HTMLElement>(".group-link")?.focus();
    }
  }
  return (
    <div class="side" role={alone ? "main" : "complementary"} aria-label={say("Groups", "群组")} data-region>
      {alone && <h1 class="unseen">{"chatd"}</h1>}
      <Top narrow={narrow} />
      <label class="list-filter">
        <Icon name="search" />
        <input type="text" name="filter" dir="auto" autocomplete="off" spellcheck={false} enterkeyhint="go" value={filter} aria-label={say("Filter groups", "筛选群组")}
          placeholder={say("Filter", "筛选")} onInput={(e) => setFilter(e.currentTarget.value)} onKeyDown={keyDown} />
        <kbd>{say("Ctrl K", "Ctrl K")}</kbd>
      </label>
      {!found && <Empty filter={filter} />}
      <List lines={lines} open={open} box={list} />
      <Divider />
    </div>
  );
}

const Top = memo(({ narrow }: { narrow: boolean }) => (
  <div class="panel-head">
    <h2>{say("Groups", "群组")}</h2>
    {narrow && <Ways />}
    <a class="icon-button" href={pathOf({ view: "browse" })} aria-label={say("Browse public groups", "浏览公开群组")} title={say("Browse public groups", "浏览公开群组")}><Icon name="compass" /></a>
    <a class="icon-button" href={pathOf({ view: "new" })} aria-label={say("Create group", "新建群组")} title={say("Create group", "新建群组")}><Icon name="plus" /></a>
  </div>
));

function useLines(open: string, filter: string): Line[] {
  const { me, people: store } = useSession();
  const groups = useGroups();
  const people = usePeople();
  const starred = useStarred(me);
  const rowPx = ROW_PX[usePrefs().density];
  const held = useRef({ group: "", unread: false });
  const at = groups.find((g) => g.id === open);
  if (held.current.group !== at?.id) held.current = { group: at?.id ?? "", unread: at !== undefined && isUnread(at) };
  useEffect(() => store.want(groups.flatMap((g) => [...(g.direct ?? []), g.last_message?.from])), [groups]);
  const lines = linesOf({ groups, titleOf: (g) => titleOf(g, me, people), starred, open: held.current.group, openUnread: held.current.unread, filter, rowPx });
  listed = lines.flatMap((l) => (l.type === "group" ? [l.group] : []));
  return lines;
}

function List({ lines, open, box }: { lines: readonly Line[]; open: string; box: { current: HTMLElement | null } }) {
  const { me } = useSession();
  const starred = useStarred(me);
  const [view, setView] = useState({ from: 0, height: 900 });
  const [at, setAt] = useState(""); // where the keyboard is
  const [there, setThere] = useState<Theres>();
  const inner = useRef<HTMLUListElement>(null);
  const typed = useRef({ text: "", when: 0 });
  const focusing = useRef("");
  const last = lines.at(-1);
  const groups = lines.filter((l) => l.type === "group");
  const stop = groups.find((l) => l.group.id === at) ?? groups.find((l) => l.group.id === open) ?? groups[0];
  const active = stop?.group.id ?? "";
  const onStar = useRef((group: string, on: boolean) => star(me, group, on)).current;
  function look(): void {
    const { scrollTop: from, clientHeight: height } = box.current!;
    setView((v) => (Math.abs(v.from - from) < 100 && v.height === height ? v : { from, height }));
  }
  useLayoutEffect(look, []);
  useEvent(window, "resize", look);
  useLayoutEffect(() => { inner.current!.style.height = `${last ? last.top + last.height : 0}px`; });
  useLayoutEffect(() => { // it may have been out of sight, and not been drawn
    if (!focusing.current) return;
    box.current?.querySelector<HTMLElement>(`[data-group="${CSS.escape(focusing.current)}"]`)?.focus();
    focusing.current = "";
  });
  useLayoutEffect(() => {
    const line = groups.find((l) => l.group.id === open);
    if (line) reveal(line);
  }, [open]);

  function reveal({ top, height }: Line): void {
    const pane = box.current!;
    if (top < pane.scrollTop) pane.scrollTop = top - 30;
    else if (top + height > pane.scrollTop + pane.clientHeight) pane.scrollTop = top + height - pane.clientHeight + 8;
  }
  function move(to: (typeof groups)[number] | undefined): void {
    if (!to) return;
    focusing.current = to.group.id;
    reveal(to);
    setAt(to.group.id);
    if (to.group.id === active) box.current?.querySelector<HTMLElement>(`[data-group="${CSS.escape(active)}"]`)?.focus();
  }
  function keyDown(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const now = groups.findIndex((l) => l.group.id === active);
    const page = Math.max(1, Math.floor(view.height / (last?.height ?? 1)) - 1);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: groups.length - 1, PageDown: now + page, PageUp: now - page }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      typed.current.when = -TYPED_MS; // a letter after this is the first of a name
      move(groups[Math.max(0, Math.min(groups.length - 1, to))]);
    } else if (e.key.length === 1) {
      const fresh = e.timeStamp - typed.current.when > TYPED_MS;
      if (fresh && e.key === " ") return;
      const text = (fresh ? "" : typed.current.text) + fold(e.key);
      typed.current = { text, when: e.timeStamp };
      const order = [...groups.slice(now + (fresh ? 1 : 0)), ...groups.slice(0, now + 1)];
      move(order.find((l) => fold(l.title).startsWith(text)));
      e.preventDefault(); // it is no shortcut here
    }
  }

  const drawn = drawnOf(lines, view.from, view.height, active);
  const peers = drawn.flatMap((l) => (l.type === "group" && peerOf(l.group, me)) || []);
  const beyond = unreadBeyond(lines, view.from, view.height);
  return (
    <div class="list">
      <nav ref={(e) => { box.current = e; }} class="groups" aria-label={say("Your groups", "您的群组")} tabIndex={-1} onScroll={look} onKeyDown={keyDown}
        onFocusIn={(e) => setAt((e.target as HTMLElement).closest<HTMLElement>(".group-link")?.dataset.group ?? at)}>
        <ul ref={inner}>
          {drawn.map((l) => l.type === "head" ? <Head key={l.section} name={l.section} top={l.top} count={l.count} />
            : <GroupRow key={`g ${l.group.id}`} group={l.group} title={l.title} top={l.top} current={l.group.id === open} stop={l.group.id === active}
                starred={starred.includes(l.group.id)} onStar={onStar} there={there?.get(peerOf(l.group, me)!)?.state} />)}
        </ul>
      </nav>
      {peers.length > 0 && <Peers users={peers} onThere={setThere} />}
      {beyond.above > 0 && <Beyond up n={beyond.above} onClick={() => box.current?.scrollTo({ top: 0 })} />}
      {beyond.below > 0 && <Beyond n={beyond.below} onClick={() => box.current?.scrollBy({ top: view.height })} />}
    </div>
  );
}

function Head({ name, top, count }: { name: SectionName; top: number; count: number }) {
  const ref = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => { ref.current!.style.insetBlockStart = `${top}px`; }, [top]);
  return <li ref={ref} class="list-head" data-section={name}><h3>{SECTIONS[name]}</h3><span aria-hidden="true">{count}</span></li>;
}

const Beyond = ({ n, up = false, onClick }: { n: number; up?: boolean; onClick: () => void }) => (
  <button type="button" class={up ? "beyond up" : "beyond"} tabIndex={-1} onClick={onClick}>
    {up ? say(`${n} unread above ↑`, `上方有 ${n} 个未读 ↑`) : say(`${n} unread below ↓`, `下方有 ${n} 个未读 ↓`)}
  </button>
);

function Empty({ filter }: { filter: string }) {
  const known = useKnown();
  if (filter) return <p class="list-empty quiet">{say("No group is called that.", "没有这样的群组。")}</p>;
  if (!known) return <div class="list-empty skeleton" aria-hidden="true"><i /><i /><i /><i /></div>;
  return (
    <div class="list-empty">
      <p class="quiet">{say("No groups yet. Create one, join a public one, or open an invite link that somebody sent you.", "还没有群组。新建一个、加入公开群组，或打开他人发来的邀请链接。")}</p>
      <p class="buttons">
        <a class="button primary" href={pathOf({ view: "new" })}>{say("Create group", "新建群组")}</a>
        <a class="button" href={pathOf({ view: "browse" })}>{say("Browse public groups", "浏览公开群组")}</a>
      </p>
    </div>
  );
}
