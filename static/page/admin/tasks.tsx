/** Dead letters: what failed and why, to be tried again or deleted, one, some, or all that a filter takes. */
import { useRef, useState } from "preact/hooks";
import { passing } from "../call.ts";
import { counted, language, say } from "../say.ts";
import { Problem } from "../ui/problem.tsx";
import { type Ask, RETRY_MS, e, useAnswer, usePages, useSettled } from "./api.ts";
import { Act, More, Table, Trouble, View, When } from "./parts.tsx";

type Task = { id: string; queue: string; kind: string; attempts: number; died_at: string | null; last_error: string | null };
type Queue = { queue: string; paused: boolean; dead: number; delayed: number; leased: number; oldest_ms: number; ready: Record<string, number> };

export function Tasks({ ask, query }: { ask: Ask; query: URLSearchParams }) {
  const queues = useAnswer<{ queues: Queue[] }>(ask, "/v1/tasks/queues", 5000);
  const [chosen, setChosen] = useState(query.get("queue") ?? "");
  const all = queues.value?.queues ?? [];
  const queue = all.find((q) => q.queue === chosen) ?? all.find((q) => q.dead > 0) ?? all[0];
  return (
    <View title={say("Tasks", "任务")} lead={say("What runs in the background. A task that failed for good is a dead letter: it stays until somebody decides.", "后台任务。最终失败的任务成为死信，等待处理。")}>
      <Trouble of={queues.failure} />
      {!queues.value && !queues.failure && <p class="quiet empty" role="status">{say("Loading…", "正在加载…")}</p>}
      <ul class="queues">
        {all.map((q) => (
          <li key={q.queue}>
            <button type="button" class="queue" data-queue={q.queue} aria-pressed={q === queue} onClick={() => setChosen(q.queue)}>
              <span><b>{q.queue}</b>{q.paused && <span class="paused">{say("paused", "暂停")}</span>}</span>
              <span class="quiet">{`${counted(Object.values(q.ready).reduce((a, b) => a + b, 0), "ready", "ready", "就绪")} · ${counted(q.delayed, "delayed", "delayed", "延迟")}`}</span>
              <span class={q.dead > 0 ? "dead" : "quiet"}>{counted(q.dead, "dead letter", "dead letters", "个死信")}</span>
            </button>
          </li>
        ))}
      </ul>
      {queue && <Dead key={queue.queue} ask={ask} queue={queue} changed={queues.again} />}
    </View>
  );
}

type Act = "retry" | "delete";
type What = { tasks?: string[]; kind?: string; error?: string };

/** How far a change of many has come. */
type Run = { act: Act; done: number; total: number | null; state: "runs" | "waits" | "ended"; stopped: boolean; problem: string };

/** Tasks that are named in one call. */
const SELECTED_MAX = 100;

/** Changes many, step by step until all are done or it is stopped: each call of the server takes a bounded time. One that failed is repeated, which is harmless. */
function useBulk(ask: Ask, queue: string, after: () => Promise<unknown>): { run: Run | null; begin: (act: Act, what: What, total: number | null) => Promise<void>; stop: () => void } {
  const [run, setRun] = useState<Run | null>(null);
  const stopped = useRef(false);
  const wake = useRef(() => {});
  async function begin(act: Act, what: What, total: number | null): Promise<void> {
    const before = new Date().toISOString();
    const now: Run = { act, done: 0, total, state: "runs", stopped: false, problem: "" };
    const show = (change: Partial<Run>) => setRun({ ...Object.assign(now, change) });
    stopped.current = false;
    for (let cursor: string | null = null, more = true; more && !stopped.current; ) {
      show({ state: "runs" });
      try {
        const answer: { changed: number; next: string | null } = await ask("POST", "/v1/tasks/bulk", { queue, state: "dead", act, before, ...what, ...(cursor && { cursor }) });
        now.done += answer.changed;
        cursor = answer.next;
        more = !!cursor;
      } catch (err) {
        show({ state: "waits", problem: (err as Error).message });
        more = passing(err);
        if (more) await new Promise<void>((go) => { wake.current = go; setTimeout(go, RETRY_MS); });
        if (more) now.problem = "";
      }
    }
    show({ state: "ended", stopped: stopped.current });
    await after();
  }
  return { run, begin, stop: () => { stopped.current = true; wake.current(); } };
}

function Dead({ ask, queue: { queue, dead }, changed }: { ask: Ask; queue: Queue; changed: () => Promise<void> }) {
  const [kind, setKind] = useState("");
  const [error, setError] = useState("");
  const contains = useSettled(error.trim());
  const filter: What = { ...(kind && { kind }), ...(contains && { error: contains }) };
  const pages = usePages<Task>(ask, `/v1/tasks?state=dead&queue=${e(queue)}${kind && `&kind=${e(kind)}`}${contains && `&error=${e(contains)}`}`, "tasks");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { run, begin, stop } = useBulk(ask, queue, async () => {
    setSelected(new Set());
    await Promise.all([pages.again(), changed()]);
  });
  const kinds = useRef(new Set<string>()).current;
  for (const t of pages.items) kinds.add(t.kind);
  const filtered = !!(kind || contains);
  const which = selected.size > 0 ? counted(selected.size, "selected", "selected", "个已选") : filtered ? say("all that match", "所有匹配项") : say("all", "全部");
  const start = (act: Act) => begin(act, selected.size > 0 ? { tasks: [...selected] } : filter, selected.size > 0 ? selected.size : filtered ? null : dead);
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id) && next.size < SELECTED_MAX) next.add(id);
    setSelected(next);
  };
  const choosable = pages.items.slice(0, SELECTED_MAX);
  const chosen = choosable.length > 0 && choosable.every((t) => selected.has(t.id));
  return (
    <>
      <div class="filters">
        <label class="field"><span>{say("Kind", "类型")}</span>
          <select name="kind" value={kind} onChange={(ev) => { setKind(ev.currentTarget.value); setSelected(new Set()); }}>
            <option value="">{say("any", "任意")}</option>{[...kinds].sort().map((k) => <option key={k} value={k}>{k}</option>)}
          </select></label>
        <label class="field"><span>{say("Error contains", "错误包含")}</span>
          <input type="search" name="error" value={error} onInput={(ev) => { setError(ev.currentTarget.value); setSelected(new Set()); }} /></label>
        {run && run.state !== "ended" ? <Progress run={run} stop={stop} /> : (pages.items.length > 0 || dead > 0) && (
          <p class="buttons">
            <Act key={`retry ${which} ${run?.done}`} name="retry" primary label={say(`Retry ${which}`, `重试${which}`)} run={() => start("retry")} />
            <Act key={`delete ${which} ${run?.done}`} name="delete" danger label={say(`Delete ${which}`, `删除${which}`)} sure={say("They never run then.", "删除后不再执行。")} run={() => start("delete")} />
          </p>
        )}
      </div>
      {run?.state === "ended" && <p class="quiet" role="status" data-ended={run.stopped ? "stopped" : run.problem ? "failed" : "done"}>{endOf(run)}</p>}
      {run && <Problem text={run.problem} />}
      <Table loading={pages.loading} failure={pages.failure} empty={filtered ? say("No dead letter is like that.", "没有匹配的死信。") : say("No dead letters.", "没有死信。")}
        head={[say("Select", "选择"), say("Kind", "类型"), say("Error", "错误"), say("Attempts", "次数"), say("Died", "时间"), ""]}
        rows={pages.items.map((t) => ({
          key: t.id,
          cells: [
            <label class="check"><input type="checkbox" aria-label={say(`Select ${t.id}`, `选择 ${t.id}`)} checked={selected.has(t.id)} onChange={() => toggle(t.id)} /></label>,
            t.kind, <span class="error">{t.last_error ?? ""}</span>, t.attempts, <When at={t.died_at} />,
            <Payload ask={ask} id={t.id} />,
          ],
        }))} />
      {pages.items.length > 1 && (
        <p class="buttons">
          <button type="button" class="button small" onClick={() => setSelected(new Set(chosen ? [] : choosable.map((t) => t.id)))}>
            {chosen ? say("Select none", "取消选择") : say(`Select the first ${choosable.length}`, `选择前 ${choosable.length} 个`)}</button>
        </p>
      )}
      <More more={pages.more} loading={pages.loading} />
    </>
  );
}

const number = (n: number) => n.toLocaleString(language);

function Progress({ run, stop }: { run: Run; stop: () => void }) {
  const of = run.total === null ? number(run.done) : say(`${number(run.done)} of ${number(run.total)}`, `${number(run.done)} / ${number(run.total)}`);
  return (
    <p class="progress" role="status">
      <progress aria-label={say("Progress", "进度")} {...(run.total !== null && { max: Math.max(run.total, run.done, 1), value: run.done })} />
      <span>{run.state === "waits" ? say(`${of}, waiting for the server`, `${of}，等待服务器`) : of}</span>
      <button type="button" class="button small" data-act="stop" onClick={stop}>{say("Stop", "停止")}</button>
    </p>
  );
}

function endOf({ act, done, stopped }: Run): string {
  const what = act === "retry" ? say(`${number(done)} retried`, `已重试 ${number(done)} 个`) : say(`${number(done)} deleted`, `已删除 ${number(done)} 个`);
  return stopped ? say(`Stopped: ${what}.`, `已停止：${what}。`) : `${what}${say(".", "。")}`;
}

/** What a task works on, asked for when it is wanted: it may hold what people wrote. */
function Payload({ ask, id }: { ask: Ask; id: string }) {
  const [text, setText] = useState("");
  async function show(): Promise<void> {
    const p = await ask("GET", `/v1/tasks/${e(id)}/payload`);
    setText(("json" in p ? JSON.stringify(p.json, null, 2) : (p.text ?? p.base64 ?? "")) || say("empty", "空"));
  }
  return text ? <pre class="payload" tabIndex={0}>{text}</pre> : <Act name="payload" label={say("Payload", "内容")} run={show} />;
}
