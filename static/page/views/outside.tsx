/** A group as somebody sees it who is not in it: whether they may join, may ask, or wait for the answer. */
import type { Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { setAsked, useAsked } from "../asked.ts";
import { useKnown } from "../hooks.ts";
import { isolated } from "../people.ts";
import { go, pathOf } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Dialog, Face, Problem } from "../ui/parts.tsx";

const NOTE_MAX = 500;

type Shown = Pick<Wire.Group, "id" | "name" | "join">;

/** Joins a public group, or asks to. */
export function Enter({ group, onProblem }: { group: Shown; onProblem: (text: string) => void }) {
  const { chat, me } = useSession();
  const asked = group.id in useAsked();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const title = group.name || group.id;
  function run(doing: Promise<unknown>, done: () => void): void {
    setBusy(true);
    onProblem("");
    doing.then(done, (err) => onProblem(problemOf(err))).finally(() => setBusy(false));
  }
  const join = () => run(chat.join(group.id), () => go({ view: "group", group: group.id }));
  // Who was answered meanwhile asks no longer either.
  const unask = () => run(chat.group(group.id).requests.delete().catch((err) => { if (err.code !== "not_found") throw err; }), () => setAsked(me, group.id, null));
  if (group.join === "closed") return <small class="quiet">{say("By invitation", "仅限受邀")}</small>;
  if (group.join === "open") return <button type="button" class="button primary" name="join" disabled={busy} aria-label={say(`Join ${title}`, `加入 ${title}`)} onClick={join}>{say("Join", "加入")}</button>;
  return (
    <>
      {asked ? <><small class="quiet" role="status">{say("Waiting for an answer", "等待答复")}</small>
          <button type="button" class="button" name="unask" disabled={busy} aria-label={say(`Withdraw the request to join ${title}`, `撤回加入 ${title} 的申请`)} onClick={unask}>{say("Withdraw", "撤回")}</button></>
        : <button type="button" class="button primary" name="ask" aria-label={say(`Ask to join ${title}`, `申请加入 ${title}`)} onClick={() => setAsking(true)}>{say("Ask to join", "申请加入")}</button>}
      {asking && <AskDialog group={group.id} title={title} onClose={() => setAsking(false)} />}
    </>
  );
}

function AskDialog({ group, title, onClose }: { group: string; title: string; onClose: () => void }) {
  const { chat, me } = useSession();
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    chat.group(group).requests.put({ ...(note.trim() && { note: note.trim() }) }).then(({ at }) => {
      setAsked(me, group, at);
      onClose();
    }, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <Dialog title={say(`Ask to join ${isolated(title)}`, `申请加入 ${isolated(title)}`)} onClose={onClose}>
      <form class="stack" name="ask" onSubmit={submit}>
        <label class="field"><span>{say("Message (optional)", "附言（可选）")}</span>
          <input name="note" maxlength={NOTE_MAX} autocomplete="off" dir="auto" data-focus value={note} onInput={(e) => setNote(e.currentTarget.value)} />
          <small>{say("The owner and admins see it. The answer comes to your inbox.", "群主和管理员可以看到。答复会发送到您的收件箱。")}</small></label>
        <Problem text={problem} />
        <p class="buttons">
          <button class="button primary" disabled={busy}>{say("Send request", "发送申请")}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button>
        </p>
      </form>
    </Dialog>
  );
}

/** The address names a group that the person is not in, or that is gone. left: they were in it a moment ago, and are not asked back. */
export function Outside({ group: id, left }: { group: string; left: boolean }) {
  const { chat } = useSession();
  const known = useKnown();
  const [found, setFound] = useState<Wire.Group | null | undefined>(left ? null : undefined);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let shown = true;
    setFound(left ? null : undefined);
    setProblem("");
    if (known && !left) chat.request("GET", `/v1/groups/${encodeURIComponent(id)}`).then((g) => shown && setFound(g), () => shown && setFound(null));
    return () => { shown = false; };
  }, [id, known, left]);
  if (found === undefined) return <div class="nothing" />;
  const title = found && (found.name || found.id);
  return (
    <div class="nothing">
      {found && <Face id={found.id} label={found.name || found.id} square />}
      <h1 dir="auto">{title ?? say("You’re not in this group", "您不在此群组中")}</h1>
      {found ? <p class="quiet">{counted(found.members, "member", "members", "名成员")} · {say("You’re not in this group", "您不在此群组中")}</p>
        : <p class="quiet">{say("There is no group", "没有群组")} <bdi>{id}</bdi> {say("among yours. It may be private, or gone.", "。它可能是私密的，或已被删除。")}</p>}
      <Problem text={problem} />
      <p class="buttons">{found && <Enter group={found} onProblem={setProblem} />}
        <a class="button" href={pathOf({ view: "browse" })}>{say("Browse public groups", "浏览公开群组")}</a></p>
    </div>
  );
}
