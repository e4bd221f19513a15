/** Has a member be silent for a while. */
import type { Chatd } from "@chatd/client";
import { useState } from "preact/hooks";
import { useNames } from "../people.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Dialog, Problem } from "../ui/parts.tsx";
import { FOR_EVER, lasting } from "./when.ts";

/** Offered lengths, in seconds. */
const LENGTHS = [600, 3600, 86_400, 604_800];

export const unmute = (chat: Chatd, group: string, user: string): Promise<unknown> => chat.group(group).updateMember(user, { muted_until: null });

export function MuteDialog({ group, user, onClose }: { group: string; user: string; onClose: () => void }) {
  const { chat, toast } = useSession();
  const name = useNames([user])(user);
  const [seconds, setSeconds] = useState(LENGTHS[1]!);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    const muted_until = seconds > 0 ? new Date(Date.now() + seconds * 1000).toISOString() : FOR_EVER;
    chat.group(group).updateMember(user, { muted_until }).then(() => {
      onClose();
      toast(say(`${name} is muted.`, `已将 ${name} 禁言。`), { action: { label: say("Undo", "撤销"), run: () => void unmute(chat, group, user).catch((err) => toast(problemOf(err), { bad: true })) } });
    }, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  const options = [...LENGTHS.map((s) => [s, say(`For ${lasting(s)}`, `${lasting(s)}`)] as const), [0, say("Until I let them write again", "直到我解除")] as const];
  return (
    <Dialog title={say(`Mute ${name}?`, `将 ${name} 禁言？`)} onClose={onClose}>
      <form class="stack" name="mute" onSubmit={submit}>
        <p>{say("They go on reading, and can’t write, edit or react. Everybody in the group sees it.", "对方仍可阅读，但不能发言、编辑或回应。群组中的所有人都会看到。")}</p>
        <fieldset class="choice">
          <legend>{say("How long", "时长")}</legend>
          {options.map(([s, label]) => <label key={s}><input type="radio" name="length" value={s} checked={s === seconds} onChange={() => setSeconds(s)} /><span><strong>{label}</strong></span></label>)}
        </fieldset>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary" disabled={busy}>{say("Mute", "禁言")}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button></p>
      </form>
    </Dialog>
  );
}
