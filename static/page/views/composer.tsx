/** The place to write. A key draws this again, and nothing else of the page. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Draft as Content } from "@chatd/client";
import { lineOf } from "../format.ts";
import { draftOf, inThread, onDraft, setDraft, targetOf } from "../drafts.ts";
import { useComing } from "../hooks.ts";
import { useMembers } from "../members.ts";
import { textOf, usePeople, withLabels } from "../people.ts";
import { prefs } from "../prefs.ts";
import { go, openPanel, useRoute } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { lazy } from "../ui/lazy.tsx";
import { memo } from "../ui/memo.ts";
import { Icon, IconButton } from "../ui/parts.tsx";
import { fileMax, useUploads } from "../uploads.ts";
import { useCompletion, useMentionable } from "./complete.tsx";
import type { About, Written } from "./conversation.tsx";
import { useDrop } from "./drop.ts";
import { addressed, lastOwn, strangersIn } from "./sending.ts";
import { asCode, asLink, asList, commandOf, inFence, insert, isAddress, unescaped, wrapped } from "./text.ts";
import { isForEver, whenText } from "./when.ts";
import { type Look, WriteTools } from "./writetools.tsx";

const Attached = lazy(() => import("./places.tsx").then((m) => m.Attached));
const Slow = lazy(() => import("./places.tsx").then((m) => m.Slow));
const Vanish = lazy(() => import("./places.tsx").then((m) => m.Vanish));
const WhenDialog = lazy(() => import("./places.tsx").then((m) => m.WhenDialog));

/** Bytes of a body as the server counts them, and from where on a person is told. */
const BODY_BYTES_MAX = 16 * 1024;
const BODY_BYTES_SHOWN = 14 * 1024;

type Props = {
  group: Written; title: string; about: About; onAbout: (about: About) => void; input: RefObject<HTMLTextAreaElement | null>;
  /** The root of the thread that it writes in. */
  thread?: number;
};

export const Composer = memo((props: Props) => {
  const { post, slow_s, muted_until } = props.group;
  const { mine } = useMembers(props.group, post === "admins" || slow_s ? "mine" : 1);
  const until = useComing(muted_until);
  if (until) return <Closed>{isForEver(muted_until!) ? say("You are muted in this group.", "您在此群组中已被禁言。") : say(`You are muted in this group until ${whenText(until)}.`, `您在此群组中已被禁言至 ${whenText(until)}。`)}</Closed>;
  if (post === "none") return <Closed>{say("This group is frozen: nobody can write for now.", "此群组已冻结，暂时无人可以发言。")}</Closed>;
  if (post === "admins" && mine === "member") return <Closed>{say("Only the owner and admins write in this group.", "只有群主和管理员可以在此群组发言。")}</Closed>;
  return (
    <>
      {!!slow_s && mine === "member" && <Slow group={props.group.id} seconds={slow_s} />}
      <Write {...props} />
    </>
  );
});

const Closed = ({ children }: { children: string }) => <p class="write-closed quiet" role="status">{children}</p>;

function Write({ group, title, about, onAbout, input, thread }: Props) {
  const draft = thread ? inThread(group.id, thread) : group.id; // by which name it is kept
  const covered = useRoute().view === "group" && !thread && document.querySelector('[data-panel="thread"]') !== null;
  const session = useSession();
  const { chat, me, toast } = session;
  const people = usePeople();
  const [text, setText] = useState(() => draftOf(me, draft)?.text ?? "");
  const [caret, setCaret] = useState(text.length);
  const [choosing, setChoosing] = useState<"when" | "vanish" | null>(null); // the time to send at, or to live
  const [max, setMax] = useState(0);
  const [uploads, store] = useUploads(draft);
  const members = useMentionable(group, text.includes("@"));
  const completion = useCompletion(input, text, caret, members, about?.kind !== "edit");
  const editing = about?.kind === "edit" ? about.item : null;
  const attaches = max > 0 && !editing;
  const bytes = text.length > BODY_BYTES_SHOWN / 3 ? new TextEncoder().encode(text).length : 0;
  const some = text.trim() !== "";
  const sendable = bytes <= BODY_BYTES_MAX && (editing ? some : uploads.every((u) => u.phase === "whole") && (some || uploads.length > 0));
  const strangers = members?.complete && text.includes("@") ? strangersIn(text, caret, people, members.all ? [...members.users, "all"] : members.users) : [];

  useEffect(() => {
    // A finger should not open the keyboard by opening a group. A thread is opened to reply.
    if (thread ? !matchMedia("(pointer: coarse)").matches : matchMedia("(pointer: fine)").matches) input.current?.focus();
    fileMax(chat, group.id).then(setMax, () => {});
  }, []);
  const restored = useRef(false);
  useLayoutEffect(() => {
    const reply = restored.current ? undefined : draftOf(me, draft)?.reply;
    restored.current = true;
    if (reply && !about) onAbout({ kind: "reply", item: reply });
    else if (!editing) setDraft(me, draft, { reply: about ? targetOf(about.item) : undefined });
  }, [about]);
  useLayoutEffect(() => {
    if (!editing) return;
    show(withLabels(editing.body ?? "", session.people.now(), [...(editing.mentions ?? [])]));
    return () => show(draftOf(me, draft)?.text ?? "");
  }, [editing?.id]);
  const leaving = useRef(0); // messages that this device does not have yet: their text is begun until then
  useEffect(() => onDraft((g, taken) => {
    if (!taken || g !== draft || editing || leaving.current) return;
    const { text: now = "", reply } = draftOf(me, g) ?? {};
    if (now !== input.current?.value) show(now);
    if (reply?.id !== about?.item.id) onAbout(reply ? { kind: "reply", item: reply } : null);
  }), [about]);
  useLayoutEffect(() => fit(input.current), [text]);

  function show(next: string): void {
    setText(next);
    setCaret(next.length);
  }
  function change(area: HTMLTextAreaElement): void {
    setText(area.value);
    setCaret(area.selectionStart);
    if (editing) return;
    setDraft(me, draft, { text: area.value });
    if (area.value && !thread) chat.group(group.id).typing();
  }
  function submit(time?: Date | number): void {
    if (!sendable) return;
    const deliverAt = time instanceof Date && time;
    const said = text.trim();
    const command = editing || time || thread ? null : commandOf(said);
    if (command) {
      show(command.rest);
      setDraft(me, draft, { text: command.rest });
      if (command.name === "invite") openPanel("members");
      else setChoosing("when");
      return;
    }
    const content: Content = said ? addressed(editing ? said : unescaped(said), session.people.now(), members) : {};
    input.current?.focus();
    if (editing) {
      const { body = "" } = content; // whom it mentions was settled when it was sent
      onAbout(null);
      chat.group(group.id).edit(editing.id, { body }).catch((err) => {
        onAbout({ kind: "edit", item: { ...editing, body } });
        toast(err.message, { bad: true });
      });
      return;
    }
    const begun = draftOf(me, draft);
    const files = store.take(draft);
    const message = { ...content, ...(thread && { thread }), ...(files.length > 0 && { files }), ...(about && { replyTo: about.item.id }), ...(time && !deliverAt && { expireS: time as number }) };
    setDraft(me, draft, { files }); // begun until this device has the message
    show("");
    onAbout(null);
    leaving.current++;
    (deliverAt ? chat.group(group.id).send({ ...message, deliverAt }) : chat.group(group.id).send(message)).finally(() => leaving.current--).then(() => {
      const now = draftOf(me, draft);
      setDraft(me, draft, { text: now && now.text !== begun?.text ? now.text : "", files: store.list(draft).flatMap((u) => u.info ?? []) });
      if (deliverAt) toast(say(`Will be sent ${whenText(deliverAt)}`, `将于 ${whenText(deliverAt)} 发送`), { action: { label: say("Scheduled", "定时消息"), run: () => go({ view: "scheduled" }) } });
    }, (err) => {
      const since = input.current?.value ?? "";
      const back = since ? `${said}\n${since}` : said;
      setDraft(me, draft, { text: back });
      store.restore(draft, files);
      show(back);
      onAbout(about);
      toast(err.message, { bad: true });
    });
  }
  function attach(list: Iterable<File>): void {
    const problem = store.attach(draft, list, max);
    if (problem) toast(problem, { bad: true });
    input.current?.focus();
  }
  function look(look: Look): void {
    const area = input.current;
    if (!area) return;
    const { value, selectionStart: from, selectionEnd: to } = area;
    const edit = { bold: () => wrapped(value, from, to, "**"), italic: () => wrapped(value, from, to, "_"), code: () => asCode(value, from, to), list: () => asList(value, from, to), link: () => asLink(value, from, to) }[look];
    insert(area, edit());
    setCaret(area.selectionStart);
  }
  function pick(emoji: string): void {
    const area = input.current;
    if (area) insert(area, { from: area.selectionStart, to: area.selectionEnd, text: emoji, select: [emoji.length, emoji.length] });
  }
  async function editLast(): Promise<void> {
    const item = await lastOwn(chat, group.id, me);
    if (item && input.current?.value === "") onAbout({ kind: "edit", item });
  }

  function onKeyDown(e: KeyboardEvent): void {
    if (e.isComposing || e.keyCode === 229 || completion.onKeyDown(e)) return;
    const ctrl = e.ctrlKey || e.metaKey;
    const shortcut = ctrl && !e.shiftKey && !e.altKey && ({ b: "bold", i: "italic", e: "code" } as const)[e.key.toLowerCase()];
    if (e.key === "Enter" && (ctrl || (prefs().enterSends && !e.shiftKey && !inFence(text, caret)))) submit();
    else if (e.key === "Escape" && about) onAbout(null);
    else if (e.key === "ArrowUp" && !e.altKey && text === "" && !about && !thread) void editLast();
    else if (shortcut) look(shortcut);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
  function onPaste(e: ClipboardEvent): void {
    const from = e.clipboardData;
    const area = input.current;
    if (!from || !area) return;
    const pasted = from.getData("text/plain").trim();
    if (attaches && from.files.length > 0 && !pasted) attach(from.files); // programs put a picture of a text beside the text
    else if (area.selectionStart < area.selectionEnd && isAddress(pasted) && !isAddress(area.value.slice(area.selectionStart, area.selectionEnd))) insert(area, asLink(area.value, area.selectionStart, area.selectionEnd, pasted));
    else return;
    e.preventDefault();
  }
  const over = useDrop(attaches && !covered, attach);
  const latest = useRef({ attach, look, pick, later: submit });
  latest.current = { attach, look, pick, later: submit };
  const [tools] = useState(() => ({
    onFiles: (files: FileList) => latest.current.attach(files), onLook: (l: Look) => latest.current.look(l), onEmoji: (emoji: string) => latest.current.pick(emoji),
    onLater: (at: Date | "when" | "vanish") => (at instanceof Date ? latest.current.later(at) : setChoosing(at)),
  }));
  const moved = () => setCaret(input.current?.selectionStart ?? 0);

  return (
    <>
    <form class="composer" data-over={over || undefined} onSubmit={(e) => { e.preventDefault(); submit(); }}>
      {completion.view}
      <div class="write" data-code={text.includes("```") || undefined}>
        {about && <AboutBar about={about} onCancel={() => onAbout(null)} />}
        {!editing && uploads.length > 0 && <Attached group={draft} uploads={uploads} store={store} />}
        <textarea ref={input} rows={1} dir="auto" value={text} enterkeyhint={prefs().enterSends ? "send" : "enter"} {...completion.described}
          aria-label={thread ? say("Reply in this thread", "在此消息列中回复") : say(`Message to ${title}`, `发消息到 ${title}`)} placeholder={thread ? say("Reply…", "回复…") : say("Write a message", "输入消息")}
          onInput={(e) => change(e.currentTarget)} onKeyDown={onKeyDown} onKeyUp={moved} onClick={moved} onPaste={onPaste} />
        <WriteTools attaches={attaches} editing={!!editing} sendable={sendable} delays={uploads.length === 0 && !thread} {...tools} />
      </div>
      {over && <p class="drop-here">{say("Drop files to attach them", "松开以添加文件")}</p>}
      {strangers.length > 0 && <p class="write-note" role="status">{say(`Not a member: ${strangers.map((w) => `@${w}`).join(", ")}`, `不是群成员：${strangers.map((w) => `@${w}`).join("、")}`)}</p>}
      {bytes > BODY_BYTES_MAX ? <p class="write-note bad" role="alert">{say(`Too long by ${bytes - BODY_BYTES_MAX} bytes. The limit is 16 KB.`, `超出 ${bytes - BODY_BYTES_MAX} 字节，上限为 16 KB。`)}</p>
        : bytes >= BODY_BYTES_SHOWN && <p class="write-note">{say(`${BODY_BYTES_MAX - bytes} bytes left`, `还可输入 ${BODY_BYTES_MAX - bytes} 字节`)}</p>}
    </form>
      {choosing === "when" && <WhenDialog title={say("Send later", "稍后发送")} onClose={() => setChoosing(null)} onPick={(at) => { setChoosing(null); submit(at); }} />}
      {choosing === "vanish" && <Vanish onClose={() => setChoosing(null)} onPick={(s) => { setChoosing(null); submit(s); }} />}
    </>
  );
}

/** What the message answers, or that one is being changed. */
function AboutBar({ about, onCancel }: { about: About & object; onCancel: () => void }) {
  const people = usePeople();
  const editing = about.kind === "edit";
  return (
    <div class="about">
      <Icon name={editing ? "pencil" : "reply"} />
      <p><strong>{editing ? say("Editing message", "编辑消息") : say(`Replying to ${textOf(people, about.item.from)}`, `回复 ${textOf(people, about.item.from)}`)}</strong>
        <span dir="auto">{editing ? say("Esc to cancel", "按 Esc 取消") : withLabels(lineOf(about.item as Parameters<typeof lineOf>[0]), people, [...(about.item.mentions ?? [])])}</span></p>
      <IconButton icon="close" label={editing ? say("Cancel editing", "取消编辑") : say("Cancel reply", "取消回复")} onClick={onCancel} />
    </div>
  );
}

const sizesItself = CSS.supports("field-sizing", "content");
/** The field is as high as its text, up to what its style says. */
function fit(area: HTMLTextAreaElement | null): void {
  if (!area || sizesItself) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
