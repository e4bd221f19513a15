/** What is addressed to this person alone: mentions, being added, messages from the server. */
import { useState } from "preact/hooks";
import type { GroupState, InboxItem } from "@chatd/client";
import { fullTime, shortTime } from "../format.ts";
import { useGroups, useSnapshot } from "../hooks.ts";
import { finish, useOpenItems } from "../inbox.ts";
import { titleOf } from "../groups.ts";
import { textOf, usePeople, withLabels, type People } from "../people.ts";
import { reminderOf } from "../reminders.ts";
import { go, pathOf } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Back, Face, GroupFace, Icon, IconButton, Problem } from "../ui/parts.tsx";

export function Inbox() {
  const { chat } = useSession();
  const open = useOpenItems();
  const all = useSnapshot((s) => s.inbox);
  const [problem, setProblem] = useState("");
  const newest = all.items.at(-1)?.seq;
  const clear = () => newest !== undefined && chat.inbox.ack(newest).catch((err: Error) => setProblem(err.message));
  return (
    <>
      <header class="pane-head">
        <Back />
        <h1 class="pane-title">{say("Inbox", "收件箱")}</h1>
        {open.length > 0 && <button type="button" class="text-button" onClick={clear}>{say("Mark all as read", "全部标为已读")}</button>}
      </header>
      <div class="pane-body narrow">
        <Problem text={problem} />
        {!all.complete && <p class="quiet">{say("Some older items are no longer available.", "部分较早的内容已不可用。")}</p>}
        {open.length === 0 ? (
          <div class="nothing">
            <span class="round"><Icon name="check" /></span>
            <h2>{say("You’re all caught up", "全部已处理")}</h2>
            <p class="quiet">{say("Mentions and messages to you alone appear here until you have read them.", "提及您的消息和发给您的消息会显示在这里，直到您读过。")}</p>
          </div>
        ) : <Conversations items={open} />}
      </div>
    </>
  );
}

/** By conversation, that with the newest item first. */
function Conversations({ items }: { items: readonly InboxItem[] }) {
  const { me } = useSession();
  const people = usePeople();
  const groups = useGroups();
  const by = new Map<string, InboxItem[]>();
  for (const i of items.toReversed()) {
    const key = i.group ?? reminderOf(me, i.from, i.data)?.group ?? "";
    by.set(key, [...(by.get(key) ?? []), i]);
  }
  return (
    <ul class="inbox">
      {[...by].map(([key, of]) => {
        const group = groups.find((g) => g.id === key);
        return (
          <li key={key} class="inbox-group">
            <h2>{key ? <>{group ? <GroupFace group={group} title={titleOf(group, me, people)} /> : <Face id={key} label={key} square />}
              <bdi>{group ? titleOf(group, me, people) : key}</bdi></> : say("To you", "发给您")}</h2>
            <ul>{of.map((i) => <Item key={i.seq} item={i} group={group} people={people} />)}</ul>
          </li>
        );
      })}
    </ul>
  );
}

function Item({ item: i, group, people }: { item: InboxItem; group: GroupState | undefined; people: People }) {
  const { chat, me } = useSession();
  const from = textOf(people, i.from ?? "");
  const text = i.kind === "review" ? (i.data as Reviewed).reason : i.body && withLabels(i.body, people, [me]);
  const done = () => finish(chat, [i]);
  const reminder = reminderOf(me, i.from, i.data);
  const about = reminder?.id ?? i.id;
  const inside = <>
    {reminder ? <span class="item-mark"><Icon name="clock" /></span> : i.from ? <Avatar user={i.from} /> : <Face id={i.kind} label="chatd" square />}
    <span class="item-text">
      <span class="item-head"><strong>{reminder ? say("Reminder", "提醒") : headOf(i, from)}</strong><time dateTime={i.sent_at} title={fullTime(i.sent_at)}>{shortTime(i.sent_at)}</time></span>
      {text && <span class="item-body" dir="auto">{text}</span>}
    </span></>;
  return (
    <li class="item" data-seq={i.seq} data-kind={i.kind}>
      {group ? <a class="item-open" href={pathOf({ view: "group", group: group.id, ...(about && { id: about }) })} onClick={() => (i.kind === "added" || i.kind === "quorum" || reminder) && done()}>{inside}</a>
        : <div class="item-open">{inside}</div>}
      {i.kind === "direct" && i.from && i.from !== me && <IconButton icon="reply" label={say(`Write to ${from}`, `给 ${from} 发消息`)} onClick={() => { done(); go({ view: "direct", user: i.from! }); }} />}
      <IconButton icon="check" label={say("Done", "完成")} onClick={done} />
    </li>
  );
}

function headOf(i: InboxItem, from: string): string {
  switch (i.kind) {
    case "direct": return say(`${from} wrote to you`, `${from} 给您发了消息`);
    case "mention": return say(`${from} mentioned you`, `${from} 提到了您`);
    case "reply": return say(`${from} replied to you`, `${from} 回复了您`);
    case "added": return say(`${from} added you`, `${from} 将您加入了群组`);
    case "removed": return say(`${from} removed you`, `${from} 将您移出了群组`);
    case "request": return i.accepted ? say(`${from} let you in`, `${from} 通过了您的加入申请`) : say(`${from} declined your request to join`, `${from} 未通过您的加入申请`);
    case "announcement": return i.from ? say(`Announcement from ${from}`, `来自 ${from} 的公告`) : say("Announcement", "公告");
    case "review": return reviewText(i.data);
    case "quorum": return (i.data as Reviewed | null | undefined)?.state === "missed" ? say("Too few have read a message", "一条消息的阅读人数不足") : say(`${from} asks for a message to be read`, `${from} 要求您阅读一条消息`);
    case "schedule_failed": return say("A scheduled message could not be sent", "一条定时消息未能发送");
    default: return i.kind.replaceAll("_", " ");
  }
}

type Reviewed = { state?: "released" | "dropped" | "expired" | "missed"; reason?: string };

/** What became of a message that waited for a moderator. */
function reviewText(data: InboxItem["data"]): string {
  switch ((data as Reviewed).state) {
    case "released": return say("A moderator let your message through", "管理员已放行您的消息");
    case "dropped": return say("A moderator did not let your message through", "管理员未放行您的消息");
    default: return say("Your message was not sent: no moderator looked at it", "您的消息未发送：没有管理员审核");
  }
}

/** For where only their number has room. */
export const itemsText = (n: number): string => counted(n, "thing waits in your inbox", "things wait in your inbox", "项在收件箱中等待");
