/** What is to be sent later: when, to whom, and what can still be done about it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Wire } from "@chatd/client";
import { titleOf } from "../groups.ts";
import { useSnapshot } from "../hooks.ts";
import { textOf, usePeople } from "../people.ts";
import { reminderOf } from "../reminders.ts";
import { groupPath, pathOf } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Back, Dialog, Problem } from "../ui/parts.tsx";
import { fieldOf, repeatText, timeIn, whenText, zone } from "./when.ts";

type Schedule = Wire.Schedule;
const PAGE = 100;
/** After the time of the next one, ms: the server has sent it then. */
const AFTER_MS = 2000;
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The next one first; those without a time last. */
const bySoonest = (a: Schedule, b: Schedule): number => (a.next_at ? Date.parse(a.next_at) : Infinity) - (b.next_at ? Date.parse(b.next_at) : Infinity) || 0;

export function Scheduled() {
  const { chat, toast } = useSession();
  const [all, setAll] = useState<readonly Schedule[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const [changing, setChanging] = useState<Schedule | null>(null);
  const live = useSnapshot((s) => s.connection.phase === "live");
  const here = useRef(true);
  useEffect(() => () => { here.current = false; }, []);

  async function load(cursor?: string): Promise<void> {
    try {
      const page = await chat.schedules.list({ limit: PAGE, ...(cursor && { cursor }) });
      if (!here.current) return;
      const open = page.schedules.filter((s) => s.state !== "done" && s.state !== "cancelled");
      setAll((before) => (cursor ? [...(before ?? []), ...open] : open));
      setNext(page.next);
      setProblem("");
    } catch (err) {
      if (here.current) setProblem((err as Error).message);
    }
  }
  useEffect(() => { if (live) void load(); }, [live]);
  const soonest = Math.min(...(all ?? []).flatMap((s) => (s.state === "pending" && s.next_at ? [Date.parse(s.next_at)] : [])));
  useEffect(() => {
    if (!Number.isFinite(soonest)) return;
    const timer = setTimeout(() => void load(), Math.min(TIMER_MAX_MS, Math.max(0, soonest - Date.now()) + AFTER_MS));
    return () => clearTimeout(timer);
  }, [soonest]);

  /** Asks for a change and shows what has come of it. */
  async function change(does: () => Promise<unknown>, done = ""): Promise<boolean> {
    try {
      await does();
      if (done) toast(done);
      await load();
      return true;
    } catch (err) {
      toast((err as Error).message, { bad: true });
      return false;
    }
  }
  return (
    <>
      <header class="pane-head"><Back /><h1>{say("Scheduled", "定时消息")}</h1></header>
      <div class="pane-body narrow">
        <Problem text={problem} />
        {all === null ? !problem && <p class="quiet" role="status">{say("Loading…", "正在加载…")}</p>
          : all.length === 0 ? (
            <div class="nothing">
              <h2>{say("Nothing is scheduled", "没有定时消息")}</h2>
              <p class="quiet">{say("Write a message, then choose a time with the arrow beside Send.", "写好消息后，点发送按钮旁的箭头选择时间。")}</p>
            </div>
          ) : <ul class="scheduled">{all.toSorted(bySoonest).map((s) => (
            <Row key={s.id} schedule={s} onEdit={() => setChanging(s)}
              onPause={() => void change(() => chat.schedules.update(s.id, { paused: s.state !== "paused" }))}
              onRun={() => void change(() => chat.schedules.run(s.id), say("Sent", "已发送"))}
              onDelete={() => void change(() => chat.schedules.cancel(s.id), say("Deleted", "已删除"))} />
          ))}</ul>}
        {next && <p class="buttons"><button type="button" class="button" onClick={() => void load(next)}>{say("Show more", "显示更多")}</button></p>}
      </div>
      {changing && <Change schedule={changing} onClose={() => setChanging(null)}
        onSave={async (to) => { if (await change(() => chat.schedules.update(changing.id, to))) setChanging(null); }} />}
    </>
  );
}

type RowProps = { schedule: Schedule; onEdit: () => void; onPause: () => void; onRun: () => void; onDelete: () => void };

function Row({ schedule: s, onEdit, onPause, onRun, onDelete }: RowProps) {
  const { me } = useSession();
  const people = usePeople();
  const group = useSnapshot((now) => now.groups.find((g) => g.id === s.group));
  const [asked, setAsked] = useState(false);
  const reminder = reminderOf(s.user, me, s.data);
  const to = reminder ? say("Reminder", "提醒") : group ? titleOf(group, me, people) : s.group ?? textOf(people, s.user ?? "");
  const times = (s.next_times ?? (s.next_at ? [s.next_at] : [])).map((at) => new Date(at));
  const there = s.timezone && s.timezone !== zone() && s.next_at ? timeIn(new Date(s.next_at), s.timezone) : "";
  return (
    <li class="schedule" data-schedule={s.id} data-state={s.state}>
      <header>
        <strong>{times.length > 0 ? times.map((at) => whenText(at)).join(" · ") : say("No time", "无时间")}</strong>
        {reminder ? <a href={pathOf({ view: "group", ...reminder })}>{to}</a> : s.group ? <a href={groupPath(s.group)} dir="auto">{to}</a> : <bdi>{to}</bdi>}
        {s.state !== "pending" && <span class="state">{s.state === "paused" ? say("Paused", "已暂停") : say("Failed", "失败")}</span>}
      </header>
      <p class="text" dir="auto">{s.body ?? say("Data", "数据")}</p>
      {s.cron && <p class="quiet">{repeatText(s.cron)} · {s.timezone ?? "UTC"}</p>}
      {there && <p class="quiet">{say(`There: ${there}`, `当地时间：${there}`)}</p>}
      {s.last_error && <p class="problem">{say(`Not sent: ${s.last_error}`, `未发送：${s.last_error}`)}</p>}
      <footer>
        {asked ? <>
          <span class="quiet">{say("Delete it for good?", "确定删除？")}</span>
          <button type="button" class="text-button danger" onClick={onDelete}>{say("Delete", "删除")}</button>
          <button type="button" class="text-button" onClick={() => setAsked(false)}>{say("Keep", "保留")}</button>
        </> : <>
          <button type="button" class="text-button" onClick={onEdit}>{say("Edit", "编辑")}</button>
          <button type="button" class="text-button" onClick={onRun}>{say("Send now", "立即发送")}</button>
          {s.state !== "failed" && <button type="button" class="text-button" onClick={onPause}>{s.state === "paused" ? say("Go on", "继续") : say("Pause", "暂停")}</button>}
          <button type="button" class="text-button danger" onClick={() => setAsked(true)}>{say("Delete", "删除")}</button>
        </>}
      </footer>
    </li>
  );
}

/** Another text, and another time where it is sent once. */
function Change({ schedule: s, onSave, onClose }: { schedule: Schedule; onSave: (to: Wire.ScheduleChange) => void; onClose: () => void }) {
  const [body, setBody] = useState(s.body ?? "");
  const [at, setAt] = useState(() => fieldOf(new Date(s.next_at ?? Date.now() + 3_600_000)));
  const [problem, setProblem] = useState("");
  function submit(e: Event): void {
    e.preventDefault();
    if (!s.cron && !(Date.parse(at) > Date.now())) setProblem(say("Choose a time that is still to come.", "请选择将来的时间。"));
    else onSave({ ...(body.trim() && { body: body.trim() }), ...(!s.cron && { at: new Date(at).toISOString() }) });
  }
  return (
    <Dialog title={say("Scheduled message", "定时消息")} onClose={onClose}>
      <form class="when schedule-change" onSubmit={submit}>
        {s.body !== undefined && <label class="field"><span>{say("Text", "内容")}</span><textarea rows={4} dir="auto" required value={body} onInput={(e) => setBody(e.currentTarget.value)} /></label>}
        {!s.cron && <label class="field"><span>{say("Time", "时间")}</span><input type="datetime-local" required value={at} onInput={(e) => setAt(e.currentTarget.value)} /></label>}
        <p class="quiet">{say(`Your zone: ${zone()}`, `您的时区：${zone()}`)}</p>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary">{say("Save", "保存")}</button></p>
      </form>
    </Dialog>
  );
}
