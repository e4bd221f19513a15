/** A message of one's own that waits for a moderator, or that none let through: the server has no other answer to it any more. */
import type { MessageItem } from "@chatd/client";
import { say } from "../say.ts";
import { closed, useSession } from "../session.ts";

export function Waits({ item, tab }: { item: MessageItem; tab: number }) {
  const { chat, toast } = useSession();
  const { code, detail } = item.error!;
  const waits = code === "review";
  const text = waits ? say("Waits for a moderator.", "等待管理员审核。") : code === "dropped" ? say("Not sent: a moderator did not let it through.", "未发送：管理员未放行。")
    : say("Not sent: no moderator looked at it within a week.", "未发送：一周内没有管理员审核。");
  const copy = () => void navigator.clipboard.writeText(item.body ?? "").then(() => toast(say("Copied", "已复制")), () => {});
  return (
    <p class={waits ? "waits" : "failed"} role="status">
      {text}{!waits && detail && <bdi>{`“${detail}”`}</bdi>}
      <button type="button" class="text-button" tabIndex={tab} onClick={() => void chat.group(item.group).discard(item.client_id!).catch(closed)}>{waits ? say("Hide", "隐藏") : say("Discard", "放弃")}</button>
      {!waits && item.body && <button type="button" class="text-button" tabIndex={tab} onClick={copy}>{say("Copy", "复制")}</button>}
    </p>
  );
}
