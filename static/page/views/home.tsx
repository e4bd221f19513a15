/** Where one begins: what is unread, what is due, how the connection is, and the first steps on a new server. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { GroupState, Wire } from "@chatd/client";
import { shortTime, timeOf } from "../format.ts";
import { load, save } from "../saved.ts";
import { draftsOf, placeOfDraft } from "../drafts.ts";
import { useGroups, useKnown, useNarrow, useSnapshot, useTimeline } from "../hooks.ts";
import { titleOf } from "../groups.ts";
import { useOpenItems } from "../inbox.ts";
import { isolated, textOf, usePeople, usePerson } from "../people.ts";
import { oneLine } from "../preview.ts";
import { groupPath, pathOf } from "../route.ts";
import { counted, say } from "../say.ts";
import { closed, useSession } from "../session.ts";
import { lazy } from "../ui/lazy.tsx";
import { GroupFace, Icon } from "../ui/parts.tsx";
import { DevCards } from "./devcards.tsx";
import { itemsText } from "./inbox.tsx";

const Online = lazy(() => import("./there.tsx").then((m) => m.Online), () => null);

const CARDS_MAX = 6;
const LINES = 2;
const DRAFTS_MAX = 5;

/** On a phone the list of groups is what one begins with. */
export const Home = () => (useNarrow() ? null : <Beginning />);

function Beginning() {
  const { me, features } = useSession();
  const { label } = usePerson(me);
  const groups = useGroups();
  const unread = groups.filter((g) => g.unread > 0).sort((a, b) => Number(b.mentions_unread > 0) - Number(a.mentions_unread > 0));
  const waiting = useOpenItems().length;
  const known = useKnown();
  return (
    <div class="pane-body home">
      <header class="home-head">
        <h1>{say("Hello", "您好")} {known && <bdi>{label}</bdi>}</h1>
        <Connection />
      </header>
      {known && <Steps groups={groups} />}
      {unread.length > 0 && <section aria-label={say("Unread", "未读")}>
        <h2>{counted(unread.length, "group with unread messages", "groups with unread messages", "个群组有未读消息")}</h2>
        <ul class="cards">{unread.slice(0, CARDS_MAX).map((g) => <Unread key={g.id} group={g} />)}</ul>
      </section>}
      {unread.length === 0 && groups.length > 0 && <p class="home-card calm"><Icon name="check" />{say("Nothing is unread.", "没有未读消息。")}</p>}
      <Drafts groups={groups} />
      {waiting > 0 && <a class="home-card calm" href={pathOf({ view: "inbox" })}><Icon name="bell" />{itemsText(waiting)}</a>}
      {features.includes("schedules") && <Due />}
      {known && groups.length > 0 && <Online />}
      {features.includes("dev") && <DevCards />}
    </div>
  );
}

/** The first unread messages of a group. */
function Unread({ group: g }: { group: GroupState }) {
  const { chat, me, people: store, toast } = useSession();
  const people = usePeople();
  const [{ items, unread }] = useTimeline(g.id, "unread", 60);
  const title = titleOf(g, me, people);
  const first = items.filter((i) => i.type === "message" && i.kind !== "notice" && !i.deleted_at && i.from !== me && i.id >= (unread?.id ?? Infinity)).slice(0, LINES);
  useLayoutEffect(() => store.want(first.map((i) => (i.type === "message" ? i.from : undefined))), [first.length]);
  function read(): void {
    const from = unread?.id;
    const name = isolated(title);
    void chat.group(g.id).read(g.last).catch(closed);
    toast(say(`Marked ${name} as read.`, `已将 ${name} 标为已读。`), from ? { action: { label: say("Undo", "撤销"), run: () => void chat.group(g.id).markUnread(from).catch(closed) } } : {});
  }
  return (
    <li class="home-card unread-card" data-group={g.id}>
      <a class="card-open" href={groupPath(g.id)}>
        <GroupFace group={g} title={title} />
        <span class="item-text">
          <span class="item-head"><strong dir="auto">{title}</strong>{g.mentions_unread > 0 && <span class="badge at">@</span>}<span class="badge">{g.unread > 999 ? "999+" : g.unread}</span>
            {g.last_message && <time dateTime={g.last_message.sent_at}>{shortTime(g.last_message.sent_at)}</time>}</span>
          {first.map((i) => i.type === "message" && <span key={i.key} class="group-last" dir="auto"><bdi>{textOf(people, i.from)}</bdi>{say(": ", "：")}{oneLine(i, people)}</span>)}
        </span>
      </a>
      <button type="button" class="text-button" onClick={read}>{say("Mark as read", "标为已读")}</button>
    </li>
  );
}

/** What one has begun to write. */
function Drafts({ groups }: { groups: readonly GroupState[] }) {
  const { me } = useSession();
  const people = usePeople();
  const drafts = draftsOf(me).flatMap(({ group: name, draft }) => {
    const { group, root } = placeOfDraft(name);
    const g = groups.find((one) => one.id === group);
    return g ? [{ g, draft, name, path: root ? pathOf({ view: "group", group, panel: "thread", root }) : groupPath(group) }] : [];
  });
  if (drafts.length === 0) return null;
  return (
    <section>
      <h2>{counted(drafts.length, "draft", "drafts", "份草稿")}</h2>
      <ul class="home-card">{drafts.slice(0, DRAFTS_MAX).map(({ g, draft, name, path }) => (
        <li key={name} data-draft={name}><a class="due" href={path}><Icon name="pencil" /><bdi>{titleOf(g, me, people)}</bdi>
          <span class="group-last" dir="auto">{draft.text.trim() || say("Attachment", "附件")}</span></a></li>
      ))}</ul>
    </section>
  );
}

/** What one has scheduled for the rest of today. */
function Due() {
  const { chat, me } = useSession();
  const people = usePeople();
  const groups = useGroups();
  const [due, setDue] = useState<readonly Wire.Schedule[]>([]);
  useEffect(() => {
    let shown = true;
    const end = new Date().setHours(24, 0, 0, 0);
    const today = (s: Wire.Schedule) => s.state === "pending" && s.next_at !== null && Date.parse(s.next_at) < end;
    chat.schedules.list({ limit: 100 }).then((page) => shown && setDue(page.schedules.filter(today)), () => {}); // the page of schedules says what is wrong
    return () => { shown = false; };
  }, []);
  if (due.length === 0) return null;
  return (
    <section>
      <h2>{say("Going out today", "今天将发送")}</h2>
      <ul class="home-card">{due.slice(0, 5).map((s) => {
        const group = groups.find((g) => g.id === s.group);
        return <li key={s.id}><a class="due" href={pathOf({ view: "scheduled" })}><time dateTime={s.next_at!}>{timeOf(s.next_at!)}</time>
          <bdi>{group ? titleOf(group, me, people) : s.group ?? textOf(people, s.user ?? "")}</bdi><span class="group-last" dir="auto">{s.body}</span></a></li>;
      })}</ul>
    </section>
  );
}

/** How the page is connected, with how long the last call took, as far as the browser noted it. */
function Connection() {
  const connection = useSnapshot((s) => s.connection);
  if (connection.phase !== "live") return null;
  const call = (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).findLast((e) => e.name.includes("/v1/") && !e.name.includes("/v1/sync") && e.responseStart > 0);
  const ways = { websocket: "websocket", poll: say("polling", "轮询"), tab: say("through another tab", "经由另一个标签页") };
  return (
    <p class="quiet live"><i aria-hidden="true" />{[say("Live", "已连接"), ...(call ? [`${Math.max(1, Math.round(call.responseStart - call.requestStart))} ms`] : []), ways[connection.by]].join(" · ")}</p>
  );
}

const STEPS = ["invite", "write", "offline"] as const;
type Step = (typeof STEPS)[number];

/** What to try first; each ticks off as it is done, and all go once they are. */
function Steps({ groups }: { groups: readonly GroupState[] }) {
  const { me } = useSession();
  const offline = useSnapshot((s) => s.connection.phase === "waiting");
  const [done, setDone] = useState<readonly Step[]>(() => load("steps")?.[me] ?? []);
  const now = STEPS.filter((step) => done.includes(step) || (step === "offline" ? offline || !navigator.onLine
    : groups.some((g) => (step === "invite" ? g.members > 1 : g.last_message?.from === me && g.last_message.kind !== "notice"))));
  useEffect(() => {
    if (now.length === done.length) return;
    setDone(now);
    save("steps", { ...load("steps"), [me]: now });
  }, [now.length]);
  // Whoever has groups knows their way, unless they have begun here.
  if (now.length === STEPS.length || (groups.length > 0 && now.includes("invite") && now.includes("write"))) return null;
  const step = (name: Step, title: string, text: string, more?: ComponentChildren) => (
    <li class={now.includes(name) ? "step done" : "step"}>
      <span class="step-mark" role="img" aria-label={now.includes(name) ? say("Done", "已完成") : say("To do", "待完成")}>{now.includes(name) ? <Icon name="check" /> : STEPS.indexOf(name) + 1}</span>
      <span><strong>{title}</strong><span class="quiet">{text}</span>{!now.includes(name) && more}</span>
    </li>
  );
  return (
    <section class="home-card">
      <h2>{say("First steps", "第一步")}</h2>
      <ol class="steps">
        {step("invite", say("Bring somebody in", "邀请他人"), say("Create a group, then invite people by a link under “Members”. Or join a public group.", "新建群组，然后在“成员”中用链接邀请他人；也可以加入公开群组。"),
          <span class="buttons"><a class="button primary" href={pathOf({ view: "new" })}>{say("Create group", "新建群组")}</a><a class="button" href={pathOf({ view: "browse" })}>{say("Browse public groups", "浏览公开群组")}</a></span>)}
        {step("write", say("Write a message", "写一条消息"), say("It shows at once, and a tick when the server has it.", "消息会立即显示，服务器收到后会打勾。"))}
        {step("offline", say("Cut the network", "断开网络"), say("Write something while offline, then come back: it is sent, once and in order.", "离线时写点什么，再恢复网络：消息会按顺序发送，且只发一次。"))}
      </ol>
    </section>
  );
}
