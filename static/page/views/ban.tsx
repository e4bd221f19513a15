/** Keeps people out of a group, and lets them in again. */
import type { GroupState, Wire } from "@chatd/client";
import { useRef, useState } from "preact/hooks";
import { PAGE, useDesk } from "../desk.ts";
import { useNames } from "../people.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Avatar, Dialog, Name, Problem } from "../ui/parts.tsx";
import { Decisions } from "./decisions.tsx";
import { whenText } from "./when.ts";

/** How far back messages may be deleted, in hours. */
const HOURS = [[0, say("Nothing", "不删除")], [1, say("Of the last hour", "最近 1 小时")], [24, say("Of the last day", "最近 1 天")], [168, say("Of the last 7 days", "最近 7 天")]] as const;
const REASON_MAX = 200;

type Asks = { group: string; user: string; onClose: () => void; /** Instead of asking for one. */ reason?: string; /** What comes first, and refuses. */ first?: () => Promise<unknown> };

export function BanDialog({ group, user, reason: given, first, onClose }: Asks) {
  const { chat, toast } = useSession();
  const name = useNames([user])(user);
  const [hours, setHours] = useState(0);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const begun = useRef(false);
  const reason = given ?? typed.trim();
  async function ban(): Promise<void> {
    if (!begun.current) await first?.();
    begun.current = true;
    if (!first || hours > 0) await chat.group(group).bans.put(user, { ...(reason && { reason }), ...(hours > 0 && { delete_hours: hours }) });
    onClose();
    toast(say(`${name} is banned.`, `已封禁 ${name}。`));
  }
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    ban().catch((err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <Dialog title={say(`Ban ${name}?`, `封禁 ${name}？`)} onClose={onClose}>
      <form class="stack" name="ban" onSubmit={submit}>
        <p>{say("They are removed from the group and cannot come back until somebody ends the ban.", "对方会被移出群组，在解除封禁前无法再加入。")}</p>
        <fieldset class="choice">
          <legend>{say("Delete what they wrote", "删除其消息")}</legend>
          {HOURS.map(([h, label]) => <label key={h}><input type="radio" name="hours" value={h} checked={h === hours} onChange={() => setHours(h)} /><span><strong>{label}</strong></span></label>)}
        </fieldset>
        {given === undefined && (
          <label class="field"><span>{say("Reason, for those who manage the group (optional)", "原因，仅群组管理者可见（可选）")}</span>
            <input name="reason" dir="auto" maxLength={REASON_MAX} value={typed} onInput={(e) => setTyped(e.currentTarget.value)} /></label>
        )}
        <Problem text={problem} />
        <p class="buttons"><button class="button danger" disabled={busy}>{say("Ban", "封禁")}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button></p>
      </form>
    </Dialog>
  );
}

/** Who is banned, once that is asked for. */
export function Banned({ group }: { group: GroupState }) {
  const [open, setOpen] = useState(false);
  return (
    <details name="banned" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{say("Banned people", "已封禁的人")}</summary>
      {open && <List group={group} />}
    </details>
  );
}

function List({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const { bans } = chat.group(group.id);
  const { list, more, problem, decide } = useDesk<Wire.Ban>(group.id,
    () => bans.list({ limit: PAGE }).then((page) => ({ list: page.bans, more: page.next !== null })), say("Somebody else has ended this ban.", "此封禁已由其他人解除。"), (m) => m.notice === "banned");
  return (
    <div class="requests">
      {list.length === 0 && <p class="quiet">{say("Nobody is banned.", "没有被封禁的人。")}</p>}
      <ul class="rows">{list.map((b) => <Row key={b.user} ban={b} onEnd={() => decide(() => bans.delete(b.user))} />)}</ul>
      {more && <p class="quiet">{say(`The newest ${PAGE} are shown.`, `仅显示最近 ${PAGE} 个。`)}</p>}
      <Problem text={problem} />
    </div>
  );
}

function Row({ ban: b, onEnd }: { ban: Wire.Ban; onEnd: () => Promise<void> }) {
  const name = useNames([b.user])(b.user);
  return (
    <li data-ban={b.user}>
      <Avatar user={b.user} />
      <span class="grow"><Name user={b.user} />{b.until && <small> {say(`until ${whenText(new Date(b.until))}`, `至 ${whenText(new Date(b.until))}`)}</small>}</span>
      <Decisions of={[{ name: "unban", text: say("End ban", "解除封禁"), label: say(`End the ban of ${name}`, `解除对 ${name} 的封禁`), run: onEnd }]} />
      {b.reason && <small class="note" dir="auto">{b.reason}</small>}
    </li>
  );
}
