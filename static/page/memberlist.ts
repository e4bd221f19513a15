/** Who is in a group, loaded by pages and kept up by what the log says. */
import type { Chatd, Message, Wire } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "./session.ts";

export type Member = Pick<Wire.Member, "user" | "role">;
export type Role = Member["role"];
/** In the order of joining. complete: all of them; mine: one's own role, undefined until it is known. */
export type Members = { members: readonly Member[]; complete: boolean; mine: Role | undefined; error: unknown; more: () => void };

const PAGE = 500;
/** Members among whom one's own role is looked for without being asked to load more. */
const LOOK_MAX = 20_000;

export function useMembers(group: string): Members {
  const { chat, me } = useSession();
  const [state, setState] = useState<Omit<Members, "more">>({ members: [], complete: false, mine: undefined, error: null });
  const [loader, setLoader] = useState<{ more: () => void }>({ more: () => {} });
  useEffect(() => {
    const all = new Map<string, Member>();
    let cursor: string | null = "";
    let [loading, gone] = [false, false];
    function show(error: unknown = null): void {
      if (!gone) setState({ members: [...all.values()], complete: cursor === null, mine: all.get(me)?.role ?? (cursor === null ? "member" : undefined), error });
    }
    async function more(): Promise<void> {
      if (loading || gone || cursor === null) return;
      loading = true;
      try {
        do {
          const page: Wire.MemberPage = await chat.group(group).members({ limit: PAGE, ...(cursor && { cursor }) });
          for (const { user, role } of page.members) all.set(user, { user, role });
          cursor = page.next;
          show();
        } while (!gone && cursor !== null && !all.has(me) && all.size < LOOK_MAX);
      } catch (err) {
        show(err);
      }
      loading = false;
    }
    const end = followNotices(chat, group, (m) => {
      for (const user of m.users ?? (m.user ? [m.user] : [])) {
        if (m.notice === "left" || m.notice === "removed") all.delete(user);
        else if (m.notice === "joined") all.set(user, { user, role: (m.role as Role | undefined) ?? "member" });
        else if (m.notice === "role") setRole(all, user, m.role as Role);
      }
      show();
    });
    setLoader({ more: () => void more() });
    void more();
    return () => {
      gone = true;
      end();
    };
  }, [chat, group]);
  return { ...state, more: loader.more };
}

function setRole(all: Map<string, Member>, user: string, role: Role): void {
  if (role === "owner") for (const m of all.values()) if (m.role === "owner") all.set(m.user, { ...m, role: "admin" });
  all.set(user, { user, role });
}

/** Calls back for each notice of a group. */
export const followNotices = (chat: Chatd, group: string, fn: (m: Message) => void): (() => void) =>
  chat.on("message", (m) => m.group === group && m.kind === "notice" && fn(m));
