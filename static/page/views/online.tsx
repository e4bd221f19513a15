/** Who of those one writes with is there. */
import { useState } from "preact/hooks";
import { peerOf } from "../groups.ts";
import { useGroups } from "../hooks.ts";
import { usePerson } from "../people.ts";
import { Dot, Peers, type Presence, type Theres } from "../presence.tsx";
import { pathOf } from "../route.ts";
import { counted } from "../say.ts";
import { useSession } from "../session.ts";
import { Avatar, Name } from "../ui/parts.tsx";

/** Of the groups that were active last: who is asked for, and who shows. */
const ASKED_MAX = 100;
const SHOWN_MAX = 12;

/** A section of the beginning: the others of direct conversations, and who wrote last in groups; who is online comes first. */
export function Online() {
  const { me } = useSession();
  const groups = useGroups();
  const [there, setThere] = useState<Theres>();
  const known = new Set(groups.flatMap((g) => peerOf(g, me) ?? g.last_message?.from ?? []));
  known.delete(me);
  known.delete("");
  const users = [...known].slice(0, ASKED_MAX);
  const shown = users.filter((user) => there?.has(user)).sort((a, b) => Number(there!.get(a)!.state === "away") - Number(there!.get(b)!.state === "away"));
  return (
    <>
      {users.length > 0 && <Peers users={users} onThere={setThere} />}
      {shown.length > 0 && (
        <section>
          <h2>{counted(shown.length, "person is here", "people are here", "人在线")}</h2>
          <ul class="home-card online">{shown.slice(0, SHOWN_MAX).map((user) => <One key={user} user={user} there={there!.get(user)!} />)}</ul>
        </section>
      )}
    </>
  );
}

function One({ user, there }: { user: string; there: Presence }) {
  const { status } = usePerson(user);
  return (
    <li data-user={user}>
      <a class="due" href={pathOf({ view: "direct", user })}>
        <span class="face-there"><Avatar user={user} /><Dot state={there.state} /></span>
        <span class="item-text"><Name user={user} />{status && <small class="group-last" dir="auto">{status}</small>}</span>
      </a>
    </li>
  );
}
