/** Asks for a time to come, in the zone of the person. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { Dialog, Problem } from "../ui/parts.tsx";
import { fieldOf, suggestions, zone } from "./when.ts";

export function WhenDialog({ title, at, onPick, onClose }: { title: string; at?: Date | undefined; onPick: (at: Date) => void; onClose: () => void }) {
  const [value, setValue] = useState(() => fieldOf(at ?? suggestions(new Date())[0]!.at));
  const [problem, setProblem] = useState("");
  function submit(e: Event): void {
    e.preventDefault();
    e.stopPropagation(); // it may stand in another form
    const chosen = new Date(value);
    if (!(chosen.getTime() > Date.now())) setProblem(say("Choose a time that is still to come.", "请选择将来的时间。"));
    else onPick(chosen);
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="when" onSubmit={submit}>
        <label class="field"><span>{say("Time", "时间")}</span>
          <input type="datetime-local" required value={value} onInput={(e) => setValue(e.currentTarget.value)} /></label>
        <p class="quiet">{say(`Your zone: ${zone()}`, `您的时区：${zone()}`)}</p>
        <Problem text={problem} />
        <p class="buttons"><button class="button primary">{say("Schedule", "定时发送")}</button></p>
      </form>
    </Dialog>
  );
}
