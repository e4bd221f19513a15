/** The groups of which a person is not notified, as far as this browser has heard: their level is asked for group by group. */
import { useSyncExternal } from "./hooks.ts";
import { load, save, watch } from "./saved.ts";

/** By user and group: until when, ms; 0: for good. */
type Muted = Record<string, Record<string, number>>;
let muted: Muted = load("muted") ?? {};
const listeners = new Set<() => void>();

function take(next: Muted): void {
  muted = next;
  for (const fn of listeners) fn();
}
watch("muted", (next) => take(next ?? {}));

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** As it is now; nothing draws it again when the time is over. */
export const useMuted = (me: string, group: string): boolean => useSyncExternal(subscribe, () => {
  const until = muted[me]?.[group];
  return until === 0 || until! > Date.now();
});

/** Takes over the level of a group. */
export function mute(me: string, group: string, { level, until }: { level: string; until: string | null }): void {
  const { [group]: was, ...others } = muted[me] ?? {};
  const now = level === "none" ? Date.parse(until ?? "1970-01-01") : undefined;
  if (now === was) return;
  take({ ...muted, [me]: now === undefined ? others : { ...others, [group]: now } });
  save("muted", muted);
}

export function dropMuted(me: string): void {
  const { [me]: _, ...others } = muted;
  take(others);
  save("muted", muted);
}
