/** Says that there is no connection, since when, and what waits for it. */
import { useSnapshot } from "../hooks.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Icon } from "../ui/parts.tsx";

export function LinkState() {
  const { chat } = useSession();
  const connection = useSnapshot((s) => s.connection);
  const queued = useSnapshot((s) => s.queued);
  const by = connection.phase === "live" ? connection.by : undefined;
  return (
    <div class="link-state" role="status" data-phase={connection.phase} data-by={by}>
      {connection.phase !== "live" && (
        <div>
          <Icon name="clock" />
          <span>
            {connection.phase === "connecting" ? say("Connecting…", "正在连接…") : say("You’re offline.", "您已离线。")}
            {queued > 0 && ` ${counted(queued, "message waits", "messages wait", "条消息等待发送")}`}
          </span>
          {connection.phase === "waiting" && <button type="button" class="text-button" onClick={() => chat.hurry()}>{say("Reconnect", "重新连接")}</button>}
        </div>
      )}
    </div>
  );
}
