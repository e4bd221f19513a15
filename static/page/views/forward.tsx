/** Sends a copy of a message, with its files, to another conversation. */
import type { FileInfo, MessageItem } from "@chatd/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePeople } from "../people.ts";
import { oneLine } from "../preview.ts";
import { go } from "../route.ts";
import { say } from "../say.ts";
import { entered, useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Dialog, Icon, Name, Problem } from "../ui/parts.tsx";
import { Chooser, useGroupChoices, usePeopleChoices } from "./chooser.tsx";

/** Where it goes; a person with whom there is no conversation yet has no group. */
type To = { title: string } & ({ group: string } | { user: string });

export function ForwardDialog({ item, onClose }: { item: MessageItem; onClose: () => void }) {
  const [text, setText] = useState("");
  const [to, setTo] = useState<To | null>(null);
  const groups = useGroupChoices(text, (g, title) => setTo({ group: g.id, title }), (g) => g.post !== "none" && !g.muted_until);
  const people = usePeopleChoices(text, (user, title) => setTo({ user, title }));
  return (
    <Dialog title={say("Forward message", "转发消息")} onClose={onClose}>
      {to ? <Sure item={item} to={to} onBack={() => setTo(null)} onClose={onClose} />
        : <Chooser label={say("Forward to", "转发给")} placeholder={say("Group or person", "群组或联系人")} text={text} onText={setText} choices={[...groups, ...people]} onPick={(choice) => choice.run()} />}
    </Dialog>
  );
}

/** What goes where, and a few words that go before it. */
function Sure({ item, to, onBack, onClose }: { item: MessageItem; to: To; onBack: () => void; onClose: () => void }) {
  const { chat, toast } = useSession();
  const people = usePeople();
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  /** The files by what they are called there: copies that a repeat after a failure takes again. */
  const files = useRef<FileInfo[]>([]);

  async function send(): Promise<string> {
    const group = "group" in to ? to.group : (await chat.direct(to.user)).id;
    await entered(chat, group);
    for (const file of (item.files ?? []).slice(files.current.length)) {
      const { id } = await chat.request("POST", `/v1/groups/${encodeURIComponent(group)}/files`, { from: { group: item.group, id: file.id } });
      files.current.push({ ...file, id });
    }
    if (note.trim()) await chat.group(group).send({ body: note.trim() });
    const { body, data } = item;
    await chat.group(group).send({
      ...(body !== undefined && { body, data: { type: "forward" } }), ...(body === undefined && data !== undefined && { data }), ...(files.current.length > 0 && { files: files.current }),
    });
    return group;
  }
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    send().then((group) => {
      onClose();
      toast(say(`Forwarded to ${to.title}`, `已转发给 ${to.title}`), group === item.group ? {} : { action: { label: say("Open", "打开"), run: () => go({ view: "group", group }) } });
    }, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <form class="stack" name="forward" onSubmit={submit}>
      <p class="forward-to"><span class="quiet">{say("To", "发送至")}</span> <bdi><strong>{to.title}</strong></bdi>{" "}
        <button type="button" class="text-button" onClick={onBack}>{say("Change", "更改")}</button></p>
      <blockquote class="forwarded">{item.from && <Name user={item.from} />}<span dir="auto">{oneLine(item as Parameters<typeof oneLine>[0], people)}</span>
        {item.body && item.files?.map((f) => <span key={f.id} class="quiet"><Icon name="file" /><bdi>{f.name}</bdi></span>)}</blockquote>
      <label class="field"><span>{say("Add a few words (optional)", "附言（可选）")}</span>
        <input ref={field} type="text" name="note" dir="auto" autocomplete="off" maxLength={1000} value={note} onInput={(e) => setNote(e.currentTarget.value)} /></label>
      <Problem text={problem} />
      <p class="buttons"><button class="button primary" disabled={busy}>{say("Forward", "转发")}</button>
        <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button></p>
    </form>
  );
}
