/** Who has read a message, who has received it, and who has not got it yet. */
import type { Wire } from "@chatd/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { labelOf, usePeople } from "../people.ts";
import { say } from "../say.ts";
import { useSnapshot } from "../hooks.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Avatar, Name, Problem } from "../ui/parts.tsx";
import { Windowed } from "../ui/windowed.tsx";

const ROW = 48;
const PAGE = 200;
/** Cursors that move together are one reason to ask again. */
const GATHER_MS = 300;

type Known = { counts: Pick<Wire.Receipts, "members" | "seen" | "read">; read: string[]; seen: string[]; pending: string[]; next: string | null };

export function Receipts({ group, id }: { group: string; id: number }) {
  const { chat } = useSession();
  const people = usePeople();
  const [known, setKnown] = useState<Known | null>(null);
  const [problem, setProblem] = useState("");
  const [filter, setFilter] = useState("");
  const [pages, setPages] = useState(1);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = chat.on("cursor", (c) => {
      if (c.group === group) timer ??= setTimeout(() => { timer = undefined; setAsked((n) => n + 1); }, GATHER_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [group]);
  useEffect(() => {
    let shown = true;
    load(pages).then((now) => shown && setKnown(now), (err) => shown && setProblem(problemOf(err)));
    return () => { shown = false; };
  }, [group, id, pages, asked]);

  async function load(most: number): Promise<Known> {
    const out: Known = { counts: { members: 0, seen: 0, read: 0 }, read: [], seen: [], pending: [], next: "" };
    for (let page = 0; page < most && out.next !== null; page++) {
      const answer: Wire.Receipts = await chat.group(group).receipts(id, { limit: PAGE, ...(out.next && { cursor: out.next }) });
      out.counts = answer;
      for (const m of answer.seen_by) (m.read >= id ? out.read : out.seen).push(m.user);
      out.pending.push(...answer.pending);
      out.next = answer.next;
    }
    return out;
  }

  const setting = useSnapshot((s) => s.groups.find((g) => g.id === group)?.receipts ?? "optional");
  const words = filter.trim().toLowerCase();
  const sections = useMemo(() => {
    const of = (name: string, title: string, users: readonly string[]) =>
      ({ name, title, users: words ? users.filter((u) => `${u} ${labelOf(people, u)}`.toLowerCase().includes(words)) : users });
    return known ? [of("read", say("Read", "已读"), known.read), of("seen", say("Received, not read", "已送达，未读"), known.seen), of("pending", say("Not received yet", "尚未送达"), known.pending)]
      .filter(({ users }) => users.length > 0) : [];
  }, [known, words, people]);
  const more = known?.next ? () => setPages((n) => n + 1) : undefined;

  return (
    <div class="stack receipts">
      <Problem text={problem} />
      {setting !== "optional" && <p class="hint">{setting === "off" ? say("This group shows nobody who has read a message.", "此群组不显示已读情况。") : setting === "counts" ? say("This group shows how many have read a message, and not who.", "此群组仅显示已读人数，不显示姓名。") : say("In this group everyone sees who has read a message.", "此群组中所有人都能看到谁已读。")}</p>}
      {known && setting !== "off" && (
        <p class="lead">{say(`Read by ${known.counts.read} of ${known.counts.members}. Whoever wrote the message isn’t counted.`, `${known.counts.members} 人中有 ${known.counts.read} 人已读，不含发送者。`)}</p>
      )}
      {known && (known.counts.members > 8 || filter) && (
        <input type="search" name="receipt-search" dir="auto" aria-label={say("Search people", "搜索")} placeholder={say("Search people", "搜索")} value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
      )}
      {known && words && sections.length === 0 && <p class="quiet" role="status">{say("Nobody by that name here.", "没有匹配的人。")}</p>}
      {sections.map(({ name, title, users }, i) => (
        <section key={name} data-receipts={name}>
          <h3>{title} <small>{users.length.toLocaleString()}{known?.next && "+"}</small></h3>
          <Windowed items={users} height={ROW} label={title} onEnd={i === sections.length - 1 ? more : undefined}
            row={(u) => <li key={u} data-user={u}><Avatar user={u} /><span class="person"><Name user={u} /></span></li>} />
        </section>
      ))}
    </div>
  );
}
