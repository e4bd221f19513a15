/** Small parts of the admin page. */
import type { ComponentChildren } from "preact";
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { fullTime } from "../format.ts";
import { say } from "../say.ts";
import { Problem } from "../ui/problem.tsx";
import { whenText } from "../views/when.ts";
import type { Failure } from "./api.ts";

/** When, in short, and in full on hover; a dash for never. */
export const When = ({ at }: { at: string | null | undefined }) =>
  at ? <time dateTime={at} title={fullTime(at)}>{whenText(new Date(at))}</time> : <span class="quiet">{"–"}</span>;

/** Why something could not be asked for, and what becomes of that. */
export const Trouble = ({ of }: { of: Failure | null }) =>
  of && <Problem text={of.passing ? say(`${of.text} This page asks again by itself.`, `${of.text} 页面会自动重试。`) : of.text} />;

type ActProps = { label: string; sure?: string; run: () => Promise<unknown>; danger?: boolean; name?: string; primary?: boolean };

/** Does something and says whether it worked. With `sure`, it asks first, in its own place. */
export function Act({ label, sure, run, danger, name, primary }: ActProps) {
  const [phase, setPhase] = useState<"idle" | "asking" | "busy" | "done">("idle");
  const [problem, setProblem] = useState("");
  const button = useRef<HTMLButtonElement>(null);
  const before = useRef(phase);
  useEffect(() => { // the focus stays where it was, whatever button is there now
    if (before.current !== phase && (phase === "asking" || before.current === "asking")) button.current?.focus({ preventScroll: true });
    before.current = phase;
  }, [phase]);
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
    <span class="act" data-act={name} onKeyDown={(ev) => { if (phase === "asking" && ev.key === "Escape") setPhase("idle"); }}>
      {phase === "asking" ? (
        <>
          <span class="quiet">{sure}</span>
          <button type="button" class="button danger" onClick={() => void go()}>{label}</button>
          <button ref={button} type="button" class="button" onClick={() => setPhase("idle")}>{say("Cancel", "取消")}</button>
        </>
      ) : (
        <button ref={button} type="button" class={classes} disabled={phase === "busy"} onClick={() => (sure ? setPhase("asking") : void go())}>
          {phase === "busy" ? say("Working…", "处理中…") : phase === "done" ? `${label} ✓` : label}</button>
      )}
      <Problem text={problem} />
    </span>
  );
}

/** A view: its title, also of the tab, what belongs beside it, and the rest. */
export function View({ title, lead, aside, children }: { title: string; lead?: string; aside?: ComponentChildren; children?: ComponentChildren }) {
  useLayoutEffect(() => { document.title = `${title} · chatd`; }, [title]);
  return (
    <section class="admin-view" aria-label={title}>
      <header><div><h1>{title}</h1>{lead && <p class="quiet">{lead}</p>}</div>{aside}</header>
      {children}
    </section>
  );
}

type TableProps = {
  head: string[];
  rows: { key: string; cells: ComponentChildren[]; under?: ComponentChildren }[];
  empty: string;
  loading?: boolean;
  failure?: Failure | null;
};

/** A table, or what to say where it would be empty. On a phone each row is a card, and each cell says what it is. */
export function Table({ head, rows, empty, loading, failure = null }: TableProps) {
  return (
    <>
      <Trouble of={failure} />
      {rows.length === 0 ? (!failure || loading) && <p class="quiet empty" role="status">{loading ? say("Loading…", "正在加载…") : empty}</p> : (
        <div class="table" role="region" tabIndex={0} aria-label={head.filter(Boolean).join(", ")}>
          <table role="table">
            <thead role="rowgroup"><tr role="row">{head.map((h, i) => <th key={i} role="columnheader" scope="col">{h || <span class="unseen">{say("Actions", "操作")}</span>}</th>)}</tr></thead>
            <tbody role="rowgroup">
              {rows.map(({ key, cells, under }) => (
                <Fragment key={key}>
                  <tr role="row" data-key={key}>{cells.map((c, i) => <td key={i} role="cell" data-label={head[i]}><div>{c}</div></td>)}</tr>
                  {under && <tr role="row" class="under"><td role="cell" colSpan={head.length}>{under}</td></tr>}
                </Fragment>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

export const More = ({ more, loading }: { more: (() => Promise<void>) | null; loading: boolean }) =>
  more && <p class="buttons"><button type="button" class="button more" disabled={loading} onClick={() => void more()}>{loading ? say("Loading…", "正在加载…") : say("Show more", "显示更多")}</button></p>;
