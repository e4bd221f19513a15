/** What members report, and what waits for a moderator: for those who manage a group. */
import type { GroupState, Wire } from "@chatd/client";
import { useState } from "preact/hooks";
import { PAGE, useDesk } from "../desk.ts";
import { shortTime } from "../format.ts";
import { plain } from "../markdown.ts";
import { useNames } from "../people.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Name, Problem } from "../ui/parts.tsx";
import { BanDialog } from "./ban.tsx";
import { Decisions } from "./decisions.tsx";
import { reasonText } from "./report.tsx";

const DAY_MS = 86_400_000;

const first = () => say("Somebody else has decided this.", "已由其他人处理。");

/** What a message says, on a few lines. */
function Said({ body, files }: { body?: string | undefined; files: number }) {
  const text = body ? plain(body) : "";
  return <p class="said" dir="auto">{text || (files > 0 ? say("Files", "文件") : say("Data of a program", "程序数据"))}</p>;
}

export function Waiting({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const { list, more, problem, decide } = useDesk<Wire.Review>(group.id,
    () => chat.reviews.list({ group: group.id, limit: PAGE }).then((page) => ({ list: page.reviews, more: page.next !== null })), first(),
    (m, waiting) => waiting.some((r) => r.from === m.from)); // which may be one that was released
  if (list.length === 0) return <Problem text={problem} />;
  return (
    <section class="requests" aria-label={say("Messages that wait for a moderator", "等待审核的消息")}>
      <h3>{more ? say(`More than ${PAGE} messages wait`, `超过 ${PAGE} 条消息等待审核`) : say(list.length === 1 ? "1 message waits for you" : `${list.length} messages wait for you`, `${list.length} 条消息等待审核`)}</h3>
      <ul class="rows">
        {list.map((r) => <WaitingRow key={r.id} review={r} onDecide={(action) => decide(() => chat.reviews.decide(r.id, { action }))} />)}
      </ul>
      <Problem text={problem} />
    </section>
  );
}

function WaitingRow({ review: r, onDecide }: { review: Wire.Review; onDecide: (action: "release" | "drop") => Promise<void> }) {
  const name = useNames([r.from])(r.from);
  const message = r.message as { body?: string; files?: unknown[] };
  return (
    <li data-review={r.id}>
      <Avatar user={r.from} />
      <span class="grow"><Name user={r.from} /> <small><time dateTime={r.at}>{shortTime(r.at)}</time></small></span>
      <Decisions of={[
        { name: "release", text: say("Release", "放行"), label: say(`Release the message of ${name}`, `放行 ${name} 的消息`), primary: true, run: () => onDecide("release") },
        { name: "drop", text: say("Drop", "拒绝"), label: say(`Drop the message of ${name}`, `拒绝 ${name} 的消息`), run: () => onDecide("drop") },
      ]} />
      <Said body={message.body} files={message.files?.length ?? 0} />
      {r.reason && <small class="note" dir="auto">{r.reason}</small>}
    </li>
  );
}

export function Reports({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const [banning, setBanning] = useState<Wire.Report | null>(null);
  const { list, more, problem, decide, look } = useDesk<Wire.Report>(group.id,
    () => chat.group(group.id).reports.list({ limit: PAGE }).then((page) => ({ list: page.reports, more: page.next !== null })), first(),
    (m) => m.kind === "delete" || m.notice === "muted" || m.notice === "banned");
  const ban = (id: string) => chat.reports.decide(id, { action: "ban" }).catch((err) => { throw err.code === "not_found" ? new Error(first()) : err; });
  if (list.length === 0 && !banning) return <Problem text={problem} />;
  return (
    <section class="requests" aria-label={say("Reported messages", "被举报的消息")}>
      <h3>{more ? say(`More than ${PAGE} reports`, `超过 ${PAGE} 个举报`) : counted(list.length, "report", "reports", "个举报")}</h3>
      <ul class="rows">
        {list.map((r) => <ReportRow key={r.id} report={r} onBan={() => setBanning(r)} onDecide={(body) => decide(() => chat.reports.decide(r.id, body))} />)}
      </ul>
      <Problem text={problem} />
      {banning && <BanDialog group={group.id} user={banning.from} reason={banning.reason} first={() => ban(banning.id)} onClose={() => { setBanning(null); void look(); }} />}
    </section>
  );
}

function ReportRow({ report: r, onBan, onDecide }: { report: Wire.Report; onBan: () => void; onDecide: (body: Wire.ReportDecision) => Promise<void> }) {
  const nameOf = useNames([r.from]);
  const name = nameOf(r.from);
  return (
    <li data-report={r.id}>
      <Avatar user={r.from} />
      <span class="grow"><Name user={r.from} /> <small><time dateTime={r.at}>{shortTime(r.at)}</time></small></span>
      <Said body={r.message?.body} files={r.message?.files?.length ?? 0} />
      <small class="note"><Name user={r.by} />: <bdi>{reasonText(r.reason)}</bdi>{r.note && <> · <bdi>{r.note}</bdi></>}</small>
      <Decisions of={[
        { name: "dismiss", text: say("Dismiss", "忽略"), label: say(`Dismiss the report of what ${name} wrote`, `忽略对 ${name} 的举报`), run: () => onDecide({ action: "dismiss" }) },
        { name: "delete", text: say("Delete message", "删除消息"), label: say(`Delete the message of ${name}`, `删除 ${name} 的消息`), danger: true, run: () => onDecide({ action: "delete" }) },
        { name: "mute", text: say("Mute for a day", "禁言一天"), label: say(`Mute ${name} for a day`, `将 ${name} 禁言一天`),
          run: () => onDecide({ action: "mute", until: new Date(Date.now() + DAY_MS).toISOString() }) },
        { name: "ban", text: say("Ban…", "封禁…"), label: say(`Ban ${name}…`, `封禁 ${name}…`), run: async () => onBan() },
      ]} />
    </li>
  );
}
