/** Tells those who manage a group of a message. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Dialog, Problem } from "../ui/parts.tsx";

/** The reasons that are offered, as the server gets them. */
const REASONS = [
  ["spam", say("It is spam", "垃圾信息")], ["abuse", say("It is abusive or threatens somebody", "辱骂或威胁他人")],
  ["illegal", say("It is against the law", "违法内容")], ["other", say("Something else", "其他")],
] as const;
/** What a reason means; others than these come from other clients, and are shown as they are. */
export const reasonText = (reason: string): string => REASONS.find(([value]) => value === reason)?.[1] ?? reason;
const NOTE_MAX = 1000;

export function ReportDialog({ group, id, onClose }: { group: string; id: number; onClose: () => void }) {
  const { chat, toast } = useSession();
  const [reason, setReason] = useState<string>(REASONS[0][0]);
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    chat.group(group).reports.create(id, { reason, ...(note.trim() && { note: note.trim() }) }).then(() => {
      onClose();
      toast(say("Reported. Those who manage the group will look at it.", "已举报，群组管理者将会处理。"));
    }, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <Dialog title={say("Report this message?", "举报此消息？")} onClose={onClose}>
      <form class="stack" name="report" onSubmit={submit}>
        <p>{say("Those who manage the group see the message and that you report it. Its author does not.", "群组管理者会看到该消息及您的举报，作者不会知道。")}</p>
        <fieldset class="choice">
          <legend>{say("What is wrong with it", "原因")}</legend>
          {REASONS.map(([value, label]) => <label key={value}><input type="radio" name="reason" value={value} checked={value === reason} onChange={() => setReason(value)} /><span><strong>{label}</strong></span></label>)}
        </fieldset>
        <label class="field"><span>{say("More about it (optional)", "补充说明（可选）")}</span>
          <textarea name="note" dir="auto" rows={3} maxLength={NOTE_MAX} value={note} onInput={(e) => setNote(e.currentTarget.value)} /></label>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary" disabled={busy}>{say("Report", "举报")}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button></p>
      </form>
    </Dialog>
  );
}
