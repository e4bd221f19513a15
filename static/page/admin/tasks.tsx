/** Dead letters: what failed and why, to be tried again or deleted, one, some, or all that a filter takes. */
import { useRef, useState } from "preact/hooks";
import { counted, say } from "../say.ts";
import { Problem } from "../ui/parts.tsx";
import { type Ask, e, useAnswer, usePages } from "./api.ts";
import { Act, More, Table, View, When } from "./parts.tsx";

type Task = { id: string; queue: string; kind: string; attempts: number; died_at: string | null; last_error: string | null };
type Queue = { queue: string; paused: boolean; dead: number; delayed: number; leased: number; oldest_ms: number; ready: Record<string, number> };

export function Tasks({ ask, query }: { ask: Ask; query: URLSearchParams }) {
  const queues = useAnswer<{ queues: Queue[] }>(ask, "/v1/tasks/queues", 5000);
  const [chosen, setChosen] = useState(query.get("queue") ?? "");
  const all = queues.value?.queues ?? [];
  const queue = chosen || all.find((q) => q.dead > 0)?.queue || all[0]?.queue || "";
  return (
    <View title={say("Tasks", "任务")} lead={say("What runs in the background. A task that failed for good is a dead letter: it stays until somebody decides.", "后台任务。最终失败的任务成为死信，等待处理。")}>
      <Problem text={queues.problem} />
      <ul class="queues">
        {all.map((q) => (
          <li key={q.queue}>
            <button type="button" class="queue" data-queue={q.queue} aria-pressed={q.queue === queue} onClick={() => setChosen(q.queue)}>
              <b>{q.queue}</b>{q.paused && <span class="badge at">{say("paused", "暂停")}</span>}
              <span class="quiet">{`${counted(Object.values(q.ready).reduce((a, b) => a + b, 0), "ready", "ready", "就绪")} · ${counted(q.delayed, "delayed", "delayed", "延迟")}`}</span>
              <span class={q.dead > 0 ? "dead" : "quiet"}>{counted(q.dead, "dead letter", "dead letters", "个死信")}</span>
            </button>
          </li>
        ))}
      </ul>
      {queue && <Dead key={queue} ask={ask} queue={queue} changed={queues.again} />}
    </View>
  );
}

type Filter = { kind: string; error: string };

function Dead({ ask, queue, changed }: { ask: Ask; queue: string; changed: () => Promise<void> }) {
  const pages = usePages<Task>(ask, `/v1/tasks?state=dead&queue=${e(queue)}`, "tasks");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState<Filter>({ kind: "", error: "" });
  const [progress, setProgress] = useState<{ done: number; act: string } | null>(null);
  const stop = useRef(false);
  const shown = pages.items.filter((t) => (!filter.kind || t.kind === filter.kind) && (!filter.error || (t.last_error ?? "").includes(filter.error)));
  const kinds = [...new Set(pages.items.map((t) => t.kind))];

  /** Goes on step by step until all are done or it is stopped: each call of the server takes a bounded number. */
  async function bulk(act: "retry" | "delete"): Promise<void> {
    const tasks = [...selected].slice(0, 100);
    const what = tasks.length > 0 ? { tasks } : { ...(filter.kind && { kind: filter.kind }), ...(filter.error && { error: filter.error }) };
    const before = new Date().toISOString();
    stop.current = false;
    let done = 0;
    try {
      for (let cursor: string | null = null; ; ) {
        setProgress({ done, act });
        const answer: { changed: number; next: string | null } = await ask("POST", "/v1/tasks/bulk", { queue, state: "dead", act, before, ...what, ...(cursor && { cursor }) });
        done += answer.changed;
        cursor = answer.next;
        if (!cursor || stop.current) break;
      }
    } finally {
      setProgress(null);
      setSelected(new Set());
      await Promise.all([pages.again(), changed()]);
    }
  }
  const which = selected.size > 0 ? counted(selected.size, "selected", "selected", "个已选") : filter.kind || filter.error ? say("all that match", "所有匹配项") : say("all", "全部");
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id) && next.size < 100) next.add(id);
    setSelected(next);
  };
  return (
    <>
      <div class="filters">
        <label class="field"><span>{say("Kind", "类型")}</span>
          <select name="kind" value={filter.kind} onChange={(ev) => setFilter({ ...filter, kind: ev.currentTarget.value })}>
            <option value="">{say("any", "任意")}</option>{kinds.map((k) => <option key={k} value={k}>{k}</option>)}
          </select></label>
        <label class="field"><span>{say("Error contains", "错误包含")}</span>
          <input name="error" value={filter.error} onInput={(ev) => setFilter({ ...filter, error: ev.currentTarget.value })} /></label>
        {progress ? (
          <p class="progress" role="status">{counted(progress.done, "done", "done", "个已完成")} <button type="button" class="button" onClick={() => { stop.current = true; }}>{say("Stop", "停止")}</button></p>
        ) : (
          <p class="buttons">
            <Act key={`retry ${which}`} name="retry" primary label={say(`Retry ${which}`, `重试${which}`)} run={() => bulk("retry")} />
            <Act key={`delete ${which}`} name="delete" danger label={say(`Delete ${which}`, `删除${which}`)} sure={say("They never run then.", "删除后不再执行。")} run={() => bulk("delete")} />
          </p>
        )}
      </div>
      <Problem text={pages.problem} />
      <Table loading={pages.loading} empty={say("No dead letters.", "没有死信。")} head={["", say("Kind", "类型"), say("Error", "错误"), say("Attempts", "次数"), say("Died", "时间"), ""]}
        rows={shown.map((t) => ({
          key: t.id,
          cells: [
            <input type="checkbox" aria-label={say(`Select ${t.id}`, `选择 ${t.id}`)} checked={selected.has(t.id)} onChange={() => toggle(t.id)} />,
            t.kind, <span class="error">{t.last_error ?? ""}</span>, t.attempts, <When at={t.died_at} />,
            <Payload ask={ask} id={t.id} />,
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </>
  );
}

/** What a task works on, asked for when it is wanted: it may hold what people wrote. */
function Payload({ ask, id }: { ask: Ask; id: string }) {
  const [text, setText] = useState("");
  async function show(): Promise<void> {
    const p = await ask("GET", `/v1/tasks/${e(id)}/payload`);
    setText("json" in p ? JSON.stringify(p.json, null, 2) : (p.text ?? p.base64 ?? ""));
  }
  return text ? <pre class="payload">{text}</pre> : <Act name="payload" label={say("Payload", "内容")} run={show} />;
}
