/** The groups that a person has put first in the list, on this browser. */
import { load, save, watch } from "./saved.ts";
import { useSyncExternal } from "./hooks.ts";

/** By user: whoever signs in next has others. */
type Starred = Record<string, readonly string[]>;
let starred: Starred = load("starred") ?? {};
const none: readonly string[] = [];
const listeners = new Set<() => void>();

function take(next: Starred): void {
  starred = next;
  for (const fn of listeners) fn();
}
watch("starred", (next) => take(next ?? {}));

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export const useStarred = (me: string): readonly string[] => useSyncExternal(subscribe, () => starred[me] ?? none);

export function star(me: string, group: string, on: boolean): void {
  const others = (starred[me] ?? none).filter((id) => id !== group);
  take({ ...starred, [me]: on ? [...others, group] : others });
  save("starred", starred);
}

export function dropStarred(me: string): void {
  const { [me]: _, ...others } = starred;
  take(others);
  save("starred", starred);
}
