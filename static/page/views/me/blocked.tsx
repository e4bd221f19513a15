/** Whom a person blocks. */
import { useState } from "preact/hooks";
import { block, useBlocked } from "../../blocked.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";
import { problemOf } from "../../ui/confirm.tsx";
import { Avatar, Name, Problem } from "../../ui/parts.tsx";

export function Blocked() {
  const { chat } = useSession();
  const blocked = useBlocked();
  const [problem, setProblem] = useState("");
  const end = (user: string) => {
    setProblem("");
    block(chat, user, false).catch((err) => setProblem(problemOf(err)));
  };
  return (
    <section>
      <h2>{say("Blocked people", "已屏蔽的人")}</h2>
      <Problem text={problem} />
      {blocked.size === 0
        ? <p class="quiet">{say("Nobody. You block somebody in the menu of a message or of a member.", "没有。您可以在消息或成员的菜单中屏蔽某人。")}</p>
        : (
          <ul class="rows" data-list="blocked">
            {[...blocked].map((user) => (
              <li key={user} data-user={user}>
                <Avatar user={user} /><span class="grow person"><Name user={user} /></span>
                <button type="button" class="button" onClick={() => end(user)}>{say("Unblock", "取消屏蔽")}</button>
              </li>
            ))}
          </ul>
        )}
    </section>
  );
}
