/** What stands in a conversation in which nothing was said yet: who is in it, what becomes of what one writes, and how to bring others in. */
import type { GroupState, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { peerOf } from "../groups.ts";
import { manages, useMembers } from "../members.ts";
import { listOf } from "../notices.ts";
import { useNames } from "../people.ts";
import { openPanel } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { about } from "../signin.ts";
import { Avatar, Icon } from "../ui/parts.tsx";
import { lasting } from "./when.ts";

const NAMES_MAX = 5;

export function Nothing({ group: g }: { group: GroupState }) {
  const { chat, me } = useSession();
  const { list, mine } = useMembers(g, "mine");
  const [kept, setKept] = useState<{ group: Wire.Group; archive: boolean } | null>(null);
  useEffect(() => {
    let shown = true;
    Promise.all([chat.request("GET", `/v1/groups/${encodeURIComponent(g.id)}`), about()])
      .then(([group, server]) => shown && setKept({ group, archive: server.features.includes("archive") }), () => {}); // it says less
    return () => { shown = false; };
  }, [g.id]);
  const others = list.filter((m) => m.user !== me).slice(0, NAMES_MAX).map((m) => m.user);
  const nameOf = useNames(others);
  const rest = g.members - 1 - others.length;
  const names = listOf([...others.map(nameOf), ...(rest > 0 ? [say(`${rest} more`, `另外 ${rest} 人`)] : [])], NAMES_MAX + 1);
  const direct = peerOf(g, me) !== undefined && !g.name;
  return (
    <div class="nothing-said" data-nothing>
      {others.length > 0 && <span class="faces" aria-hidden="true">{others.map((user) => <Avatar key={user} user={user} />)}</span>}
      {!direct && <p>{others.length > 0 ? say(`You and ${names} are in this group.`, `您和${names}在此群组中。`) : g.members <= 1 && say("You are the only one here.", "这里只有您一人。")}</p>}
      {kept && <p class="quiet">{historyText(kept.group, kept.archive)}</p>}
      {!direct && mine && (manages(mine)
        ? <p class="buttons"><button type="button" class="button" name="invite" onClick={() => openPanel("members")}><Icon name="people" />{say("Invite people", "邀请他人")}</button></p>
        : <p class="quiet">{say("The owner and admins bring others in.", "由群主和管理员邀请他人。")}</p>)}
    </div>
  );
}

/** What others see of what is written here, and for how long. */
export function historyText({ history, retain_days, expire_s, keep, direct }: Wire.Group, archive: boolean): string {
  const see = direct ? "" : history ? say("Who joins later sees what was said before.", "之后加入的人可以看到以前的消息。") : say("Who joins later sees only what comes after that.", "之后加入的人只能看到加入后的消息。");
  const stay = expire_s ? say(`Messages disappear after ${lasting(expire_s)}.`, `消息在 ${lasting(expire_s)}后消失。`)
    : retain_days ? say(`Messages are removed after ${retain_days.toLocaleString()} ${retain_days === 1 ? "day" : "days"}.`, `消息在 ${retain_days.toLocaleString()} 天后删除。`)
    : archive ? say("Messages are kept for ever.", "消息永久保留。")
    : say(`Once everyone has read them, the newest ${keep.toLocaleString()} messages are kept.`, `所有人读过之后，保留最新的 ${keep.toLocaleString()} 条消息。`);
  return see ? say(`${see} ${stay}`, `${see}${stay}`) : stay;
}
