/** One thread beside its group: the message, the replies to it, and the place to write. */
import type { GroupState, MessageItem, Thread, ThreadState } from "@chatd/client";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { useEvent, useSyncExternal } from "../hooks.ts";
import { linesOf, type Line } from "../lines.ts";
import { plain } from "../markdown.ts";
import { manages, useMembers } from "../members.ts";
import { textOf, usePeople } from "../people.ts";
import { removeSoon, takeBack, useRemovals } from "../removals.ts";
import { counted, say } from "../say.ts";
import { NEAR_PX } from "../scroll.ts";
import { closed, useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Icon, Problem } from "../ui/parts.tsx";
import type { Asked } from "./asked.tsx";
import { Composer } from "./composer.tsx";
import type { About, Written } from "./conversation.tsx";
import { DayLine, Folded, NewLine } from "./line.tsx";
import { MessageRow, type RowActions, type RowProps } from "./row.tsx";
import { useRowKeys } from "./rowkeys.ts";
import type { Open } from "./tools.tsx";

const AskedDialog = lazy(() => import("./asked.tsx").then((m) => m.AskedDialog));

const opening: ThreadState = { root: null, items: [], before: "loading", after: false, follows: null, error: null };
const never = () => () => {};

function useThread(group: string, root: number, at: number | undefined): [ThreadState, Thread | null] {
  const { chat } = useSession();
  const held = useRef<Thread | null>(null);
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  useLayoutEffect(() => {
    const thread = (held.current = chat.group(group).thread(root, at ? { at } : {}));
    draw();
    return () => {
      held.current = null;
      thread.close();
    };
  }, [chat, group, root]);
  const thread = held.current;
  return [useSyncExternal(thread?.subscribe ?? never, thread?.snapshot ?? (() => opening)), thread];
}

export function ThreadPanel({ group, root, at }: { group: GroupState; root: number; at?: number | undefined }) {
  const { me, people: store } = useSession();
  const people = usePeople();
  const [state, thread] = useThread(group.id, root, at);
  const { mine, look } = useMembers(group);
  const removals = useRemovals(group.id);
  const [about, setAbout] = useState<About>(null);
  const [asked, ask] = useState<Asked | null>(null);
  const [open, setOpen] = useState<{ key: string; what: Open }>({ key: "", what: "" });
  const input = useRef<HTMLTextAreaElement>(null);
  const { id, members, post, slow_s, mention_all, muted_until } = group;
  const written = useMemo((): Written => ({ id, post, slow_s, mention_all, muted_until, members }), [id, post, slow_s, mention_all, muted_until, members]);
  const all = useMemo(() => (state.root ? [state.root, ...state.items] : []), [state]);
  useLayoutEffect(() => store.seen(all.filter((i) => i.id > 0) as never), [all]);
  const newFrom = useNewFrom(state);
  const lines = useMemo(() => linesOf(state.items, newFrom, me, false), [state.items, newFrom]);
  const top = useMemo(() => (state.root ? linesOf([state.root], 0, me, false).filter((l) => l.type !== "day") : []), [state.root]);
  const on = useActions(group.id, thread, (next) => { if (next.what === "menu") look(); setOpen(next); }, ask, (next) => { setAbout(next); input.current?.focus(); });
  const keys = useRowKeys({ lines: [...top, ...lines], open: open.what ? open.key : "", on, me });
  const scroller = useScroller(state, thread, at);
  useReading(state, thread);

  function quoteOf(item: MessageItem): Pick<RowProps, "quoteFrom" | "quoteText"> {
    const to = item.reply_to && all.find((i) => i.id === item.reply_to);
    if (!item.reply_to) return {};
    if (!to) return { quoteFrom: "", quoteText: say("Earlier message", "较早的消息") };
    return { quoteFrom: to.from, quoteText: to.deleted_at ? say("Deleted message", "已删除的消息") : plain(to.body ?? "", to.mentions, (user) => textOf(people, user)) || say("Data", "数据") };
  }
  const row = (l: Line) => {
    switch (l.type) {
      case "message": return <MessageRow key={l.key} item={l.item} head={l.head || l.item.id === root} readers="" manages={manages(mine)} on={on} {...keys.of(l.key)}
        leaving={removals.has(l.item.id)} open={open.key === l.key ? open.what : ""} {...quoteOf(l.item)} />;
      case "day": return <DayLine key={l.key} at={l.at} />;
      case "new": return <NewLine key={l.key} />;
      case "gap": return null;
      default: return <Folded key={l.key} id={l.key} type={l.type} items={l.items} />;
    }
  };
  if (state.error?.code === "not_found") return <p class="quiet thread-gone" role="status">{say("The message of this thread is no longer there.", "此消息列的原消息已不存在。")}</p>;
  return (
    <>
      <div class="thread" ref={scroller} data-thread={root} data-loaded={state.before !== "loading" || undefined} {...keys.events}>
        <ol class="messages thread-root" aria-label={say("Message", "消息")}>{top.map(row)}</ol>
        <div class="thread-head">
          <span>{state.root?.replies ? counted(state.root.replies, "reply", "replies", "条回复") : say("No replies yet", "还没有回复")}</span>
          <Follow state={state} thread={thread} />
        </div>
        <Problem text={state.error?.detail ?? ""} />
        {state.before === "more" && <p class="quiet thread-more"><button type="button" class="text-button" onClick={() => void thread?.loadBefore().catch(closed)}>{say("Earlier replies", "更早的回复")}</button></p>}
        <ol class="messages" aria-label={say("Replies", "回复")} aria-busy={state.before === "loading"}>{lines.map(row)}</ol>
        {state.after === "more" && <p class="quiet thread-more"><button type="button" class="text-button" onClick={() => void thread?.loadAfter().catch(closed)}>{say("Later replies", "更晚的回复")}</button></p>}
      </div>
      <Composer key={root} group={written} title="" about={about} onAbout={setAbout} input={input} thread={root} />
      {asked && <AskedDialog {...asked} onClose={() => ask(null)} />}
    </>
  );
}

/** Whether the person is told of what is new in it. */
function Follow({ state, thread }: { state: ThreadState; thread: Thread | null }) {
  const { toast } = useSession();
  if (!state.follows) return null;
  const { following } = state.follows;
  return (
    <button type="button" class="text-button" name="follow" aria-pressed={following} onClick={() => void thread?.follow(!following).catch((err) => toast(problemOf(err), { bad: true }))}>
      <Icon name={following ? "bell" : "bell-off"} />{following ? say("Following", "已关注") : say("Follow", "关注")}</button>
  );
}

function useActions(group: string, thread: Thread | null, setOpen: (open: { key: string; what: Open }) => void, ask: (what: Asked) => void, onAbout: (about: About) => void): RowActions {
  const { chat, me, toast } = useSession();
  const latest = useRef({ thread, onAbout, setOpen });
  latest.current = { thread, onAbout, setOpen };
  return useMemo((): RowActions => {
    const api = chat.group(group);
    const failed = (err: Error) => toast(err.message, { bad: true });
    return {
      show: (key, what) => latest.current.setOpen({ key, what }),
      reply: (item) => latest.current.onAbout({ kind: "reply", item }),
      edit: (item) => latest.current.onAbout({ kind: "edit", item }),
      react: (item, emoji) => void api.react(item.id, emoji, !item.reactions.get(emoji)?.mine).catch(failed),
      remove(item) {
        latest.current.setOpen({ key: "", what: "" });
        if (item.from === me) removeSoon(chat, me, group, item.id, failed);
        else void api.delete(item.id).catch(failed);
      },
      restore: (item) => takeBack(me, group, item.id),
      jump(id) {
        const row = () => document.querySelector<HTMLElement>(`.thread .message[data-id="${id}"]`);
        if (row()) row()!.focus();
        else void latest.current.thread?.jump(id).catch(failed);
      },
      ask,
    };
  }, [group]);
}

/** From which reply on they are new: what was unread when it was opened. */
function useNewFrom({ follows }: ThreadState): number {
  const [from, set] = useState<number | null>(null);
  useLayoutEffect(() => {
    if (from === null && follows) set(follows.unread > 0 ? follows.read + 1 : 0);
  }, [follows]);
  return from ?? 0;
}

/** Shows the end, or the reply that it was opened for, and stays at the end. */
function useScroller(state: ThreadState, thread: Thread | null, at: number | undefined) {
  const ref = useRef<HTMLDivElement>(null);
  const placed = useRef(false);
  const end = useRef(true);
  useEvent(window, "resize", () => { if (end.current && ref.current) ref.current.scrollTop = ref.current.scrollHeight; });
  useEffect(() => {
    const box = ref.current;
    const moved = () => { end.current = box!.scrollHeight - box!.scrollTop - box!.clientHeight < NEAR_PX; };
    box?.addEventListener("scroll", moved, { passive: true });
    return () => box?.removeEventListener("scroll", moved);
  }, [thread !== null && state.error?.code]);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const row = at && !placed.current && box.querySelector<HTMLElement>(`.message[data-id="${at}"]`);
    if (row) {
      row.scrollIntoView({ block: "center" });
      row.focus({ preventScroll: true });
      row.classList.add("found");
      placed.current = true;
      end.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
    } else if (end.current && (!at || placed.current)) box.scrollTop = box.scrollHeight;
  }, [state.items, state.root]);
  return ref;
}

/** What is shown to somebody who looks counts as read. */
function useReading(state: ThreadState, thread: Thread | null): void {
  const [looks, setLooks] = useState(() => document.hasFocus());
  useEvent(window, "focus", () => setLooks(true));
  useEvent(window, "blur", () => setLooks(false));
  const last = state.items.findLast((i) => i.id > 0)?.id ?? 0;
  useEffect(() => {
    if (looks && state.after === false && last > 0 && state.follows && last > state.follows.read) void thread?.read(last).catch(closed);
  }, [looks, last, state.after, state.follows?.following]);
}
