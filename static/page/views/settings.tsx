/** What a group is like, each setting with a sentence that says what follows from it. */
import type { Wire } from "@chatd/client";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSnapshot } from "../hooks.ts";
import { followNotices, manages as managing, useMembers } from "../members.ts";
import { isolated } from "../people.ts";
import { go, route } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { about } from "../signin.ts";
import { Confirm, problemOf, type Question } from "../ui/confirm.tsx";
import { Problem } from "../ui/parts.tsx";
import { lasting } from "./when.ts";

type Setting = "name" | "visibility" | "join" | "post" | "slow_s" | "expire_s" | "receipts" | "pins" | "mention_all" | "history" | "keep" | "retain_days" | "overflow" | "backlog_max";
/** Lengths of slow mode that are offered, in seconds. */
const SLOW_S = [0, 5, 10, 30, 60, 300, 900, 3600, 21_600];
/** After how long messages disappear, in seconds. */
const EXPIRE_S = [0, 300, 3600, 28_800, 86_400, 604_800, 2_592_000, 31_536_000];
type Values = Pick<Wire.Group, Setting>;
/** Who can join, as one question: `visibility` and `join` together. Nobody adds themself to a private group, whatever its `join` is. */
type Joining = "private" | "public" | "ask" | "closed";
const joiningOf = ({ visibility, join }: Values): Joining => (visibility === "private" ? "private" : join === "open" ? "public" : join);
const SETTINGS_OF: Record<Joining, Partial<Values>> = {
  private: { visibility: "private" }, public: { visibility: "public", join: "open" }, ask: { visibility: "public", join: "ask" }, closed: { visibility: "public", join: "closed" },
};

export function Settings({ group: id }: { group: string }) {
  const { chat } = useSession();
  const [group, setGroup] = useState<Wire.Group | null>(null);
  const [archive, setArchive] = useState(false);
  const [problem, setProblem] = useState("");
  const members = useSnapshot((s) => s.groups.find((g) => g.id === id)?.members ?? 0);
  const { mine } = useMembers({ id, members }, "mine");
  useEffect(() => {
    let shown = true;
    const look = () => chat.request("GET", `/v1/groups/${encodeURIComponent(id)}`).then((now) => shown && setGroup(now), (err) => shown && setProblem(problemOf(err)));
    void look();
    about().then((server) => shown && setArchive(server.features.includes("archive")), () => {});
    const end = followNotices(chat, id, (m) => (m.notice === "settings" || m.notice === "renamed") && void look());
    return () => {
      shown = false;
      end();
    };
  }, [id]);
  if (!group || !mine) return <Problem text={problem} />;
  const manages = managing(mine);
  return (
    <div class="stack settings">
      {!group.direct && !manages && <p class="hint">{say("Only the owner and admins change these.", "只有群主和管理员可以更改这些设置。")}</p>}
      {!group.direct && <Form key={JSON.stringify([group.name, group.visibility, group.join, group.post, group.slow_s, group.expire_s, group.receipts, group.pins, group.mention_all, group.history, group.keep, group.retain_days, group.overflow, group.backlog_max])} group={group} archive={archive} manages={manages} />}
      {group.direct && <p class="quiet">{say("A conversation of two has no settings: its two people stay, and so does what they wrote.", "两人会话没有设置：成员固定，消息保留。")}</p>}
      {!group.direct && <Danger group={group} owner={mine === "owner"} />}
    </div>
  );
}

function Form({ group, archive, manages }: { group: Wire.Group; archive: boolean; manages: boolean }) {
  const { chat, toast } = useSession();
  const [now, setNow] = useState<Values>(group);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const names: Setting[] = ["name", "visibility", "join", "post", "slow_s", "expire_s", "receipts", "pins", "mention_all", "history", "keep", "retain_days", "overflow", "backlog_max"];
  // What a private group says of join may be by its visibility, and go with it.
  const differs = (n: Setting) => now[n] !== group[n] || (n === "join" && now.visibility === "public" && group.visibility === "private");
  const change = Object.fromEntries(names.filter(differs).map((n) => [n, now[n]]));
  const changed = Object.keys(change).length > 0;
  const set = <K extends Setting>(name: K, value: Values[K]) => setNow({ ...now, [name]: value });
  async function submit(e: Event): Promise<void> {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await chat.group(group.id).update({ ...change, ...(typeof change.name === "string" && { name: change.name.trim() }) });
      toast(say("Settings saved.", "设置已保存。"));
    } catch (err) {
      setProblem(problemOf(err));
    }
    setBusy(false);
  }
  const days = now.retain_days;
  const kept = archive
    ? say(`All messages stay in the archive and can be searched; the newest ${now.keep.toLocaleString()} are also kept in memory, where they are read fastest.`,
      `所有消息都保存在归档中并可搜索；最新的 ${now.keep.toLocaleString()} 条同时保留在内存中，读取最快。`)
    : say(`This server keeps no archive: once everyone has read them, only the newest ${now.keep.toLocaleString()} messages stay. Older ones are gone for good.`,
      `此服务器没有归档：所有人都读过之后，只保留最新的 ${now.keep.toLocaleString()} 条消息，更早的会被永久删除。`);
  return (
    <form class="stack" name="settings" onSubmit={submit}>
      <fieldset class="stack plain" disabled={!manages}>
        <label class="field"><span>{say("Group name", "群组名称")}</span>
          <input name="group-name" maxlength={200} autocomplete="off" dir="auto" value={now.name} onInput={(e) => set("name", e.currentTarget.value)} /></label>
        <Choice name="post" legend={say("Who can write", "谁可以发言")} value={now.post} onValue={(v) => set("post", v)} options={[
          ["members", say("Everyone", "所有人"), say("Every member writes and reacts.", "所有成员都可以发言和回应。")],
          ["admins", say("Owner and admins", "群主和管理员"), say("Others read only, as in a channel for announcements.", "其他人只能阅读，适合发布公告。")],
          ["none", say("Nobody for now", "暂时无人"), say("The group is frozen: the owner and admins can’t write either. Everyone still reads.", "群组已冻结：群主和管理员也不能发言，所有人仍可阅读。")]]} />
        <label class="field"><span>{say("Slow mode", "慢速模式")}</span>
          <select name="slow_s" value={now.slow_s} onChange={(e) => set("slow_s", Number(e.currentTarget.value))}>
            {[...new Set([...SLOW_S, group.slow_s])].sort((a, b) => a - b).map((s) => <option key={s} value={s}>{s === 0 ? say("Off", "关闭") : say(`One message every ${lasting(s)}`, `每 ${lasting(s)}一条消息`)}</option>)}
          </select>
          <small>{say("How long a member waits between messages. The owner and admins don’t.", "成员两条消息之间须等待的时间，群主和管理员不受限制。")}</small></label>
        <label class="field"><span>{say("Disappearing messages", "限时消息")}</span>
          <select name="expire_s" value={now.expire_s} onChange={(e) => set("expire_s", Number(e.currentTarget.value))}>
            {[...new Set([...EXPIRE_S, group.expire_s])].sort((a, b) => a - b).map((s) => <option key={s} value={s}>{s === 0 ? say("Messages stay", "消息保留") : say(`Messages disappear after ${lasting(s)}`, `消息在 ${lasting(s)}后消失`)}</option>)}
          </select>
          <small>{say("They are deleted for everybody, with their files, from the archive too. It holds for what is written from then on.", "届时对所有人删除，包括文件和归档，仅适用于此后发送的消息。")}</small></label>
        <Choice name="receipts" legend={say("Who sees who has read a message", "谁能看到已读情况")} value={now.receipts} onValue={(v) => set("receipts", v)} options={[
          ["optional", say("Everyone, by name", "所有人，显示姓名"), say("Whoever hides it in their profile isn’t named, and sees no names.", "在个人资料中隐藏的人不会显示，也看不到他人。")],
          ["required", say("Everyone, without exception", "所有人，无例外"), say("Here nobody can hide what they have read.", "此群组中无人可以隐藏已读状态。")],
          ["counts", say("Numbers only", "仅显示人数"), say("Everyone sees how many have read a message, and nobody sees who.", "所有人可看到已读人数，但看不到是谁。")],
          ["off", say("Nobody", "无人"), say("Nobody sees who has read what, or how many.", "无人能看到已读情况或人数。")]]} />
        <Choice name="pins" legend={say("Who can pin messages", "谁可以置顶消息")} value={now.pins} onValue={(v) => set("pins", v)} options={[
          ["managers", say("Owner and admins", "群主和管理员"), say("Others see what is pinned.", "其他人可以查看置顶消息。")],
          ["members", say("Everyone who can write", "所有可发言的人"), say("Every member pins and unpins.", "所有成员都可以置顶和取消置顶。")]]} />
        <label class="field"><span>{say("Who can mention everyone with @all", "谁可以用 @all 提及全员")}</span>
          <select name="mention_all" value={now.mention_all} onChange={(e) => set("mention_all", e.currentTarget.value as "members")}>
            <option value="managers">{say("Owner and admins", "群主和管理员")}</option><option value="members">{say("Everyone, up to 1,000 members", "所有人（成员不超过 1,000 时）")}</option>
            <option value="off">{say("Nobody", "无人")}</option></select></label>
        <Choice name="visibility" legend={say("Who can join", "谁可以加入")} value={joiningOf(now)} onValue={(v) => setNow({ ...now, join: group.join, ...SETTINGS_OF[v] })} options={[
          ["private", say("Only who is invited", "仅受邀者"), say("People are added by the owner and admins, or come by an invite link.", "由群主和管理员添加，或通过邀请链接加入。")],
          ["public", say("Anyone on this server", "此服务器上的任何人"), say("The group is listed under public groups, and anyone can enter it.", "群组会列在公开群组中，任何人都可以加入。")],
          ["ask", say("Anyone who is let in", "申请并获准者"), say("The group is listed, and people ask to join. The owner and admins answer under “Members”.", "群组会公开列出，加入须经申请，由群主和管理员在“成员”中答复。")],
          ["closed", say("Listed, by invitation", "公开列出，仅限受邀"), say("The group is listed, and people come only when added or invited.", "群组会公开列出，但只能被添加或受邀加入。")]]} />
        <Choice name="history" legend={say("What new members see", "新成员可以看到什么")} value={String(now.history) as "true" | "false"} onValue={(v) => set("history", v === "true")} options={[
          ["true", say("What was said before", "以前的消息"), say("They can scroll back to the oldest message there is.", "可以向上翻看到最早的消息。")],
          ["false", say("Only what comes after they join", "仅加入之后的消息"), say("Earlier messages stay hidden from them, also in search.", "更早的消息对其隐藏，搜索也找不到。")]]} />
        <Amount name="keep" label={say("Messages to keep in memory", "内存中保留的消息数")} value={now.keep} min={0} max={100000} onValue={(v) => set("keep", v)} note={kept} />
        <Amount name="retain_days" label={say("Days until messages are removed", "消息保留天数")} value={days} min={0} max={36500} onValue={(v) => set("retain_days", v)}
          note={days === 0 ? say("0: messages are never removed for their age, unless the server has a limit of its own.", "0：消息不会因时间而删除，除非服务器另有限制。")
            : say(`Messages go ${days.toLocaleString()} ${days === 1 ? "day" : "days"} after they were sent, read or not, from the archive too.`, `消息在发送 ${days.toLocaleString()} 天后删除，无论是否已读，归档中也会删除。`)} />
        <Choice name="overflow" legend={say("When somebody is away for long", "有人长期离线时")} value={now.overflow} onValue={(v) => set("overflow", v)} options={[
          ["drop", say("Go on without them", "不再等待"), archive ? say(`Whoever is more than ${now.backlog_max.toLocaleString()} messages behind reads the rest from the archive.`, `落后超过 ${now.backlog_max.toLocaleString()} 条的成员从归档中读取其余消息。`)
            : say(`Whoever is more than ${now.backlog_max.toLocaleString()} messages behind may miss some, and is told so.`, `落后超过 ${now.backlog_max.toLocaleString()} 条的成员可能会错过一些消息，并会收到提示。`)],
          ["block", say("Wait for them", "等待对方"), say(`Nobody can write while somebody is more than ${now.backlog_max.toLocaleString()} messages behind. Nothing is ever missed.`, `只要有人落后超过 ${now.backlog_max.toLocaleString()} 条，任何人都不能发言，因此不会错过任何消息。`)]]} />
        <Amount name="backlog_max" label={say("How far behind is too far", "落后多少条算过多")} value={now.backlog_max} min={1} max={1000000} onValue={(v) => set("backlog_max", v)}
          note={say("In messages. Until then, nothing is removed that somebody has not received.", "以消息条数计。在此之前，不会删除任何人尚未收到的消息。")} />
      </fieldset>
      <Problem text={problem} />
      {manages && (
        <p class="buttons save-bar" data-changed={changed}>
          <button class="button primary" name="save" disabled={busy || !changed}>{say("Save changes", "保存更改")}</button>
          {changed && <button type="button" class="button" onClick={() => setNow(group)}>{say("Undo", "撤销")}</button>}
        </p>
      )}
    </form>
  );
}

function Choice<V extends string>({ name, legend, value, onValue, options }: { name: string; legend: string; value: V; onValue: (v: V) => void; options: readonly (readonly [V, string, string])[] }) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {options.map(([v, title, note]) => (
        <label key={v}><input type="radio" name={name} value={v} checked={v === value} onChange={() => onValue(v)} /><span><strong>{title}</strong><small>{note}</small></span></label>
      ))}
    </fieldset>
  );
}

const Amount = ({ name, label, value, min, max, onValue, note }: { name: string; label: string; value: number; min: number; max: number; onValue: (v: number) => void; note: ComponentChildren }) => (
  <label class="field"><span>{label}</span>
    <input type="number" name={name} required min={min} max={max} step={1} value={value} onInput={(e) => e.currentTarget.value !== "" && onValue(e.currentTarget.valueAsNumber)} />
    <small>{note}</small></label>
);

function Danger({ group, owner }: { group: Wire.Group; owner: boolean }) {
  const { chat } = useSession();
  const members = useSnapshot((s) => s.groups.find((g) => g.id === group.id)?.members ?? group.members);
  const [question, setQuestion] = useState<Question | null>(null);
  const title = group.name || group.id;
  const named = isolated(title);
  const home = () => {
    const here = route();
    if (here.view === "group" && here.group === group.id) go({ view: "home" }, "replace");
  };
  const leave: Question = {
    title: say(`Leave ${named}?`, `退出 ${named}？`), button: say("Leave group", "退出群组"), danger: true, run: () => chat.group(group.id).leave().then(home),
    text: members <= 1 ? say("You’re the last member, so the group and all its messages will be deleted.", "您是最后一位成员，群组及其所有消息将被删除。")
      : owner ? say("The longest-standing admin, or else member, becomes the owner. You can come back only if you are invited, or if the group is public.", "任期最长的管理员（或成员）将成为群主。之后只有受邀或群组公开时才能再次加入。")
        : say("You can come back only if you are invited, or if the group is public.", "之后只有受邀或群组公开时才能再次加入。"),
  };
  const remove: Question = {
    title: say(`Delete ${named}?`, `删除 ${named}？`), button: say("Delete group", "删除群组"), danger: true,
    text: say("The group, its messages and its files are gone for everybody, at once and for good.", "群组及其消息和文件将立即对所有人永久删除。"),
    typed: { label: say(`Type “${named}” to confirm`, `输入“${named}”以确认`), text: title },
    run: () => chat.request("DELETE", `/v1/groups/${encodeURIComponent(group.id)}`).then(home),
  };
  return (
    <section class="danger-zone">
      <h3>{say("Leave or delete", "退出或删除")}</h3>
      <p class="buttons">
        <button type="button" class="button" name="leave" onClick={() => setQuestion(leave)}>{leave.button}</button>
        {owner && <button type="button" class="button danger-text" name="delete" onClick={() => setQuestion(remove)}>{remove.button}</button>}
      </p>
      {question && <Confirm {...question} onClose={() => setQuestion(null)} />}
    </section>
  );
}
