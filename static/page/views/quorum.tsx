/** Asks that members read a message until a time, and shows under it how far that is. */
import type { MessageItem, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { useSnapshot } from "../hooks.ts";
import { listOf } from "../notices.ts";
import { useNames } from "../people.ts";
import { useAsking } from "../presence.tsx";
import { keepQuorum } from "../quorums.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import type { IconName } from "../ui/icons.ts";
import { lazy } from "../ui/lazy.tsx";
import { Dialog, Icon, Problem } from "../ui/parts.tsx";
import type { Named } from "../ui/people-field.tsx";
import { fieldOf, whenText, zone } from "./when.ts";

/** Names those who should read a message. */
const Readers = lazy(() => import("./people.tsx").then(({ PeopleField, usersOf }) => ({ author, onUsers }: { author: string; onUsers: (users: readonly string[]) => void }) => {
  const [value, setValue] = useState<Named>({ users: [], text: "" });
  return <PeopleField label={say("People", "人员")} name="readers" value={value} onValue={(next) => { setValue(next); onUsers(usersOf(next)); }} except={(u) => u === author} placeholder={say("Name or username", "姓名或用户名")} />;
}));

/** Cursors that move together are one reason to ask again. */
const GATHER_MS = 300;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Named as those who are waited for; more are a number. */
const NAMED_MAX = 3;

const listeners = new Set<(q: Wire.Quorum) => void>();

/** What everybody who looks at it should see at once. */
function changed(q: Wire.Quorum): void {
  keepQuorum(q.group, q.id);
  for (const fn of [...listeners]) fn(q);
}

const ICONS: Record<Wire.Quorum["state"], IconName> = { open: "eye", met: "check", missed: "alert", cancelled: "close" };

/** How many have to read it. */
function neededOf({ need, of }: Wire.Quorum): number {
  if (need.percent) return Math.max(1, Math.ceil((of * need.percent) / 100));
  return need.count ?? of;
}

function textOf(q: Wire.Quorum): string {
  const [read, of, needed, until] = [q.read, q.of, neededOf(q), whenText(new Date(q.until))];
  switch (q.state) {
    case "open": return say(`Read by ${read} of ${of}, until ${until}`, `${of} 人中 ${read} 人已读，截至 ${until}`) + (needed === of ? "" : say(` · ${needed} needed`, ` · 需 ${needed} 人`));
    case "met": return say(`Reached: read by ${read} of ${of}`, `已达成：${of} 人中 ${read} 人已读`);
    case "missed": return say(`Not reached: read by ${read} of ${of} until ${until}`, `未达成：截至 ${until}，${of} 人中 ${read} 人已读`);
    case "cancelled": return say("Reading is no longer asked for", "已不再要求阅读");
  }
}

export function QuorumLine({ item: { group, id }, tab, may }: { item: MessageItem; tab: number; may: boolean }) {
  const { chat, me, toast } = useSession();
  const api = chat.group(group).quorum;
  const [q, setQ] = useState<Wire.Quorum | null>(null);
  const open = q === null || q.state === "open";
  const look = useAsking(async () => {
    if (!open) return; // met and missed are final, and who asks anew says so
    try {
      setQ(await api.get(id, { limit: NAMED_MAX }));
    } catch (err) {
      if ((err as { code?: string }).code !== "not_found") throw err;
      keepQuorum(group, id, false);
    }
  }, `${group} ${id}`);
  useEffect(() => {
    const take = (now: Wire.Quorum) => { if (now.group === group && now.id === id) setQ(now); };
    listeners.add(take);
    return () => { listeners.delete(take); };
  }, [group, id]);
  useEffect(() => {
    if (!q || !open) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = chat.on("cursor", (c) => {
      if (c.group === group && c.read >= id) timer ??= setTimeout(() => { timer = undefined; look(); }, GATHER_MS);
    });
    const left = Date.parse(q.until) - Date.now();
    const last = setTimeout(look, Math.min(Math.max(left, 0) + GATHER_MS, DAY_MS));
    return () => {
      end();
      clearTimeout(timer);
      clearTimeout(last);
    };
  }, [q]);
  const few = q && q.state === "open" && q.next === null && q.pending.length > 0 && q.pending.length <= NAMED_MAX ? q.pending : [];
  const nameOf = useNames(few);
  if (!q) return null;
  const stop = () => void api.delete(id).then(() => changed({ ...q, state: "cancelled" }), (err) => toast(problemOf(err), { bad: true }));
  return (
    <p class="quorum" data-state={q.state} role="status">
      <Icon name={ICONS[q.state]} /><span>{textOf(q)}{few.length > 0 && say(` · waiting for ${listOf(few.map(nameOf))}`, ` · 等待 ${few.map(nameOf).join("、")}`)}</span>
      {q.state === "open" && (may || q.by === me) && <button type="button" class="text-button" tabIndex={tab} onClick={stop}>{say("Stop asking", "取消要求")}</button>}
    </p>
  );
}

type Kind = "all" | "percent" | "count" | "users";

const REMINDERS: readonly (readonly [string, string])[] = [
  ["", say("No reminder", "不提醒")], ["half", say("Halfway there", "时间过半时")], ["hour", say("An hour before the end", "截止前一小时")]];

export function QuorumDialog({ item, onClose }: { item: MessageItem; onClose: () => void }) {
  const { chat, toast } = useSession();
  const members = useSnapshot((s) => s.groups.find((g) => g.id === item.group)?.members ?? 0);
  const [kind, setKind] = useState<Kind>("all");
  const [percent, setPercent] = useState(80);
  const [count, setCount] = useState(1);
  const [users, setUsers] = useState<readonly string[]>([]);
  const [until, setUntil] = useState(() => fieldOf(new Date(Date.now() + DAY_MS)));
  const [remind, setRemind] = useState("half");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);

  function submit(e: Event): void {
    e.preventDefault();
    const left = new Date(until).getTime() - Date.now();
    if (!(left > 0)) return setProblem(say("Choose a time that is still to come.", "请选择将来的时间。"));
    if (kind === "users" && users.length === 0) return setProblem(say("Name at least one person.", "请至少选择一人。"));
    const need: Wire.QuorumNeed = { all: { percent: 100 }, percent: { percent }, count: { count }, users: { users: [...users] } }[kind];
    const after_s = Math.round((remind === "half" ? left / 2 : left - HOUR_MS) / 1000);
    setBusy(true);
    setProblem("");
    chat.group(item.group).quorum.put(item.id, { need, until: new Date(until).toISOString(), ...(remind && after_s > 0 && { remind: [{ after_s, via: "push" as const }] }) }).then((q) => {
      changed(q);
      onClose();
      toast(say("You see under the message who has read it.", "消息下方会显示阅读进度。"));
    }, (err) => {
      setProblem(err.code === "conflict" ? say("This has been asked and decided already.", "此要求已有结果。") : problemOf(err));
      setBusy(false);
    });
  }
  const choice = (value: Kind, label: string) => (
    <label><input type="radio" name="need" value={value} checked={kind === value} onChange={() => setKind(value)} /><span><strong>{label}</strong></span></label>
  );
  const number = (name: string, label: string, max: number, value: number, set: (n: number) => void) => (
    <label class="field"><span>{label}</span><input type="number" name={name} required min={1} max={max} value={value} onInput={(e) => set(e.currentTarget.valueAsNumber)} /></label>
  );
  return (
    <Dialog title={say("Ask for reading", "要求阅读")} onClose={onClose}>
      <form class="stack" name="quorum" onSubmit={submit}>
        <p class="quiet">{say("Members who were here before the message count, without its author.", "仅计入发送前已在群组中的成员，不含发送者。")}</p>
        <fieldset class="choice">
          <legend>{say("Who should read it", "谁需要阅读")}</legend>
          {choice("all", say("Everyone", "所有人"))}
          {choice("percent", say("A share of the members", "一定比例的成员"))}
          {choice("count", say("A number of members", "一定数量的成员"))}
          {choice("users", say("Certain people", "指定的人"))}
        </fieldset>
        {kind === "percent" && number("percent", say("Percent", "百分比"), 100, percent, setPercent)}
        {kind === "count" && number("count", say("How many", "人数"), Math.max(1, members - 1), count, setCount)}
        {kind === "users" && <Readers author={item.from} onUsers={setUsers} />}
        <label class="field"><span>{say("Until", "截至")}</span>
          <input type="datetime-local" name="until" required value={until} onInput={(e) => setUntil(e.currentTarget.value)} /><small>{say(`Your zone: ${zone()}`, `您的时区：${zone()}`)}</small></label>
        <label class="field"><span>{say("Remind those who haven’t read it", "提醒未读的人")}</span>
          <select name="remind" value={remind} onChange={(e) => setRemind(e.currentTarget.value)}>{REMINDERS.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select></label>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary" disabled={busy}>{say("Ask", "要求阅读")}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button></p>
      </form>
    </Dialog>
  );
}
