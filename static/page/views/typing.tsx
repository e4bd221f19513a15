/** Who is typing. */
import { useBlocked } from "../blocked.ts";
import { listOf } from "../notices.ts";
import { useSnapshot } from "../hooks.ts";
import { useNames } from "../people.ts";
import { say } from "../say.ts";

const nobody: readonly string[] = [];

export function Typing({ group }: { group: string }) {
  const blocked = useBlocked();
  const typing = useSnapshot((s) => s.groups.find((g) => g.id === group)?.typing ?? nobody);
  const users = typing.filter((u) => !blocked.has(u));
  const nameOf = useNames(users);
  return (
    <p class="typing" role="status">
      {users.length > 0 && <><span class="dots" aria-hidden="true"><i /><i /><i /></span>
        {say(`${listOf(users.map(nameOf))} ${users.length === 1 ? "is" : "are"} typing…`, `${users.map(nameOf).join("、")} 正在输入…`)}</>}
    </p>
  );
}
