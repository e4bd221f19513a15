/** The threads that a person follows: those with replies to read first, and on request the others. */
import type { Message, Wire } from "@chatd/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { shortTime } from "../format.ts";
import { titleOf } from "../groups.ts";
import { useGroups, useSnapshot } from "../hooks.ts";
import { textOf, usePeople } from "../people.ts";
import { oneLine } from "../preview.ts";
import { pathOf } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Back, Icon, Problem } from "../ui/parts.tsx";

type Listed = Wire.Thread & { group: string };
/** Groups that are asked, the last active first, and how many at a time. */
const GROUPS_MAX = 100;
const AT_ONCE = 4;

export function Threads() {
  const { chat } = useSession();
  const unread = useSnapshot((s) => s.threads_unread);
  const live = useSnapshot((s) => s.connection.phase === "live");
  const [list, setList] = useState<readonly Listed[] | null>(null);
  const [whole, setWhole] = useState(false); // also those without replies to read
  const [problem, setProblem] = useState("");
  const latest = useRef(0);

  async function load(): Promise<void> {
    const mine = ++latest.current;
    const asked = chat.snapshot().groups.filter((g) => whole || (g.threads_unread ?? 0) > 0).slice(0, GROUPS_MAX).map((g) => g.id);
    const found: Listed[] = [];
    const run = async () => {
      for (let group = asked.shift(); group !== undefined; group = asked.shift()) {
        const { threads } = await chat.group(group).threads.list({ following: "1", ...(!whole && { unread: "1" }) });
        found.push(...threads.map((t) => ({ ...t, group: group! })));
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, run));
      if (mine !== latest.current) return;
      setList(found.sort((a, b) => Number(b.unread > 0) - Number(a.unread > 0) || (at(a) < at(b) ? 1 : -1)));
      setProblem("");
    } catch (err) {
      if (mine === latest.current) setProblem(problemOf(err));
    }
  }
  useEffect(() => { if (live) void load(); }, [live, unread, whole]);
  return (
    <>
      <header class="pane-head">
        <Back />
        <h1 class="pane-title">{say("Threads", "消息列")}</h1>
      </header>
      <div class="pane-body narrow">
        <Problem text={problem} />
        {list === null ? !problem && <p class="quiet" role="status">{say("Loading…", "正在加载…")}</p>
          : list.length === 0 ? (
            <div class="nothing">
              <span class="round"><Icon name="thread" /></span>
              <h2>{whole ? say("You follow no threads", "您没有关注消息列") : say("No unread threads", "没有未读的消息列")}</h2>
              <p class="quiet">{say("You follow a thread when you write in it, start it, or are mentioned there.", "您发起、回复或在其中被提及的消息列会自动关注。")}</p>
            </div>
          ) : <ul class="threads">{list.map((t) => <Row key={`${t.group} ${t.id}`} thread={t} />)}</ul>}
        {list && !whole && <p class="buttons"><button type="button" class="button" onClick={() => setWhole(true)}>{say("Show all that you follow", "显示全部关注的消息列")}</button></p>}
      </div>
    </>
  );
}

const at = (t: Listed): string => t.last_message?.sent_at ?? t.root.sent_at;

function Row({ thread: t }: { thread: Listed }) {
  const { me, people: store } = useSession();
  const people = usePeople();
  const group = useGroups().find((g) => g.id === t.group);
  useEffect(() => store.seen([t.root, ...(t.last_message ? [t.last_message] : [])] as never), [t]);
  const line = (m: Pick<Message, "from" | "body" | "files" | "mentions">) => <><bdi>{textOf(people, m.from)}</bdi>{say(": ", "：")}{oneLine(m, people)}</>;
  return (
    <li>
      <a class={`thread-card${t.unread > 0 ? " unread" : ""}`} href={pathOf({ view: "group", group: t.group, panel: "thread", root: t.id })} data-thread={`${t.group}/${t.id}`}>
        <span class="item-head"><small><bdi>{group ? titleOf(group, me, people) : t.group}</bdi></small><time dateTime={at(t)}>{shortTime(at(t))}</time></span>
        <span class="thread-line" dir="auto">{line(t.root)}</span>
        {t.last_message && <span class="thread-last quiet" dir="auto">↳ {line(t.last_message)}</span>}
        <span class="thread-foot"><span class="quiet">{counted(t.replies, "reply", "replies", "条回复")}</span>
          {t.unread > 0 && <span class="badge" data-unread={t.unread}>{say(`${t.unread} new`, `${t.unread} 条新回复`)}</span>}</span>
      </a>
    </li>
  );
}
