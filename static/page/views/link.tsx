/** Says that there is no connection, since when, and what waits for it. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { shortTime } from "../format.ts";
import { useEvent, useSnapshot } from "../hooks.ts";
import { load, save } from "../saved.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Icon } from "../ui/parts.tsx";

/** A connection that comes back sooner is not worth a word. */
const SILENT_MS = 700;

export function LinkState() {
  const { chat } = useSession();
  const connection = useSnapshot((s) => s.connection);
  const queued = useSnapshot((s) => s.queued);
  const [network, setNetwork] = useState(navigator.onLine);
  const [late, setLate] = useState(false);
  const since = useRef<string | null>(load("away")); // also over a reload
  useEvent(window, "online", () => setNetwork(true));
  useEvent(window, "offline", () => setNetwork(false));
  const live = connection.phase === "live";
  const there = live && network;
  if (there) since.current = null;
  useEffect(() => {
    if (!there) since.current ??= new Date().toISOString();
    save("away", since.current);
    if (there) return setLate(false);
    const timer = setTimeout(() => setLate(true), SILENT_MS);
    return () => clearTimeout(timer);
  }, [there]);
  return (
    <div class="link-state" role="status" data-phase={connection.phase} data-by={live ? connection.by : undefined} data-network={network ? undefined : "away"}>
      {!there && (late || !network) && (
        <div>
          <Icon name="cloud" />
          <span>
            <strong>{connection.phase === "connecting" && network ? say("Connecting…", "正在连接…") : say("You’re offline", "您已离线")}</strong>
            {since.current && ` ${say(`since ${shortTime(since.current)}`, `自 ${shortTime(since.current)} 起`)}`}
            {queued > 0 && ` · ${counted(queued, "message waits", "messages wait", "条消息等待发送")}`}
          </span>
          {connection.phase === "waiting" && <>
            <button type="button" class="text-button" onClick={() => chat.hurry()}>{say("Retry", "重试")}</button>
            <Countdown key={connection.retryAt} to={connection.retryAt} /></>}
        </div>
      )}
    </div>
  );
}

/** How long it is to the next attempt: a line that the browser moves, with no timer here. */
function Countdown({ to }: { to: number }) {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => { ref.current!.style.animationDuration = `${Math.max(0, to - Date.now())}ms`; }, [to]);
  return <i ref={ref} class="countdown" aria-hidden="true" />;
}
