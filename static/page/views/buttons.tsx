/** The actions below a message of a program. What comes of a press is the program's to say. */
import "../whole.ts";
import { useState } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Confirm, problemOf } from "../ui/confirm.tsx";

type Action = NonNullable<MessageItem["actions"]>[number];

export function Buttons({ item, tab }: { item: MessageItem; tab: number }) {
  const { chat, toast } = useSession();
  const [busy, setBusy] = useState("");
  const [asked, setAsked] = useState<Action | null>(null);
  const act = async (a: Action): Promise<void> => {
    if (a.url) window.open(a.url, "_blank", "noopener");
    else await chat.group(item.group).actions.press(item.id, { id: a.id });
  };
  function press(a: Action): void {
    if (a.confirm) return setAsked(a);
    setBusy(a.id);
    act(a).then(() => { if (!a.url) toast(say("Sent", "已发送")); }, (err) => toast(problemOf(err), { bad: true })).finally(() => setBusy(""));
  }
  return (
    <div class="actions" role="group" aria-label={say("Buttons of this message", "此消息的按钮")}>
      {item.actions!.filter((a) => !a.url || /^https?:/i.test(a.url)).map((a) => (
        <button type="button" key={a.id} name={a.id} class={`button ${a.style ?? ""}`} tabIndex={tab} disabled={busy === a.id} title={a.url} dir="auto" onClick={() => press(a)}>
          {a.label}{a.url ? " ↗" : ""}
        </button>
      ))}
      {asked && <Confirm title={asked.label} text={asked.confirm!} button={asked.label} danger={asked.style === "danger"} run={() => act(asked)} onClose={() => setAsked(null)} />}
    </div>
  );
}
