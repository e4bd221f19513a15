/** Below a message of one's own that the server refused, or that waits for a moderator. */
import type { MessageItem } from "@chatd/client";
import { say } from "../say.ts";
import { closed, useSession } from "../session.ts";

/** Why a message was refused. The server writes its reasons for logs too: in lower case and without a full stop. */
function why(error: MessageItem["error"]): string {
  const { code = "", detail = "" } = error ?? {};
  switch (code) {
    case "muted": return say("You are muted in this group.", "您在此群组中已被禁言。");
    case "blocked": return say("They don’t take messages from you.", "对方不接收您的消息。");
    case "forbidden": return say("You may not write here.", "您无权在此发言。");
    case "not_found": return say("You’re no longer in this group.", "您已不在此群组中。");
    case "too_large": return say("It is too long.", "内容过长。");
    default: return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}${/[.!?…]$/.test(detail) ? "" : "."}`;
  }
}

/** What a moderator decides, to which a retry has the same answer. */
function reviewed({ code, detail }: NonNullable<MessageItem["error"]>): [text: string, reason: string] | null {
  switch (code) {
    case "review": return [say("Waits for a moderator.", "等待管理员审核。"), ""];
    case "dropped": return [say("Not sent: a moderator did not let it through.", "未发送：管理员未放行。"), detail];
    case "expired": return [say("Not sent: no moderator looked at it within a week.", "未发送：一周内没有管理员审核。"), ""];
    default: return null;
  }
}

export function Unsent({ item, tab }: { item: MessageItem; tab: number }) {
  const { chat, toast } = useSession();
  const group = chat.group(item.group);
  const waits = item.error?.code === "review";
  const decided = item.error ? reviewed(item.error) : null;
  const [text, reason] = decided ?? [say("Not sent.", "未发送。"), ""];
  const copy = () => void navigator.clipboard.writeText(item.body ?? "").then(() => toast(say("Copied", "已复制")), () => {});
  const button = (label: string, run: () => void) => <button type="button" class="text-button" tabIndex={tab} onClick={run}>{label}</button>;
  return (
    <p class={waits ? "waits" : "failed"} role={waits ? "status" : "alert"}>
      {text} {decided ? reason && <bdi>{`“${reason}”`}</bdi> : <span dir="auto">{why(item.error)}</span>}
      {!decided && button(say("Retry", "重试"), () => void group.retry(item.client_id!).catch(closed))}
      {button(waits ? say("Hide", "隐藏") : say("Discard", "放弃"), () => void group.discard(item.client_id!).catch(closed))}
      {!waits && item.body && button(say("Copy", "复制"), copy)}
    </p>
  );
}
