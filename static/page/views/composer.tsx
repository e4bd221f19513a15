/** The place to write. */
import { useState } from "preact/hooks";
import type { RefObject } from "preact";
import type { GroupState } from "@chatd/client";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Icon } from "../ui/parts.tsx";
import type { About } from "./conversation.tsx";

export function Composer({ group, title, input }: {
  group: GroupState; title: string; about: About; onAbout: (about: About) => void; input: RefObject<HTMLTextAreaElement | null>;
}) {
  const { chat, toast } = useSession();
  const [text, setText] = useState("");
  function submit(e: Event): void {
    e.preventDefault();
    if (!text.trim()) return;
    chat.group(group.id).send({ body: text }).then(() => setText(""), (err) => toast(err.message, { bad: true }));
  }
  return (
    <form class="write" onSubmit={submit}>
      <textarea ref={input} rows={1} dir="auto" value={text} aria-label={say(`Message to ${title}`, `发消息到 ${title}`)} onInput={(e) => { setText(e.currentTarget.value); chat.group(group.id).typing(); }}
        onKeyDown={(e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) submit(e); }} />
      <button class="icon-button" aria-label={say("Send", "发送")}><Icon name="send" /></button>
    </form>
  );
}
