/** Schedules of anybody: those that fail first, then what waits; or all of one person. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { type Ask, e, usePages, useSettled } from "./api.ts";
import { Act, More, Table, View, When } from "./parts.tsx";

type Schedule = {
  id: string; state: "pending" | "paused" | "done" | "failed" | "cancelled"; owner: string; group?: string; user?: string; cron?: string; timezone?: string;
  next_at: string | null; next_times?: string[]; sent: number; last_at: string | null; last_error: string | null;
};

export function Schedules({ ask, query }: { ask: Ask; query: URLSearchParams }) {
  const [user, setUser] = useState("");
  const [round, setRound] = useState(0);
  const of = useSettled(user.trim());
  const props = { ask, first: query.get("id") ?? "", changed: async () => setRound((n) => n + 1) };
  return (
    <View title={say("Schedules", "定时消息")} lead={say("Messages that people have planned. What they say is not shown here.", "用户计划发送的消息，此处不显示内容。")}>
      <div class="filters"><label class="field"><span>{say("Id of a user", "用户 ID")}</span>
        <input type="search" name="user" value={user} maxLength={128} dir="auto" placeholder={say("anybody", "所有人")} onInput={(ev) => setUser(ev.currentTarget.value)} /></label></div>
      {of ? <List key={`${round} ${of}`} {...props} of={`&user=${e(of)}`} empty={say(`${of} has planned nothing.`, `${of} 没有定时消息。`)} /> : (
        <>
          <h2>{say("Failing", "失败")}</h2>
          <List key={`${round} failing`} {...props} of="&failing=1" empty={say("None has failed in the last 24 hours.", "最近 24 小时内没有失败。")} />
          <h2>{say("Waiting for their time", "等待发送")}</h2>
          <List key={`${round} waiting`} {...props} of="" empty={say("None waits.", "没有等待发送的消息。")} />
        </>
      )}
    </View>
  );
}

type ListProps = { ask: Ask; of: string; first: string; empty: string; changed: () => Promise<void> };

const rank = (s: Schedule, first: string): number => (s.id === first ? 0 : fails(s) ? 1 : s.next_at ? 2 : 3);
const fails = (s: Schedule): boolean => !!s.last_error && s.state !== "cancelled";

function List({ ask, of, first, empty, changed }: ListProps) {
  const pages = usePages<Schedule>(ask, `/v1/schedules?all=1${of}`, "schedules");
  const items = pages.items.toSorted((a, b) => rank(a, first) - rank(b, first) || Date.parse(a.next_at ?? "") - Date.parse(b.next_at ?? "") || 0);
  return (
    <>
      <Table loading={pages.loading} failure={pages.failure} empty={empty} head={[say("From, to", "发送者与目标"), say("State", "状态"), say("Next times", "接下来的时间"), say("Sent", "已发送"), ""]}
        rows={items.map((s) => ({
          key: s.id,
          cells: [
            <><bdi>{s.owner}</bdi> {"→"} <bdi>{s.group ?? s.user}</bdi><br /><small>{s.group ? say("group", "群组") : say("direct message", "私信")} · <code>{s.id}</code></small></>,
            <State of={s} />, <Times of={s} />, <>{s.sent.toLocaleString()}{s.last_at && <small> {say("last", "上次")} <When at={s.last_at} /></small>}</>,
            (s.state === "pending" || s.state === "paused") && <span class="row-acts">
              <Act name="run" label={say("Send now", "立即发送")} run={() => ask("POST", `/v1/schedules/${e(s.id)}/run`).then(changed)} />
              <Act name="delete" danger label={say("Delete", "删除")} sure={say("It is never sent then.", "删除后不再发送。")} run={() => ask("DELETE", `/v1/schedules/${e(s.id)}`).then(changed)} /></span>,
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </>
  );
}

function State({ of: s }: { of: Schedule }) {
  const state = { pending: say("waits", "等待中"), paused: say("paused", "已暂停"), done: say("sent", "已发送"), failed: say("ended, forgotten within a day", "已结束，一天内清除"), cancelled: say("deleted", "已删除") }[s.state];
  return <>{fails(s) && <span class="dead">{say(`Not sent: ${reasonOf(s.last_error!)}.`, `未发送：${reasonOf(s.last_error!)}。`)} </span>}<span class="quiet">{state}</span></>;
}

const Times = ({ of: s }: { of: Schedule }) => {
  const times = s.next_times ?? (s.next_at ? [s.next_at] : []);
  return (
    <>
      {times.length === 0 ? <When at={null} /> : <span class="times">{times.map((at) => <When key={at} at={at} />)}</span>}
      {s.cron && <small><code>{s.cron}</code> {s.timezone}</small>}
    </>
  );
};

/** Why an occurrence sent nothing, by the code of it. */
function reasonOf(code: string): string {
  switch (code) {
    case "not_found": return say("the group is gone, or its owner is no member any more", "群组已不存在，或发送者已不是成员");
    case "forbidden": return say("its owner may not write there any more", "发送者已无权发送");
    case "backlog_full": return say("members of the group are too far behind", "群组成员落后太多");
    case "inbox_full": return say("the inbox of the recipient is full", "收件人的收件箱已满");
    case "key_reused": return say("a message with the same client_id was sent before", "相同 client_id 的消息已发送过");
    case "missed": return say("no node ran when it was due", "到期时没有节点运行");
    default: return code.replaceAll("_", " ");
  }
}
