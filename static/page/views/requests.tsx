/** Who asks to join a group, for those who decide it. */
import type { GroupState, Wire } from "@chatd/client";
import { PAGE, useDesk } from "../desk.ts";
import { shortTime } from "../format.ts";
import { useNames } from "../people.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Name, Problem } from "../ui/parts.tsx";
import { Decisions } from "./decisions.tsx";

export function Requests({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const requests = chat.group(group.id).requests;
  const { list, more, problem, decide } = useDesk<Wire.JoinRequest>(group.id,
    () => requests.list({ limit: PAGE }).then((page) => ({ list: page.requests, more: page.next !== null })),
    say("This request is no longer open: it was answered or withdrawn.", "此申请已不再有效：已被答复或撤回。"),
    (m) => m.notice === "joined" || m.notice === "banned");
  if (list.length === 0) return <Problem text={problem} />;
  return (
    <section class="requests" aria-label={say("Requests to join", "加入申请")}>
      <h3>{more ? say(`More than ${PAGE} requests to join`, `超过 ${PAGE} 个加入申请`) : counted(list.length, "request to join", "requests to join", "个加入申请")}</h3>
      <ul class="rows">{list.map((r) => <Row key={r.user} request={r} onAnswer={(accept) => decide(() => requests.answer(r.user, { accept }))} />)}</ul>
      <Problem text={problem} />
    </section>
  );
}

function Row({ request: r, onAnswer }: { request: Wire.JoinRequest; onAnswer: (accept: boolean) => Promise<void> }) {
  const name = useNames([r.user])(r.user);
  return (
    <li data-request={r.user}>
      <Avatar user={r.user} />
      <span class="grow"><Name user={r.user} /> <small><time dateTime={r.at}>{shortTime(r.at)}</time></small></span>
      <Decisions of={[
        { name: "accept", text: say("Accept", "接受"), label: say(`Let ${name} in`, `接受 ${name}`), primary: true, run: () => onAnswer(true) },
        { name: "decline", text: say("Decline", "拒绝"), label: say(`Decline ${name}`, `拒绝 ${name}`), run: () => onAnswer(false) },
      ]} />
      {r.note && <small class="note" dir="auto">{r.note}</small>}
    </li>
  );
}
