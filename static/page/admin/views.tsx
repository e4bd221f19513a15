/** Groups that are held back, webhooks, announcements, settings. */
import { useState } from "preact/hooks";
import { counted, say } from "../say.ts";
import { type Ask, e, useAnswer, usePages } from "./api.ts";
import { Act, More, Table, View, When } from "./parts.tsx";

type Props = { ask: Ask; query: URLSearchParams };

type Held = { id: string; name: string; members: number; held: number; held_since: string | null; blockers: { user: string; behind: number }[] };

export function Groups({ ask, query }: Props) {
  const pages = usePages<Held>(ask, "/v1/blockers", "groups");
  const items = pages.items.toSorted((a, b) => Number(b.id === query.get("id")) - Number(a.id === query.get("id")) || b.held - a.held);
  return (
    <View title={say("Groups held back", "被阻滞的群组")} lead={say("Messages that are kept only because members are behind. They are trimmed once these members have seen them, or leave.", "仅因成员落后而保留的消息；成员看过或离开后即被清理。")}>
      <Table loading={pages.loading} failure={pages.failure} empty={say("No group keeps anything for members who are behind.", "没有群组被阻滞。")}
        head={[say("Group", "群组"), say("Kept", "保留"), say("Since", "自"), say("By whom", "原因")]}
        rows={items.map((g) => ({
          key: g.id,
          cells: [
            <><bdi>{g.name || g.id}</bdi><br /><small>{g.name && <><code>{g.id}</code> · </>}{counted(g.members, "member", "members", "名成员")}</small></>, g.held.toLocaleString(), <When at={g.held_since} />,
            g.blockers.map((b) => (
              <span key={b.user} class="blocker" data-user={b.user}><span><bdi>{b.user}</bdi> <small>{say(`${b.behind.toLocaleString()} behind`, `落后 ${b.behind.toLocaleString()}`)}</small></span>
                <Act danger name="remove" label={say("Remove", "移除")} sure={say(`${b.user} leaves the group.`, `${b.user} 将离开群组。`)}
                  run={() => ask("DELETE", `/v1/groups/${e(g.id)}/members/${e(b.user)}`).then(pages.again)} /></span>
            )),
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </View>
  );
}

type Webhook = { id: string; url: string; events: string[]; failing_since: string | null; last_error: string | null; last_success_at: string | null; waiting: number; dropped: number; disabled_at: string | null };

export function Webhooks({ ask, query }: Props) {
  const pages = usePages<Webhook>(ask, "/v1/webhooks", "webhooks");
  const [said, setSaid] = useState<Record<string, string>>({});
  async function test(id: string): Promise<void> {
    const r = await ask("POST", `/v1/webhooks/${e(id)}/test`);
    setSaid({ ...said, [id]: r.delivered ? say(`answered ${r.status} in ${r.took_ms} ms`, `${r.took_ms} 毫秒内返回 ${r.status}`) : (r.error ?? "") });
    await pages.again();
  }
  const items = pages.items.toSorted((a, b) => Number(b.id === query.get("id")) - Number(a.id === query.get("id")) || Number(!!b.failing_since) - Number(!!a.failing_since));
  return (
    <View title={say("Webhooks", "Webhook")} lead={say("Where events are delivered. Failed deliveries are tried again; what fails for good is a dead letter.", "事件投递目标。失败会重试，最终失败成为死信。")}>
      <Table loading={pages.loading} failure={pages.failure} empty={say("No webhooks yet. POST /v1/webhooks makes the first one.", "还没有 Webhook，可用 POST /v1/webhooks 创建。")} head={[say("Address", "地址"), say("State", "状态"), say("Waiting", "等待"), say("Last success", "上次成功"), ""]}
        rows={items.map((w) => ({
          key: w.id,
          cells: [
            <><span class="address">{w.url}</span><br /><small><code>{w.id}</code> · {w.events.join(", ")}</small></>,
            w.disabled_at ? say("ended by its receiver", "已被接收方停用") : w.failing_since
              ? <span class="dead">{say("failing since", "失败自")} <When at={w.failing_since} />{w.last_error && `: ${w.last_error}`}</span> : say("works", "正常"),
            <>{w.waiting.toLocaleString()}{w.dropped > 0 && <small class="dead"> {say(`${w.dropped} lost`, `丢失 ${w.dropped}`)}</small>}</>,
            <When at={w.last_success_at} />,
            <span class="row-acts"><Act name="test" label={say("Send a test", "发送测试")} run={() => test(w.id)} />
              <Act danger name="delete" label={say("Delete", "删除")} sure={say("Nothing is delivered there any more.", "将不再投递。")} run={() => ask("DELETE", `/v1/webhooks/${e(w.id)}`).then(pages.again)} />
              <span class="quiet" role="status">{said[w.id]}</span></span>,
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </View>
  );
}

type Setting = { key: string; value?: string; set: boolean; secret: boolean; source: string; default: string; allowed: string; help: string };

export function Settings({ ask, query }: Props) {
  const { value, failure } = useAnswer<{ node: string; settings: Setting[] }>(ask, "/v1/settings");
  const [find, setFind] = useState(query.get("find") ?? "");
  const [all, setAll] = useState(find !== "");
  const shown = (value?.settings ?? []).filter((s) => (all || s.source !== "default") && `${s.key} ${s.help}`.toLowerCase().includes(find.toLowerCase()));
  return (
    <View title={say("Settings", "设置")} lead={value ? say(`Of node ${value.node}, as it was started.`, `节点 ${value.node} 启动时的设置。`) : ""}>
      <div class="filters">
        <label class="field"><span>{say("Find", "查找")}</span><input type="search" name="find" value={find} onInput={(ev) => setFind(ev.currentTarget.value)} /></label>
        <label class="switch"><input type="checkbox" name="all" checked={all} onChange={(ev) => setAll(ev.currentTarget.checked)} /><span>{say("Also those at their default", "包括默认值")}</span></label>
      </div>
      <Table loading={!value} failure={failure} empty={find ? say("No setting has this in its name or help.", "没有匹配的设置。") : say("Everything is at its default.", "全部为默认值。")} head={[say("Setting", "设置项"), say("Value", "值"), say("From", "来源"), say("Allowed", "允许值")]}
        rows={shown.map((s) => ({
          key: s.key,
          cells: [<><code>{s.key}</code><br /><small>{s.help}</small></>, s.secret ? (s.set ? say("set, not shown", "已设置，不显示") : say("not set", "未设置")) : s.value ? <code>{s.value}</code> : <span class="quiet">{say("empty", "空")}</span>, s.source, s.allowed && <small>{s.allowed}</small>],
        }))} />
    </View>
  );
}

type Announcement = { id: string; state: string; from: string; body: string; total: number; delivered: number; failed: number; created_at: string; next_at: string | null };

const STATES: Record<string, string> = { pending: say("waits", "等待中"), running: say("goes out", "发送中"), done: say("done", "完成"), cancelled: say("stopped", "已停止") };

export function Announcements({ ask }: Props) {
  const pages = usePages<Announcement>(ask, "/v1/announcements", "announcements");
  return (
    <View title={say("Announcements", "公告")} lead={say("What was said to many at once, and how far it has come.", "群发的消息及其进度。")}>
      <Table loading={pages.loading} failure={pages.failure} empty={say("Nothing has been announced. POST /v1/announcements does.", "还没有公告，可用 POST /v1/announcements 发布。")} head={[say("Text", "内容"), say("State", "状态"), say("Delivered", "已送达"), say("Next", "下次"), ""]}
        rows={pages.items.map((a) => ({
          key: a.id,
          cells: [
            <><span dir="auto">{a.body}</span><br /><small><bdi>{a.from}</bdi> · <When at={a.created_at} /></small></>, STATES[a.state] ?? a.state,
            <>{`${a.delivered.toLocaleString()} / ${a.total.toLocaleString()}`}{a.failed > 0 && <small class="dead"> {say(`${a.failed} failed`, `失败 ${a.failed}`)}</small>}</>, <When at={a.next_at} />,
            (a.state === "pending" || a.state === "running") && <Act name="cancel" danger label={say("Stop it", "停止")} sure={say("Nobody else gets it.", "其他人将不再收到。")} run={() => ask("DELETE", `/v1/announcements/${e(a.id)}`).then(pages.again)} />,
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </View>
  );
}
