/** Links with which others join a group: made, copied, listed and revoked. */
import type { GroupState, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { fullTime } from "../format.ts";
import { joinLink } from "../invite.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { CopyField } from "../ui/copy.tsx";
import { lazy } from "../ui/lazy.tsx";
import { IconButton, Name, Problem } from "../ui/parts.tsx";
import { whenText } from "./when.ts";

const QR = lazy(() => import("../ui/qr.tsx").then((m) => m.QR));

const DAY_MS = 86_400_000;
const ENDS = [["1", say("1 day", "1 天")], ["7", say("7 days", "7 天")], ["30", say("30 days", "30 天")], ["0", say("Never", "永不")]] as const;
const USES = [1, 10, 100, 1000];

export function Invites({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const [list, setList] = useState<readonly Wire.Invite[]>([]);
  const [link, setLink] = useState("");
  const [days, setDays] = useState("7");
  const [uses, setUses] = useState(100);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [alone] = useState(group.members === 1); // who comes by the link does not close it
  const attempt = (doing: Promise<unknown>) => doing.catch((err) => setProblem(problemOf(err)));
  const look = () => attempt(chat.invites.list({ group: group.id, limit: 100 }).then((page) => setList(page.invites.filter((i) => i.used < i.uses))));
  useEffect(() => { void look(); }, [group.id]);

  async function make(e: Event): Promise<void> {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    const expires_at = days === "0" ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() };
    await attempt(chat.invites.create({ group: group.id, uses, ...expires_at }).then((made) => setLink(joinLink(made.code ?? ""))));
    await look();
    setBusy(false);
  }

  return (
    <details class="invites" name="invites" open={alone}>
      <summary>{say("Invite by link", "通过链接邀请")}{list.length > 0 && <small> {counted(list.length, "open link", "open links", "个有效链接")}</small>}</summary>
      <form class="stack" name="invite" onSubmit={make}>
        <div class="pair">
          <label class="field"><span>{say("Expires after", "有效期")}</span>
            <select name="days" value={days} onChange={(e) => setDays(e.currentTarget.value)}>{ENDS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select></label>
          <label class="field"><span>{say("For", "人数上限")}</span>
            <select name="uses" value={uses} onChange={(e) => setUses(Number(e.currentTarget.value))}>{USES.map((n) => <option key={n} value={n}>{counted(n, "person", "people", "人")}</option>)}</select></label>
        </div>
        {link
          ? <>
              <CopyField label={say("Invite link", "邀请链接")} name="invite" text={link} note={say("Copy it now: it is not shown again. Whoever has it can join.", "请立即复制，之后不再显示。任何拥有此链接的人都可以加入。")} />
              <QR text={link} label={say("The link as a QR code", "链接的二维码")} />
            </>
          : <small>{say("Whoever has the link can join, and can create an account where this server asks for one.", "任何拥有链接的人都可以加入；如果服务器需要账号，还可以注册。")}</small>}
        <Problem text={problem} />
        <p class="buttons"><button class="button" name="invite-people" disabled={busy}>{link ? say("Create another link", "再创建一个链接") : say("Create link", "创建链接")}</button></p>
      </form>
      {list.length > 0 && (
        <ul class="rows" data-list="invites" aria-label={say("Open links", "有效链接")}>
          {list.map((i) => (
            <li key={i.id} data-invite={i.id}>
              <span class="grow">{say(`Used ${i.used} of ${i.uses}`, `已使用 ${i.used} / ${i.uses}`)}
                <small title={i.expires_at ? fullTime(i.expires_at) : undefined}>{i.expires_at ? say(`until ${whenText(new Date(i.expires_at))}`, `有效至 ${whenText(new Date(i.expires_at))}`) : say("never expires", "永不过期")} · <Name user={i.created_by} /></small></span>
              <IconButton icon="bin" label={say("Revoke link", "撤销链接")} onClick={() => attempt(chat.invites.delete(i.id).then(look))} />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
