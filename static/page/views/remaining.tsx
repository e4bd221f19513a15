/** How long a message is there yet, beside a clock. */
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";
import { Icon } from "../ui/parts.tsx";
import { lasting, whenText } from "./when.ts";

export function Remaining({ at }: { at: string }) {
  const end = new Date(at);
  const [seconds, setSeconds] = useState(() => Math.max(0, (end.getTime() - Date.now()) / 1000));
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.max(0, (end.getTime() - Date.now()) / 1000)), seconds < 120 ? 1000 : 30_000);
    return () => clearInterval(timer);
  }, [at, seconds < 120]);
  return <span class="expires" title={say(`Disappears ${whenText(end)}`, `${whenText(end)} 消失`)}><Icon name="clock" /> {lasting(Math.floor(seconds))}</span>;
}
