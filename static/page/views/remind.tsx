/** Asks when to be reminded of a message: a scheduled message to oneself that names it. */
import type { MessageItem } from "@chatd/client";
import { useState } from "preact/hooks";
import { textOf, usePeople } from "../people.ts";
import { oneLine } from "../preview.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Dialog, Problem } from "../ui/parts.tsx";
import { fieldOf, reminders, whenText, zone } from "./when.ts";

export function RemindDialog({ item, onClose }: { item: MessageItem; onClose: () => void }) {
  const { chat, me, toast } = useSession();
  const people = usePeople();
  const [times] = useState(() => reminders(new Date()));
  const [own, setOwn] = useState(() => fieldOf(times[1]!.at));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  function remind(at: Date): void {
    if (!(at.getTime() > Date.now())) return setProblem(say("Choose a time that is still to come.", "请选择将来的时间。"));
    setBusy(true);
    setProblem("");
    const line = oneLine(item as Parameters<typeof oneLine>[0], people);
    const body = item.from === me || !item.from ? line : `${textOf(people, item.from)}: ${line}`;
    chat.schedules.create({ user: me, body, data: { type: "reminder", group: item.group, id: item.id }, at: at.toISOString() }).then(({ id }) => {
      onClose();
      const undo = () => void chat.schedules.cancel(id).catch((err) => toast(problemOf(err), { bad: true }));
      toast(say(`Reminder set for ${whenText(at)}`, `已设置提醒：${whenText(at)}`), { action: { label: say("Undo", "撤销"), run: undo } });
    }, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <Dialog title={say("Remind me of this message", "提醒我此消息")} onClose={onClose}>
      <div class="remind-times" role="group" aria-label={say("When", "时间")}>
        {times.map(({ name, at }, i) => <button key={name} type="button" class="button" autofocus={i === 0} disabled={busy} onClick={() => remind(at)}><span>{name}</span><small>{whenText(at)}</small></button>)}
      </div>
      <form class="when" name="remind" onSubmit={(e) => { e.preventDefault(); remind(new Date(own)); }}>
        <label class="field"><span>{say("Or at a time", "或指定时间")}</span>
          <input type="datetime-local" required value={own} onInput={(e) => setOwn(e.currentTarget.value)} /></label>
        <p class="quiet">{say(`Your zone: ${zone()}`, `您的时区：${zone()}`)}</p>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary" disabled={busy}>{say("Remind me", "提醒我")}</button></p>
      </form>
    </Dialog>
  );
}
