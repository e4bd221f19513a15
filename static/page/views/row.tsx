/** One message. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { blockQuestion, useBlocked } from "../blocked.ts";
import { fullTime, shortTime, timeOf } from "../format.ts";
import { isFor } from "../mentions.ts";
import { plain } from "../markdown.ts";
import { listOf } from "../notices.ts";
import { useNames, usePerson } from "../people.ts";
import { useQuorum } from "../quorums.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import type { Question } from "../ui/confirm.tsx";
import { Files } from "../ui/files.tsx";
import { lazy } from "../ui/lazy.tsx";
import { memo } from "../ui/memo.ts";
import { Avatar, Icon, Name } from "../ui/parts.tsx";
import type { Asked } from "./asked.tsx";
import { Body } from "./body.tsx";
import { Tools, type Open } from "./tools.tsx";
import { Remaining } from "./remaining.tsx";

const Writing = lazy(() => import("./writing.tsx").then((m) => m.Writing));
const LinkCards = lazy(() => import("./linkcards.tsx").then((m) => m.LinkCards), () => null);
const Buttons = lazy(() => import("./buttons.tsx").then((m) => m.Buttons));
const QuorumLine = lazy(() => import("./there.tsx").then((m) => m.QuorumLine), () => null);
const Unsent = lazy(() => import("./places.tsx").then((m) => m.Unsent));

/** Whether a message is a copy of another one. */
const isForwarded = ({ body, data }: MessageItem): boolean => body !== undefined && (data as { type?: unknown } | undefined | null)?.type === "forward";

/** Readers shown as avatars; the rest is a number. */
const READERS_MAX = 5;

export type RowActions = {
  show(key: string, what: Open): void;
  reply(item: MessageItem): void;
  edit(item: MessageItem): void;
  react(item: MessageItem, emoji: string): void;
  remove(item: MessageItem): void;
  /** Takes a deletion back. */
  restore(item: MessageItem): void;
  /** Of a group's own messages: opens the thread, and marks as unread from there on. */
  thread?(item: MessageItem): void;
  unread?(item: MessageItem): void;
  jump(id: number): void;
  ask(what: Asked): void;
};

export type RowProps = {
  item: MessageItem;
  head: boolean;
  /** One's own, which the server has and nobody else has read. */
  unread?: boolean;
  /** Who read up to here, apart by spaces. */
  readers: string;
  /** Tab comes here, and to what is in it. */
  current: boolean;
  /** The toolbar is here. */
  active: boolean;
  open: Open;
  /** It is about to be deleted. */
  leaving: boolean;
  manages: boolean;
  /** There are replies to read in its thread, which the person follows. */
  unreadReplies?: boolean;
  on: RowActions;
  /** What it answers; undefined: it is no reply. quoteFrom is "" where that is not known. */
  quoteFrom?: string | undefined;
  quoteText?: string | undefined;
};

export const MessageRow = memo((props: RowProps) => {
  const { item, head, readers, current, active, open, on } = props;
  const { chat, me, features } = useSession();
  const { label, alike } = usePerson(item.from);
  const blocked = useBlocked().has(item.from);
  const asked = useQuorum(item.group, item.id);
  const [unfolded, unfold] = useState(false);
  const tab = current ? 0 : -1;
  const mine = item.from === me;
  const waits = item.state === "queued" || item.state === "sending";
  const pending = waits ? "waiting" : item.state === "failed" ? "failed" : undefined;
  const classes = ["message", mine && "mine", head && "head", !mine && isFor(item, me) && "for-me", pending && `is-${pending}`];
  const author = item.from ? label : say("Erased user", "已注销用户");
  const distinct = alike ? `${author} (${item.from})` : author;
  const time = timeOf(item.sent_at);
  if (props.leaving) {
    return (
      <li class="message leaving" data-key={item.key} data-id={item.id} data-from={item.from} tabIndex={tab} aria-label={say("Deleted message", "已删除的消息")}>
        <p class="ask" role="status">{say("Message deleted.", "消息已删除。")}
          <button type="button" class="text-button" tabIndex={tab} onClick={() => on.restore(item)}>{say("Undo", "撤销")}</button></p>
      </li>
    );
  }
  if (blocked && !unfolded) {
    return (
      <li class="message folded" data-key={item.key} data-id={item.id || undefined} data-from={item.from} tabIndex={tab} aria-label={say("Message of a blocked person", "已屏蔽的人的消息")}>
        <p class="quiet">{say("Blocked person", "已屏蔽的人")} ·{" "}
          <button type="button" class="text-button" name="show-blocked" tabIndex={tab} onClick={() => unfold(true)}>{say("Show", "显示")}</button></p>
      </li>
    );
  }
  const text = item.body === undefined ? "" : plain(item.body);
  return (
    <li class={classes.filter(Boolean).join(" ")} data-key={item.key} data-id={item.id || undefined} data-from={item.from} data-pending={pending} data-time={time}
      tabIndex={tab} aria-label={`${distinct}, ${time}: ${text || say("Attachment", "附件")}`}>
      {head && <span class="face"><Avatar user={item.from} /></span>}
      {head && (
        <p class="author">{item.from ? <Name user={item.from} /> : <bdi class="name">{author}</bdi>} <time dateTime={item.sent_at} title={fullTime(item.sent_at)}>{time}</time></p>
      )}
      {props.quoteText !== undefined && <Quote from={props.quoteFrom ?? ""} text={props.quoteText} tab={tab} onJump={() => on.jump(item.reply_to!)} />}
      {isForwarded(item) && <p class="forward-note"><Icon name="forward" />{say("Forwarded", "转发")}</p>}
      {item.files && <Files group={item.group} files={item.files} />}
      <Body item={item} me={me} tab={tab} />
      {item.id > 0 && !blocked && item.stream !== true && item.body?.includes("http") && features.includes("previews") && <LinkCards item={item} mine={mine} tab={tab} />}
      {item.stream && item.deleted_at === undefined && <Writing item={item} mine={mine} tab={tab} />}
      {(item.via || item.edited_at || item.expires_at || waits) && (
        <span class="meta">
          {item.via && <span title={say(`Written by a program, with the key ${item.via}`, `由程序以密钥 ${item.via} 发送`)}>{say("via key", "由程序发送")}</span>}
          {item.edited_at && <span title={fullTime(item.edited_at)}>{say("edited", "已编辑")}</span>}
          {item.expires_at && !item.deleted_at && <Remaining at={item.expires_at} />}
          {waits && <span class="waiting" role="img" aria-label={say("Not sent yet", "尚未发送")}><Icon name="clock" /></span>}
        </span>
      )}
      {item.reactions.size > 0 && (
        <div class="reactions" role="group" aria-label={say("Reactions", "回应")}>
          {[...item.reactions].map(([emoji, r]) => (
            <button type="button" key={emoji} class="reaction" tabIndex={tab} aria-pressed={r.mine} onClick={() => on.react(item, emoji)}
              aria-label={`${emoji}, ${counted(r.count, "reaction", "reactions", "个回应")}${r.mine ? say(", including yours", "，包括您的") : ""}`}>{`${emoji} ${r.count}`}</button>
          ))}
        </div>
      )}
      {on.thread && !!item.replies && <RepliesLine item={item} tab={tab} unread={!!props.unreadReplies} onOpen={() => on.thread!(item)} />}
      {item.actions && item.id > 0 && <Buttons item={item} tab={tab} />}
      {asked && !item.deleted_at && <QuorumLine item={item} tab={tab} may={mine || props.manages} />}
      {item.state === "failed" && <Unsent item={item} tab={tab} />}
      {open === "delete" && <Ask text={say("Delete this message for everyone?", "为所有人删除此消息？")} button={say("Delete", "删除")} onYes={() => on.remove(item)} onCancel={() => on.show(item.key, "")} />}
      {open === "block" && <Block question={blockQuestion(chat, item.from, distinct, !blocked)} onClose={() => on.show(item.key, "")} />}
      {props.unread && <span class="sent" role="img" aria-label={say("Sent", "已发送")} title={say("Sent", "已发送")}><Icon name="check" /></span>}
      {readers && <Readers users={readers.split(" ")} />}
      {active && item.state === "sent" && item.id > 0 && <Tools item={item} mine={mine} manages={props.manages} open={open} on={on} />}
    </li>
  );
});

/** Leads to the thread: how many replies there are, and since when. */
function RepliesLine({ item, tab, unread, onOpen }: { item: MessageItem; tab: number; unread: boolean; onOpen: () => void }) {
  return (
    <button type="button" class="replies" tabIndex={tab} data-replies={item.replies} onClick={onOpen}>
      <Icon name="thread" /><span>{counted(item.replies!, "reply", "replies", "条回复")}</span>
      {item.lastReplyAt && <small>{say(`last ${shortTime(item.lastReplyAt)}`, `最近 ${shortTime(item.lastReplyAt)}`)}</small>}
      {unread && <i class="dot" role="img" aria-label={say("Unread", "未读")} />}
    </button>
  );
}

/** One line of what a message answers. */
function Quote({ from, text, tab, onJump }: { from: string; text: string; tab: number; onJump: () => void }) {
  return (
    <button type="button" class="quote" tabIndex={tab} title={say("Go to this message", "转到此消息")} onClick={onJump}>
      <Icon name="reply" />{from && <Name user={from} />}<span dir="auto">{text}</span>
    </button>
  );
}

/** Whether to block its author, asked beneath a message. */
function Block({ question, onClose }: { question: Question; onClose: () => void }) {
  const { toast } = useSession();
  const run = () => void question.run().then(onClose, (err: Error) => toast(err.message, { bad: true }));
  return <Ask text={`${question.title} ${question.text}`} button={question.button} onYes={run} onCancel={onClose} />;
}

/** A question about a message, asked beneath it. */
function Ask({ text, button, onYes, onCancel }: { text: string; button: string; onYes: () => void; onCancel: () => void }) {
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => cancel.current?.focus(), []);
  return (
    <p class="ask" role="group">
      <span dir="auto">{text}</span>
      <button type="button" class="text-button danger" onClick={onYes}>{button}</button>
      <button ref={cancel} type="button" class="text-button" onClick={onCancel}>{say("Cancel", "取消")}</button>
    </p>
  );
}

function Readers({ users }: { users: string[] }) {
  const nameOf = useNames(users);
  const names = say(`Read by ${listOf(users.map(nameOf), 20)}`, `${listOf(users.map(nameOf), 20)} 已读`);
  return (
    <p class="readers" data-readers={users.join(" ")} title={names} aria-label={names} role="img">
      {users.slice(0, READERS_MAX).map((u) => <Avatar key={u} user={u} small />)}
      {users.length > READERS_MAX && `+${users.length - READERS_MAX}`}
    </p>
  );
}
