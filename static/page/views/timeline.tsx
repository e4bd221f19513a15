/** The messages of a group. */
import type { GroupState } from "@chatd/client";
import { useTimeline } from "../hooks.ts";
import { say } from "../say.ts";
import type { About } from "./conversation.tsx";

export function Timeline({ group, at }: { group: GroupState; at?: number | undefined; onAbout: (about: About) => void }) {
  const [state] = useTimeline(group.id, at ?? "unread", 160);
  return (
    <div class="scroller">
      <ol class="messages" aria-label={say("Messages", "消息")}>
        {state.items.map((i) => i.type === "message" && <li key={i.key} class="message" data-key={i.key} data-id={i.id} data-from={i.from}><p class="body" dir="auto">{i.body}</p></li>)}
      </ol>
    </div>
  );
}
