/** The store: a look at its server and the queues, and an examination of every key, which repairs. */
import { useEffect, useState } from "preact/hooks";
import { counted, say } from "../say.ts";
import { sizeOf } from "../format.ts";
import { type Ask, useAnswer } from "./api.ts";
import { Act, Table, Trouble, View, When } from "./parts.tsx";

type Finding = { kind: string; key: string; message: string; repair: string };
type Run = { repair: boolean; state: "running" | "done" | "stopped" | "failed"; started_at: string; keys: number; keys_total: number; found: number; open: number; findings: Finding[]; error: string | null };

const findingsOf = (findings: readonly Finding[]) => (
  <Table empty={say("Nothing is wrong.", "一切正常。")} head={[say("What", "类别"), say("Key", "键"), say("Finding", "发现"), say("Repair", "修复")]}
    rows={findings.map((f, i) => ({ key: `${i} ${f.key}`, cells: [f.kind, <code>{f.key}</code>, f.message, f.repair] }))} />
);

export function Doctor({ ask }: { ask: Ask }) {
  const { value, failure, again } = useAnswer<{ server: Record<string, unknown>; findings: Finding[] }>(ask, "/v1/doctor");
  return (
    <View title={say("Doctor", "检查")} lead={say("The server of the store, and the queues.", "存储服务器与队列。")} aside={<Act name="again" label={say("Look again", "重新检查")} run={again} />}>
      <Trouble of={failure} />
      {value ? findingsOf(value.findings) : !failure && <p class="quiet empty" role="status">{say("Looking…", "正在检查…")}</p>}
      {value && <dl class="facts">{Object.entries(value.server).map(([k, v]) => <div key={k}><dt>{factOf(k)}</dt><dd>{valueOf(k, v)}</dd></div>)}</dl>}
      <Examination ask={ask} />
    </View>
  );
}

/** What the doctor knows of the server of the store, by the name of its field. */
function factOf(field: string): string {
  switch (field) {
    case "kind": return say("Store", "存储");
    case "version": return say("Version", "版本");
    case "role": return say("Role", "角色");
    case "replicas": return say("Replicas", "副本");
    case "persistence": return say("Persistence", "持久化");
    case "eviction": return say("Eviction", "淘汰策略");
    case "memory_bytes": return say("Memory used", "已用内存");
    case "memory_max_bytes": return say("Memory limit", "内存上限");
    case "partitions": return say("Partitions", "分区");
    case "layout": return say("Layout of keys", "键布局");
    case "clock_ahead_ms": return say("Clock ahead of this node", "时钟领先本节点");
    case "missing_rights": return say("Commands it may not use", "缺少的权限");
    default: return field.replaceAll("_", " ");
  }
}

function valueOf(field: string, value: unknown): string {
  if (field === "memory_max_bytes" && value === 0) return say("none", "无");
  if (field === "memory_bytes" && value === 0) return "–"; // the embedded store does not say
  if (field.endsWith("_bytes")) return sizeOf(Number(value));
  if (field.endsWith("_ms")) return `${Number(value).toLocaleString()} ms`;
  return (Array.isArray(value) ? value.join(", ") : String(value ?? "")) || "–";
}

const EVERY_MS = 2000;

/** The examination of every key, on whatever node it runs: the one that goes on, or the last one. */
function Examination({ ask }: { ask: Ask }) {
  const [every, setEvery] = useState(0);
  const { value: run, failure, again } = useAnswer<Run>(ask, "/v1/doctor/run", every); // 404 while there was none
  useEffect(() => setEvery(run?.state === "running" ? EVERY_MS : 0), [run?.state]);
  const begin = (repair: boolean) => ask("POST", "/v1/doctor", { repair }).then(again);
  const running = run?.state === "running";
  const found = counted(run?.found ?? 0, "finding", "findings", "个发现");
  return (
    <section class="examination" data-state={run?.state}>
      <h2>{say("Every key", "所有键")}</h2>
      <p class="quiet">{say("Takes longer, beside what the server does. Repairing brings back what is derived from something else, and removes bytes of files that nothing names: not in a store that may be an older copy.",
        "耗时较长，与服务同时进行。修复会重建派生数据，并删除无记录的文件；若存储可能是旧副本，请勿修复。")}</p>
      {failure?.passing && <Trouble of={failure} />}
      {running ? (
        <p class="progress" role="status">
          <progress max={Math.max(run.keys_total, run.keys, 1)} value={run.keys} />{say(`${run.keys.toLocaleString()} keys, ${found}`, `${run.keys.toLocaleString()} 个键，${run.found} 个发现`)}
          <Act name="stop" label={say("Stop", "停止")} run={() => ask("DELETE", "/v1/doctor/run").then(again)} />
        </p>
      ) : (
        <p class="buttons">
          <Act key={`examine ${run?.started_at}`} name="examine" label={say("Examine", "检查")} run={() => begin(false)} />
          <Act key={`repair ${run?.started_at}`} name="repair" danger label={say("Examine and repair", "检查并修复")} sure={say("Is this store no older copy?", "确认不是旧副本？")} run={() => begin(true)} />
        </p>
      )}
      {run && !running && (
        <p data-ended={run.state}>{run.state === "done" ? say(`Done: ${run.keys.toLocaleString()} keys, ${found}, ${run.open} open.`, `完成：${run.keys.toLocaleString()} 个键，${run.found} 个发现，${run.open} 个未修复。`)
          : run.state === "stopped" ? say("Stopped.", "已停止。") : (run.error ?? say("Failed.", "失败。"))} <When at={run.started_at} /></p>
      )}
      {run && run.findings.length > 0 && findingsOf(run.findings)}
    </section>
  );
}
