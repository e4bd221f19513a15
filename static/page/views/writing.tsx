/** Below a message that is being written piece by piece: a button that asks its author to stop. Below one that was cut: that it was. */
import "../whole.ts";
import { useState } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";

export function Writing({ item, mine, tab }: { item: MessageItem; mine: boolean; tab: number }) {
  const { chat, toast } = useSession();
  const [asked, setAsked] = useState(false);
  if (item.stream === "cut") return <p class="cut quiet">{say("Stopped before it was finished", "未写完即停止")}</p>;
  if (mine) return <p class="writing quiet"><span class="caret" aria-hidden="true" />{say("Being written…", "正在撰写…")}</p>;
  function stop(): void {
    setAsked(true);
    chat.group(item.group).stream.cancel(item.id).then(() => toast(say("Asked to stop", "已请求停止")), (err) => { setAsked(false); toast(problemOf(err), { bad: true }); });
  }
  return (
    <p class="writing quiet">
      <span class="caret" aria-hidden="true" />{say("Being written…", "正在撰写…")}{" "}
      <button type="button" class="text-button" name="stop-writing" tabIndex={tab} disabled={asked} onClick={stop}>{say("Stop", "停止")}</button>
    </p>
  );
}
