/** The members of groups, asked for when somebody is to be mentioned. */
import type { Chatd, GroupState } from "@chatd/client";

export type Members = { readonly users: readonly string[]; readonly roles: ReadonlyMap<string, string>; /** false: there are more. */ readonly complete: boolean };

const PAGE = 100;
/** More are searched for by name, not loaded. */
const LOADED_MAX = 1000;

const known = new WeakMap<Chatd, Map<string, { count: number; members: Promise<Members> }>>();

/** The first 1,000 members of a group, in the order of joining. Asked for again when their number is another one. */
export function membersOf(chat: Chatd, group: Pick<GroupState, "id" | "members">): Promise<Members> {
  const groups = known.get(chat) ?? new Map<string, { count: number; members: Promise<Members> }>();
  known.set(chat, groups);
  const kept = groups.get(group.id);
  if (kept?.count === group.members) return kept.members;
  const members = load(chat, group.id);
  groups.set(group.id, { count: group.members, members });
  members.catch(() => groups.delete(group.id));
  return members;
}

async function load(chat: Chatd, group: string): Promise<Members> {
  const roles = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const page = await chat.group(group).members({ limit: PAGE, ...(cursor && { cursor }) });
    for (const m of page.members) roles.set(m.user, m.role);
    cursor = page.next ?? undefined;
  } while (cursor && roles.size < LOADED_MAX);
  return { users: [...roles.keys()], roles, complete: !cursor };
}
