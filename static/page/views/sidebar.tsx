/** The list of groups. */
import { memo } from "../ui/memo.ts";
import type { GroupState } from "@chatd/client";
import { shortTime } from "../../js/format.js";
import { useSnapshot } from "../hooks.ts";
import { groupPath, pathOf } from "../route.ts";
import { useSession } from "../session.ts";
import { usePeople } from "../people.ts";
import { titleOf } from "../groups.ts";
import { counted, say } from "../say.ts";
import { GroupFace, Icon } from "../ui/parts.tsx";

export function Sidebar({ open }: { open: string }) {
  const groups = useSnapshot((s) => s.groups);
  return (
    <aside class="side" aria-label={say("Groups", "群组")}>
      <header class="panel-head">
        <h2>{say("Groups", "群组")}</h2>
        <a class="icon-button" href={pathOf({ view: "browse" })} aria-label={say("Browse public groups", "浏览公开群组")}><Icon name="compass" /></a>
        <a class="icon-button" href={pathOf({ view: "new" })} aria-label={say("Create group", "新建群组")}><Icon name="plus" /></a>
      </header>
      <nav class="groups" aria-label={say("Your groups", "您的群组")}>
        <ul>{groups.map((g) => <li key={g.id}><GroupLink group={g} current={g.id === open} /></li>)}</ul>
      </nav>
    </aside>
  );
}

const GroupLink = memo(({ group: g, current }: { group: GroupState; current: boolean }) => {
  const { me } = useSession();
  const title = titleOf(g, me, usePeople());
  const at = g.last_message?.sent_at ?? g.created_at;
  return (
    <a class="group-link" href={groupPath(g.id)} data-group={g.id} aria-current={current ? "page" : undefined}>
      <GroupFace group={g} title={title} />
      <span class="group-name" dir="auto">{title}</span>
      <time class="group-time" dateTime={at}>{shortTime(at)}</time>
      {g.mentions_unread > 0 && <span class="badge at" aria-label={counted(g.mentions_unread, "unread mention", "unread mentions", "条未读提及")}>@</span>}
      {g.unread > 0 && <span class="badge" data-unread={g.unread} aria-label={counted(g.unread, "unread message", "unread messages", "条未读消息")}>{g.unread > 999 ? "999+" : g.unread}</span>}
    </a>
  );
});
