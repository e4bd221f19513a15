/** Who asks to join a group, for those who decide it. */
import type { GroupState, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { shortTime } from "../format.ts";
import { followNotices } from "../members.ts";
import { useNames } from "../people.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Avatar, Name, Problem } from "../ui/parts.tsx";

const PAGE = 50;

export function Requests({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const requests = chat.group(group.id).requests;
  const [list, setList] = useState<readonly Wire.JoinRequest[]>([]);
  const [more, setMore] = useState(false);
  const [problem, setProblem] = useState("");
  const look = () => requests.list({ limit: PAGE }).then((page) => {
    setList(page.requests);
    setMore(page.next !== null);
  }, (err) => setProblem(problemOf(err)));
  useEffect(() => {
    void look();
    return followNotices(chat, group.id, (m) => m.notice === "joined" && void look()); // another of those who decide let somebody in
  }, [group.id]);
  function answer(user: string, accept: boolean): Promise<void> {
    setProblem("");
    return requests.answer(user, { accept }).catch((err) => {
      if (err.code === "not_found") setProblem(say("This request is no longer open: it was answered or withdrawn.", "此申请已不再有效：已被答复或撤回。"));
      else setProblem(problemOf(err));
    }).then(look);
  }
  if (list.length === 0) return <Problem text={problem} />;
  return (
    <section class="requests" aria-label={say("Requests to join", "加入申请")}>
      <h3>{more ? say(`More than ${PAGE} requests to join`, `超过 ${PAGE} 个加入申请`) : counted(list.length, "request to join", "requests to join", "个加入申请")}</h3>
      <ul class="rows">{list.map((r) => <Row key={r.user} request={r} onAnswer={answer} />)}</ul>
      <Problem text={problem} />
    </section>
  );
}

function Row({ request: r, onAnswer }: { request: Wire.JoinRequest; onAnswer: (user: string, accept: boolean) => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  const name = useNames([r.user])(r.user);
  const button = (accept: boolean, text: string, label: string) => (
    <button type="button" class={accept ? "button primary" : "button"} name={accept ? "accept" : "decline"} disabled={busy} aria-label={label}
      onClick={() => { setBusy(true); void onAnswer(r.user, accept).finally(() => setBusy(false)); }}>{text}</button>
  );
  return (
    <li data-request={r.user}>
      <Avatar user={r.user} />
      <span class="grow"><Name user={r.user} /> <small><time dateTime={r.at}>{shortTime(r.at)}</time></small></span>
      <span class="buttons">
        {button(true, say("Accept", "接受"), say(`Let ${name} in`, `接受 ${name}`))}
        {button(false, say("Decline", "拒绝"), say(`Decline ${name}`, `拒绝 ${name}`))}
      </span>
      {r.note && <small class="note" dir="auto">{r.note}</small>}
    </li>
  );
}
