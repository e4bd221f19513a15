/** What is wrong, worst first, and six figures over the last 15 minutes. */
import { counted, language, say } from "../say.ts";
import { Icon } from "../ui/parts.tsx";
import { type Ask, e, useAnswer } from "./api.ts";
import { Act, Trouble, View, When } from "./parts.tsx";

type Problem = { code: string; severity: "critical" | "warning"; subject: string; since: string; detail: string; fix: string };
type Node = { id: string; version: string; since: string; seen_at: string; series: Record<string, number[]> };

const EVERY_MS = 5000;

export function Overview({ ask }: { ask: Ask }) {
  const { value, failure, again } = useAnswer<{ problems: Problem[] }>(ask, "/v1/problems", EVERY_MS);
  const stats = useAnswer<{ nodes: Node[]; step_s: number }>(ask, "/v1/stats", 3 * EVERY_MS);
  const problems = value?.problems ?? [];
  const title = !value ? failure ? say("The server does not answer", "服务器无响应") : say("Looking…", "正在检查…") : problems.length === 0 ? say("Nothing is wrong", "一切正常") : counted(problems.length, "problem", "problems", "个问题");
  return (
    <View title={title}>
      <Trouble of={failure} />
      {value && problems.length === 0 && <p class="quiet">{say("Store, archive, files, tasks, webhooks, schedules and groups are looked at every few seconds.", "每隔几秒检查存储、归档、文件、任务、Webhook、定时消息与群组。")}</p>}
      <ul class="problems" aria-live="polite" hidden={problems.length === 0}>
        {problems.map((p) => (
          <li key={`${p.code} ${p.subject}`} class="trouble" data-code={p.code} data-subject={p.subject} data-severity={p.severity}>
            <Icon name="alert" />
            <div>
              <h2>{nameOf(p.code)} {p.subject && <bdi class="subject">{p.subject}</bdi>}</h2>
              <p class="cause">{sentence(p.detail)}</p>
              <p class="quiet fix">{sentence(p.fix)}</p>
            </div>
            <div class="mend">
              <Mend problem={p} ask={ask} again={again} />
              <p class="quiet since">{p.severity === "critical" && <b class="dead">{say("critical", "严重")} · </b>}{say("since", "自")} <When at={p.since} /></p>
            </div>
          </li>
        ))}
      </ul>
      {stats.value && <Figures nodes={stats.value.nodes} step={stats.value.step_s} />}
      {stats.value && <Nodes nodes={stats.value.nodes} />}
    </View>
  );
}

/** The server writes for logs as well: lowercase, without a full stop. */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;

/** The button that mends it, or the way to where it is mended. */
function Mend({ problem: { code, subject }, ask, again }: { problem: Problem; ask: Ask; again: () => Promise<void> }) {
  const to = (view: string, label: string) => <a class="button" href={`/admin/${view}`}>{label}</a>;
  switch (code) {
    case "tasks_dead": return to(`tasks?queue=${e(subject)}`, say("Show dead letters", "查看死信"));
    case "tasks_late": case "tasks_unserved": return to(`tasks?queue=${e(subject)}`, say("Show the queue", "查看队列"));
    case "queue_paused": return <Act name="resume" label={say("Resume the queue", "恢复队列")} run={() => ask("POST", `/v1/tasks/queues/${e(subject)}/resume`).then(again)} />;
    case "webhook_failing": return to(`webhooks?id=${e(subject)}`, say("Show the webhook", "查看 Webhook"));
    case "group_held": return to(`groups?id=${e(subject)}`, say("Show who holds it", "查看原因"));
    case "schedule_failed": return to(`schedules?id=${e(subject)}`, say("Show the schedule", "查看定时消息"));
    case "disk_low": return to("settings?find=CHATD_DATA", say("Show where it is", "查看位置"));
    case "archive_away": case "archive_late": return to("settings?find=CHATD_ARCHIVE", say("Show the settings", "查看设置"));
    case "files_away": return to("settings?find=CHATD_FILES", say("Show the settings", "查看设置"));
    case "node_gone": return null; // nothing here starts it again
    default: return to("doctor", say("Examine the store", "检查存储"));
  }
}

function nameOf(code: string): string {
  switch (code) {
    case "store_away": return say("The store is away", "存储无法连接");
    case "store_persistence": return say("The store may lose what it took", "存储可能丢失数据");
    case "store_eviction": return say("The store may throw messages away", "存储可能丢弃消息");
    case "store_memory": return say("The store’s memory is nearly full", "存储内存将满");
    case "store_replica": return say("Too few replicas", "副本不足");
    case "store_coverage": return say("Parts of the cluster are missing", "集群不完整");
    case "disk_low": return say("A disk is nearly full:", "磁盘将满：");
    case "archive_away": return say("The archive is away", "归档库无法连接");
    case "archive_late": return say("The archive is behind", "归档落后");
    case "files_away": return say("The file store is away", "文件存储无法连接");
    case "node_gone": return say("A node is gone:", "节点已消失：");
    case "queue_paused": return say("Queue is paused:", "队列已暂停：");
    case "tasks_late": return say("Tasks are late in", "任务延迟：");
    case "tasks_dead": return say("Dead letters in", "死信：");
    case "tasks_unserved": return say("No node serves tasks of", "无节点处理：");
    case "webhook_failing": return say("A webhook is failing:", "Webhook 失败：");
    case "schedule_failed": return say("A schedule failed:", "定时消息失败：");
    case "group_held": return say("A group is held back:", "群组被阻滞：");
    default: return code.replaceAll("_", " ");
  }
}

const FIGURES: [key: string, label: string, unit: string, how: "sum" | "max"][] = [
  ["sessions", say("Connections", "连接"), "", "sum"],
  ["messages_per_s", say("Messages", "消息"), "/s", "sum"],
  ["requests_per_s", say("Requests", "请求"), "/s", "sum"],
  ["failures_per_s", say("Failed requests", "失败请求"), "/s", "sum"],
  ["request_ms", say("Request, 95 %", "请求耗时（95%）"), " ms", "max"],
  ["store_ms", say("Store round trip", "存储往返"), " ms", "max"],
];

/** The nodes together: sums of what adds up, the worst of what does not. */
function together(nodes: Node[], key: string, how: "sum" | "max"): number[] {
  const all = nodes.map((n) => n.series[key] ?? []).filter((s) => s.length > 0);
  const length = Math.max(0, ...all.map((s) => s.length));
  return Array.from({ length }, (_, i) => {
    const values = all.map((s) => s[s.length - length + i]).filter((v) => v !== undefined);
    return how === "sum" ? values.reduce((a, b) => a + b, 0) : Math.max(0, ...values);
  });
}

const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });

const Figures = ({ nodes, step }: { nodes: Node[]; step: number }) => (
  <ul class="figures">
    {FIGURES.map(([key, label, unit, how]) => {
      const values = together(nodes, key, how);
      const last = values.at(-1);
      return (
        <li key={key} data-figure={key}>
          <p class="quiet">{label}</p>
          <p class="figure"><bdi>{last === undefined ? "–" : `${number.format(last)}${unit}`}</bdi></p>
          <Line values={values} label={`${label}: ${counted(Math.round((values.length * step) / 60), "minute", "minutes", "分钟")}`} />
        </li>
      );
    })}
  </ul>
);

const WIDTH = 160;
const HEIGHT = 32;

function Line({ values, label }: { values: number[]; label: string }) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((v, i) => `${((i + 60 - values.length) / 59) * WIDTH},${HEIGHT - 1 - (v / most) * (HEIGHT - 3)}`).join(" ");
  return <svg class="line-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none"><polyline points={points} /></svg>;
}

const Nodes = ({ nodes }: { nodes: Node[] }) => (
  <p class="quiet nodes">{nodes.map((n) => <span key={n.id} data-node={n.id}><bdi>{n.id}</bdi> {n.version} · {say("since", "启动于")} <When at={n.since} /></span>)}</p>
);
