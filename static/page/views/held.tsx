/** Why a message waits although the connection stands: the group holds it until members who are far behind have caught up. */
import { useEffect, useState } from "preact/hooks";
import { useSnapshot } from "../hooks.ts";
import { listOf } from "../notices.ts";
import { useNames } from "../people.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";

/** Most messages are on their way for less. */
const HELD_MS = 2000;

/** Shown while a message waits. */
export function Held({ group }: { group: string }) {
  const { chat } = useSession();
  const waits = useSnapshot((s) => s.connection.phase === "live");
  const [behind, setBehind] = useState<readonly string[] | null>(null);
  const nameOf = useNames(behind ?? []);
  useEffect(() => {
    if (!waits) return;
    let here = true;
    const path = `/v1/groups/${encodeURIComponent(group)}`;
    async function look(): Promise<void> {
      if ((await chat.request("GET", path)).overflow !== "block") return;
      const users = await chat.request("GET", `${path}/blockers`).then((found) => found.blockers.map((b: { user: string }) => b.user), () => []); // only who manages it may know
      if (here) setBehind(users);
    }
    const timer = setTimeout(() => void look().catch(() => {}), HELD_MS);
    return () => {
      here = false;
      clearTimeout(timer);
      setBehind(null);
    };
  }, [chat, group, waits]);
  if (!behind) return null;
  const who = behind.length > 0 ? listOf(behind.map(nameOf)) : say("members who are far behind", "落后太多的成员");
  return <p class="write-note held" role="status">{say(`Waiting for ${who} to catch up. Your message is sent then.`, `正在等待 ${who} 跟上进度，之后会发送您的消息。`)}</p>;
}
