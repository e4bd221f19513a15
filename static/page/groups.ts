/** What views say about groups. */
import type { GroupState } from "@chatd/client";
import { type People, labelOf } from "./people.ts";

/** The other person of a direct group; undefined: it is none. */
export const peerOf = (g: Pick<GroupState, "direct">, me: string): string | undefined => g.direct?.find((user) => user !== me) ?? (g.direct && me);

/** How a group is called. */
export function titleOf(g: Pick<GroupState, "id" | "name" | "direct">, me: string, people: People): string {
  const peer = peerOf(g, me);
  return g.name || (peer ? labelOf(people, peer) : g.id);
}
