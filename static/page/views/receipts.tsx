/** Who has read a message, who has it without having read it, and who has not got it yet: content of a panel. */
import { useEffect, useState } from "preact/hooks";
import type { Wire } from "@chatd/client";
import { useSnapshot } from "../hooks.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Name, Problem } from "../ui/parts.tsx";

/** Names of one section that are shown at once. */
const SHOWN = 200;

export function Receipts({ group, id }: { group: string; id: number }) {
  const { chat } = useSession();
  const last = useSnapshot((s) => s.groups.find((g) => g.id === group)?.read ?? 0);
  const [answer, setAnswer] = useState<Wire.Receipts | null>(null);
  const [problem, setProblem] = useState("");
  const [moved, setMoved] = useState(0);
  useEffect(() => chat.on("cursor", (c) => c.group === group && setMoved((n) => n + 1)), [chat, group]);
  useEffect(() => {
    let shown = true;
    chat.group(group).receipts(id).then((a) => shown && setAnswer(a), (err: Error) => shown && setProblem(err.message));
    return () => { shown = false; };
  }, [group, id, moved, last]);
  if (!answer) return problem ? <Problem text={problem} /> : <p class="quiet" role="status">{say("Loading…", "正在加载…")}</p>;
  const read = answer.seen_by.filter((m) => m.read >= id).map((m) => m.user);
  const seen = answer.seen_by.filter((m) => m.read < id).map((m) => m.user);
  return (
    <div class="receipts">
      <p class="quiet">{say(`Read by ${answer.read} of ${counted(answer.members, "other member", "other members", "")}.`, `除作者外的 ${answer.members} 名成员中有 ${answer.read} 名已读。`)}</p>
      <People title={say("Read", "已读")} users={read} name="read" />
      <People title={say("Delivered", "已送达")} users={seen} name="seen" />
      <People title={say("Not delivered yet", "尚未送达")} users={answer.pending} name="pending" />
    </div>
  );
}

function People({ title, users, name }: { title: string; users: readonly string[]; name: string }) {
  if (users.length === 0) return null;
  return (
    <section data-receipts={name}>
      <h3>{title}</h3>
      <ul class="people">{users.slice(0, SHOWN).map((u) => <li key={u} data-user={u}><Avatar user={u} /><span><Name user={u} /></span></li>)}</ul>
      {users.length > SHOWN && <p class="quiet">{say(`and ${(users.length - SHOWN).toLocaleString()} more`, `以及另外 ${users.length - SHOWN} 人`)}</p>}
    </section>
  );
}
