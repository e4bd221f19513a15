/** Slow mode, for whom it concerns: how long one waits between messages. What is written sooner is sent then. */
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { lastOwn } from "./sending.ts";
import { lasting } from "./when.ts";

export function Slow({ group, seconds }: { group: string; seconds: number }) {
  const { chat, me } = useSession();
  const [last, setLast] = useState(0);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    let here = true;
    const later = (at: number) => here && setLast((was) => Math.max(was, at));
    const end = chat.on("message", (m) => {
      if (m.group !== group || m.from !== me || (m.kind !== "text" && m.kind !== "data")) return;
      setNow(Date.now());
      later(Date.parse(m.sent_at));
    });
    void lastOwn(chat, group, me, (m) => m.kind !== "notice").then((m) => m && later(Date.parse(m.sent_at)));
    return () => {
      here = false;
      end();
    };
  }, [chat, group, me]);
  const wait = Math.ceil((last + seconds * 1000 - now) / 1000);
  useEffect(() => {
    if (wait <= 0) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [wait > 0]);
  return (
    <p class="write-note slow">
      {wait > 0 ? say(`Slow mode: your next message is sent in ${lasting(wait)}.`, `慢速模式：您的下一条消息将在 ${lasting(wait)}后发送。`)
        : say(`Slow mode: one message every ${lasting(seconds)}.`, `慢速模式：每 ${lasting(seconds)}可发一条消息。`)}
    </p>
  );
}
