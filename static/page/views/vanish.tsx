/** Asks after what time a message is to disappear. */
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Dialog } from "../ui/parts.tsx";

const HOUR_S = 3600;

export function Vanish({ onPick, onClose }: { onPick: (seconds: number) => void; onClose: () => void }) {
  const { toast } = useSession();
  function pick(name: string, seconds: number): void {
    onPick(seconds);
    toast(say(`Deleted for everyone in ${name}`, `${name}后对所有人删除`));
  }
  const lives: [string, number][] = [[say("1 hour", "1 小时"), HOUR_S], [say("1 day", "1 天"), 24 * HOUR_S], [say("1 week", "1 周"), 7 * 24 * HOUR_S]];
  return (
    <Dialog title={say("Disappearing message", "限时消息")} onClose={onClose}>
      <p class="quiet">{say("It is sent now, and deleted for everyone after:", "消息会立即发送，并在以下时间后对所有人删除：")}</p>
      <p class="buttons">{lives.map(([name, seconds]) => <button key={seconds} type="button" class="button" onClick={() => pick(name, seconds)}>{name}</button>)}</p>
    </Dialog>
  );
}
