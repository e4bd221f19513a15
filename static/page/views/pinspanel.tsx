/** What is pinned in a group, the newest pin first. */
import type { GroupState, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { shortTime } from "../format.ts";
import { manages, useMembers } from "../members.ts";
import { oneLine } from "../preview.ts";
import { usePeople } from "../people.ts";
import { pathOf } from "../route.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Name, Problem } from "../ui/parts.tsx";

export function PinsPanel({ group }: { group: GroupState }) {
  const { chat } = useSession();
  const pins = chat.group(group.id).pins;
  const people = usePeople();
  const { mine } = useMembers(group, "mine");
  const may = manages(mine) || group.pins === "members";
  const [list, setList] = useState<readonly Wire.Pin[] | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let shown = true;
    const look = () => void pins.list().then((page) => shown && setList(page.pins), (err) => shown && setProblem(problemOf(err)));
    look();
    const end = chat.on("message", (m) => m.group === group.id && (m.kind === "edit" || m.kind === "delete" || m.notice === "pinned" || m.notice === "unpinned") && look());
    return () => {
      shown = false;
      end();
    };
  }, [group.id]);
  const unpin = (id: number) => void pins.delete(id).catch((err) => setProblem(problemOf(err)));
  return (
    <div data-pins={list?.length ?? ""}>
      <Problem text={problem} />
      {list?.length === 0 && <p class="quiet">{say("Nothing is pinned. Pin a message from its menu.", "暂无置顶消息，可在消息菜单中置顶。")}</p>}
      <ul class="rows">{list?.map(({ message: m }) => (
        <li key={m.id} data-pin={m.id}>
          <span class="grow">
            {m.from && <Name user={m.from} />} <a href={pathOf({ view: "group", group: group.id, id: m.id })}><small><time dateTime={m.sent_at}>{shortTime(m.sent_at)}</time></small></a>
            <small class="note" dir="auto">{m.deleted_at ? say("message deleted", "消息已删除") : oneLine(m, people)}</small>
          </span>
          {may && <button type="button" class="button" onClick={() => unpin(m.id)}>{say("Unpin", "取消置顶")}</button>}
        </li>
      ))}</ul>
    </div>
  );
}
