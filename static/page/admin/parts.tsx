/** Small parts of the admin page. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { fullTime, shortTime } from "../format.ts";
import { say } from "../say.ts";
import { Problem } from "../ui/parts.tsx";

/** When, in short, and in full on hover; a dash for never. */
export const When = ({ at }: { at: string | null | undefined }) =>
  at ? <time dateTime={at} title={fullTime(at)}>{shortTime(at)}</time> : <span class="quiet">{"–"}</span>;

/** Does something and says whether it worked. With `sure`, it asks first, in its own place. */
export function Act({ label, sure, run, danger, name, primary }: { label: string; sure?: string; run: () => Promise<unknown>; danger?: boolean; name?: string; primary?: boolean }) {
  const [phase, setPhase] = useState<"idle" | "asking" | "busy" | "done">("idle");
  const [problem, setProblem] = useState("");
  async function go(): Promise<void> {
    setPhase("busy");
    setProblem("");
    try {
      await run();
      setPhase("done");
    } catch (err) {
      setProblem((err as Error).message);
      setPhase("idle");
    }
  }
  const classes = `button${danger ? " danger-text" : ""}${primary ? " primary" : ""}`;
  return (
    <span class="act" data-act={name}>
      {phase === "asking" ? (
        <>
          <span class="quiet">{sure}</span>
          <button type="button" class="button danger" onClick={() => void go()}>{label}</button>
          <button type="button" class="button" onClick={() => setPhase("idle")}>{say("Cancel", "取消")}</button>
        </>
      ) : (
        <button type="button" class={classes} disabled={phase === "busy"} onClick={() => (sure ? setPhase("asking") : void go())}>
          {phase === "busy" ? say("Working…", "处理中…") : phase === "done" ? `${label} ✓` : label}</button>
      )}
      <Problem text={problem} />
    </span>
  );
}

/** A view: its title, what belongs beside it, and the rest. */
export const View = ({ title, lead, aside, children }: { title: string; lead?: string; aside?: ComponentChildren; children?: ComponentChildren }) => (
  <section class="admin-view" aria-label={title}>
    <header><div><h1>{title}</h1>{lead && <p class="quiet">{lead}</p>}</div>{aside}</header>
    {children}
  </section>
);

/** A table, or what to say where it would be empty. */
export function Table({ head, rows, empty, loading }: { head: string[]; rows: { key: string; cells: ComponentChildren[]; under?: ComponentChildren }[]; empty: string; loading?: boolean }) {
  if (rows.length === 0) return <p class="quiet empty">{loading ? say("Loading…", "正在加载…") : empty}</p>;
  return (
    <div class="table" role="region" tabIndex={0} aria-label={head.join(", ")}>
      <table>
        <thead><tr>{head.map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
        <tbody>
          {rows.map(({ key, cells, under }) => (
            <>
              <tr key={key} data-key={key}>{cells.map((c, i) => <td key={i}>{c}</td>)}</tr>
              {under && <tr key={`${key} under`} class="under"><td colSpan={head.length}>{under}</td></tr>}
            </>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const More = ({ more, loading }: { more: (() => Promise<void>) | null; loading: boolean }) =>
  more && <p class="buttons"><button type="button" class="button" disabled={loading} onClick={() => void more()}>{say("Show more", "显示更多")}</button></p>;
