/** The messages of a group: a window on its log, which loads at both ends and lets go of what is far away. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GroupState, MessageItem } from "@chatd/client";
import { useBlocked } from "../blocked.ts";
import { useEvent, useTimeline } from "../hooks.ts";
import { linesOf, readMarks, upTo, type Line } from "../lines.ts";
import { plain } from "../markdown.ts";
import { peerOf, titleOf } from "../groups.ts";
import { isolated, textOf, usePeople } from "../people.ts";
import { manages, useMembers, useReads } from "../members.ts";
import { removeSoon, takeBack, useRemovals } from "../removals.ts";
import { counted, say } from "../say.ts";
import { go, openThread, placeOf } from "../route.ts";
import { NEAR_PX, useNear, useScroll } from "../scroll.ts";
import { closed, useSession } from "../session.ts";
import { lazy } from "../ui/lazy.tsx";
import { Avatar, Icon } from "../ui/parts.tsx";
import type { Asked } from "./asked.tsx";
import type { About } from "./conversation.tsx";
import { DayLine, Folded, NewLine } from "./line.tsx";
import { MessageRow, type RowActions, type RowProps } from "./row.tsx";
import type { Open } from "./tools.tsx";
import { useRowKeys } from "./rowkeys.ts";

const Nothing = lazy(() => import("./places.tsx").then((m) => m.Nothing), () => null);
const GapLine = lazy(() => import("./gap.tsx").then((m) => m.GapLine), () => null);
const AskedDialog = lazy(() => import("./asked.tsx").then((m) => m.AskedDialog));

/** Lines held at a time: what the pages of the client, a tall screen and the bound of nodes allow. */
const LINES_MAX = 160;
/** From so many unread on, reading them all at once can be taken back. */
const UNDO_FROM = 100;
const FACES_MAX = 3;
/** Messages that replies may quote though they are not shown any more. */
const QUOTED_MAX = 1000;

export function Timeline({ group, at, onAbout }: { group: GroupState; at?: number | undefined; onAbout: (about: About) => void }) {
  const { chat, me, people: store, toast } = useSession();
  const people = usePeople();
  const blocked = useBlocked();
  const [state, timeline] = useTimeline(group.id, at ?? "unread", LINES_MAX);
  const { mine, look } = useMembers(group);
  const reads = useReads(group);
  const removals = useRemovals(group.id);
  const [target, setTarget] = useState(at ?? 0);
  const newFrom = useNewFrom(group, state.unread?.id ?? 0);
  const here = useRef(true);
  const held = useRef(false); // what was marked as unread stays so while it is looked at
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const api = chat.group(group.id);
  const failed = (err: Error) => toast(err.message, { bad: true });

  const whole = state.after === false && timeline !== null;
  const lines = useMemo(() => linesOf(state.items, newFrom.id, me, !!group.direct), [state.items, newFrom.id, group.direct]);
  const last = whole ? group.last : state.items.findLast((i) => i.type === "message" && i.id > 0)?.id ?? 0;
  const ids = upTo(lines, last);
  const marks = useMemo(() => readMarks(lines, reads, me, whole ? Infinity : last), [lines, reads, whole, last]);
  const quoted = useQuoted(state.items);
  // Where what was said before is hidden from those who join, their log begins with that.
  const start = state.items[0];
  const joined = start?.type === "message" && start.id > 1 && start.id === group.first && start.notice === "joined" && (start.user === me || !!start.users?.includes(me));
  const readTo = [...reads].reduce((to, [user, read]) => (user === me ? to : Math.max(to, read)), 0);
  useLayoutEffect(() => store.seen(state.items.filter((i): i is MessageItem => i.type === "message") as never), [state.items]);

  const loaded = timeline !== null && (state.items.length > 0 || (state.before === false && whole));
  const ready = loaded && state.before !== "loading";
  const { away, toEnd } = useScroll(scroller, {
    ready, whole, target,
    arrived(row) {
      setTarget(0);
      row.focus({ preventScroll: true });
      row.classList.add("found");
      row.addEventListener("animationend", () => row.classList.remove("found"), { once: true });
    },
    onRead: (key) => {
      const id = ids.get(key) ?? 0;
      if (!held.current && id > group.read) void api.read(id).catch(closed);
    },
  });
  useEffect(() => {
    if (!target || !ready || scroller.current?.querySelector(`.message[data-id="${target}"]`)) return; // else it is not here
    setTarget(0);
    const gone = () => here.current && toast(say("This message is no longer here.", "此消息已不存在。"));
    // A reply is shown in its thread.
    chat.request("GET", `/v1/groups/${encodeURIComponent(group.id)}/messages?after=${target - 1}&limit=1`).then(({ messages: [m] }) => {
      if (m?.id !== target || !m.thread) gone();
      else if (here.current) go(placeOf(m), "replace");
    }, gone);
  }, [target, ready]);
  useEffect(() => () => { here.current = false; }, []);

  async function jump(id: number): Promise<void> {
    if (!state.items.some((i) => i.id === id)) await timeline?.jump(id).catch(failed);
    setTarget(id);
  }
  async function newest(): Promise<void> {
    if (!whole) await timeline?.jump("end").catch(failed);
    toEnd();
  }
  function toNewest(): void {
    const [first, count] = [group.read + 1, group.unread];
    held.current = false;
    void newest();
    if (count === 0) return;
    void api.read(group.last).catch(closed);
    if (count <= UNDO_FROM) return;
    toast(say(`${counted(count, "message", "messages", "")} marked as read`, `已将 ${count} 条消息标为已读`), { action: { label: say("Undo", "撤销"), run: () => void unread(first).then(() => timeline?.jump("unread")).catch(failed) } });
  }
  async function unread(id: number): Promise<void> {
    held.current = true;
    await api.markUnread(id);
    newFrom.set(id);
  }

  // Who writes wants to see it.
  const written = useRef(group.queued);
  useLayoutEffect(() => {
    if (group.queued > written.current) {
      held.current = false;
      void newest();
    }
    written.current = group.queued;
  }, [group.queued]);

  const [asked, ask] = useState<Asked | null>(null);
  const latest = useRef({ jump, unread, look });
  latest.current = { jump, unread, look };
  const [open, setOpen] = useState<{ key: string; what: Open }>({ key: "", what: "" });
  const on = useMemo((): RowActions => ({
    show(key, what) {
      if (what === "menu") latest.current.look(); // what it offers depends on one's role
      setOpen({ key, what });
    },
    reply: (item) => onAbout({ kind: "reply", item }),
    edit: (item) => onAbout({ kind: "edit", item }),
    react: (item, emoji) => void api.react(item.id, emoji, !item.reactions.get(emoji)?.mine).catch(failed),
    remove(item) {
      setOpen({ key: "", what: "" });
      if (item.from === me) removeSoon(chat, me, group.id, item.id, failed);
      else void api.delete(item.id).catch(failed);
    },
    restore: (item) => takeBack(me, group.id, item.id),
    thread: (item) => openThread(group.id, item.id),
    unread: (item) => void latest.current.unread(item.id).catch(failed),
    jump: (id) => void latest.current.jump(id),
    ask,
  }), [group.id]);
  const keys = useRowKeys({ lines, open: open.what ? open.key : "", on, me });

  // Lines that fold to almost nothing would load for ever, at one end and the other in turn.
  const crowded = () => state.items.length >= LINES_MAX / 2 && scroller.current!.scrollHeight < scroller.current!.clientHeight + 2 * NEAR_PX;
  const older = () => void timeline?.loadBefore().catch(() => {}); // state.error says it
  const newer = () => void timeline?.loadAfter().catch(() => {});
  const edge = [lines[0]?.key, lines.at(-1)?.key, state.error];
  useNear(scroller, top, () => state.before === "more" && ready && !state.error && !crowded() && older(), [state.before, ready, ...edge]);
  useNear(scroller, bottom, () => state.after === "more" && ready && !state.error && !crowded() && newer(), [state.after, ready, ...edge]);

  const row = (l: Line) => {
    switch (l.type) {
      case "message": return <MessageRow key={l.key} item={l.item} head={l.head} readers={(marks.get(l.key) ?? []).join(" ")} manages={manages(mine)} unread={l.item.from === me && l.item.id > readTo} unreadReplies={!!l.item.replies && !!group.unreadThreads?.includes(l.item.id)} on={on} {...keys.of(l.key)}
        leaving={removals.has(l.item.id)} open={open.key === l.key ? open.what : ""} {...quoteOf(l.item)} />;
      case "day": return <DayLine key={l.key} at={l.at} />;
      case "new": return <NewLine key={l.key} />;
      case "gap": return <GapLine key={l.key} gap={l.gap} load={(gap) => timeline!.loadGap(gap)} />;
      default: return <Folded key={l.key} id={l.key} type={l.type} items={l.items} />;
    }
  };
  function quoteOf(item: MessageItem): Pick<RowProps, "quoteFrom" | "quoteText"> {
    if (!item.reply_to) return {};
    const to = quoted.get(item.reply_to);
    if (!to) return { quoteFrom: "", quoteText: say("Earlier message", "较早的消息") };
    if (blocked.has(to.from)) return { quoteFrom: "", quoteText: say("Message of a blocked person", "已屏蔽的人的消息") };
    const text = to.deleted_at ? say("Deleted message", "已删除的消息") : plain(to.body ?? "", to.mentions, (user) => textOf(people, user));
    return { quoteFrom: to.from, quoteText: text || to.files?.map((f) => f.name).join(", ") || say("Data", "数据") };
  }
  const more = (side: "before" | "after", load: () => void) => (
    <p class="quiet">
      {state.error && <span role="alert">{state.error.detail} </span>}
      {state[side] === "loading" ? say("Loading…", "正在加载…")
        : <button type="button" class="text-button" onClick={load}>{state.error ? say("Try again", "重试") : side === "before" ? say("Earlier messages", "更早的消息") : say("Later messages", "更晚的消息")}</button>}
    </p>
  );
  return (
    <div class="scroller" ref={scroller}>
      <div class="log-top" ref={top}>
        {state.before || !loaded ? more("before", older) : <Beginning group={group} joined={joined} title={isolated(titleOf(group, me, people))} />}
        {loaded && whole && !state.before && (joined || group.first <= 1) && !lines.some((l) => l.type === "message" || l.type === "deleted") && <Nothing group={group} />}
      </div>
      <ol class="messages" aria-label={say("Messages", "消息")} aria-busy={!loaded} {...keys.events}>{lines.map(row)}</ol>
      {state.after && <div class="log-bottom" ref={bottom}>{more("after", newer)}</div>}
      {away && loaded && <ToEnd group={group} items={state.items} onClick={toNewest} />}
      {asked && <AskedDialog {...asked} onClose={() => ask(null)} />}
    </div>
  );
}

/** What stands above the first message. */
function Beginning({ group, joined, title }: { group: GroupState; joined: boolean; title: string }) {
  const { me } = useSession();
  if (joined) return <p class="quiet">{say("You see what was said since you joined", "您可以看到加入之后的消息")}</p>;
  if (group.first > 1) return <p class="quiet">{say("Older messages are no longer available", "更早的消息已不可用")}</p>;
  return <p class="quiet">{peerOf(group, me) && !group.name ? say(`This is the beginning of your conversation with ${title}`, `这是您与 ${title} 的对话的开始`) : say(`This is the beginning of ${title}`, `这是 ${title} 的开始`)}</p>;
}

/** Leads to the newest message, with how many are unread and who wrote last. */
function ToEnd({ group, items, onClick }: { group: GroupState; items: readonly { from?: unknown; id?: number | undefined }[]; onClick: () => void }) {
  const { me } = useSession();
  const faces = new Set<string>();
  if (group.unread > 0) {
    for (const i of [group.last_message, ...items.toReversed()]) {
      if (typeof i?.from === "string" && i.from && i.from !== me && i.id! > group.read && faces.size < FACES_MAX) faces.add(i.from);
    }
  }
  return (
    <button type="button" class="to-end" onClick={onClick}>
      {[...faces].map((user) => <Avatar key={user} user={user} small />)}
      {say("Jump to latest", "跳到最新")}{group.unread > 0 && ` · ${say(`${group.unread.toLocaleString()} unread`, `${group.unread} 条未读`)}`}<Icon name="down" />
    </button>
  );
}

/** From which id on messages are new: what was unread when this was opened, and what came while nobody looked. */
function useNewFrom(group: GroupState, unread: number): { id: number; set: (id: number) => void } {
  const [later, set] = useState(0);
  const id = later || unread;
  const [hidden, setHidden] = useState(document.visibilityState === "hidden");
  useEvent(document, "visibilitychange", () => setHidden(document.visibilityState === "hidden"));
  const first = group.unread > 0 ? group.read + 1 : 0;
  useLayoutEffect(() => {
    if (hidden && first > id) set(first);
  }, [hidden, first]);
  return { id, set };
}

/** The messages that were shown lately, by id: what replies quote. */
function useQuoted(items: readonly { type: string; id?: number | undefined }[]): ReadonlyMap<number, MessageItem> {
  const seen = useRef(new Map<number, MessageItem>()).current;
  for (const i of items as readonly MessageItem[]) {
    if (i.type !== "message" || !(i.id > 0) || seen.get(i.id) === i) continue;
    seen.delete(i.id); // the newest are last
    seen.set(i.id, i);
  }
  for (const id of seen.keys()) {
    if (seen.size <= QUOTED_MAX) break;
    seen.delete(id);
  }
  return seen;
}
