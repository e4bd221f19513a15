/** How far the members of a small group have read, and what this person may do in it. */
import { useEffect, useState } from "preact/hooks";
import type { GroupState, Wire } from "@chatd/client";
import { useSnapshot } from "./hooks.ts";
import { useSession } from "./session.ts";

/** The server tells of the positions of others in groups up to this size. */
const SMALL = 100;
const PAGE = 100;

export type Reads = { /** Positions by member; empty in large groups. */ reads: ReadonlyMap<string, number>; /** May delete what others wrote. */ manages: boolean };
const unknown: Reads = { reads: new Map(), manages: false };

/** Asked for with each other number of members, and with each new connection, since they may have moved unseen; kept up to date meanwhile. */
export function useReads(group: GroupState): Reads {
  const { chat, me } = useSession();
  const [known, setKnown] = useState(unknown);
  const by = useSnapshot((s) => (s.connection.phase === "live" ? s.connection.by : ""));
  useEffect(() => {
    if (!by) return;
    let shown = true;
    const moved = new Map<string, number>(); // while the answer was on its way
    const stop = chat.on("cursor", (c) => {
      if (c.group !== group.id) return;
      moved.set(c.user, c.read);
      setKnown((k) => (k.reads.has(c.user) && k.reads.get(c.user) !== c.read ? { ...k, reads: new Map(k.reads).set(c.user, c.read) } : k));
    });
    void (async () => {
      const reads = new Map<string, number>();
      let role = "";
      let cursor: string | null = "";
      while (cursor !== null && shown) {
        const page: Wire.MemberPage = await chat.group(group.id).members({ limit: PAGE, ...(cursor && { cursor }) });
        for (const m of page.members) {
          if (group.members <= SMALL) reads.set(m.user, moved.get(m.user) ?? m.read);
          if (m.user === me) role = m.role;
        }
        cursor = role && group.members > SMALL ? null : page.next;
      }
      if (shown) setKnown({ reads, manages: role === "owner" || role === "admin" });
    })().catch(() => {}); // offline, or not a member any more: there are no readers to show
    return () => {
      shown = false;
      stop();
    };
  }, [chat, group.id, group.members, by]);
  return known;
}
