/** Ties what changes outside of the views to them. */
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { At, Chatd, GroupState, Snapshot, Timeline, TimelineState } from "@chatd/client";
import { useSession } from "./session.ts";

/** A value from outside; drawn again when it is another one. The value must be the same object until it changes. */
export function useSyncExternal<T>(subscribe: (fn: () => void) => () => void, now: () => T): T {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const value = now();
  const held = useRef({ value, now });
  held.current = { value, now };
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(held.current.value, held.current.now())) draw();
    };
    look(); // it may have changed since it was drawn
    return subscribe(look);
  }, [subscribe]);
  return value;
}

/** A part of what the client knows; drawn again when that part is another one. */
export function useSnapshot<T>(part: (snapshot: Snapshot) => T): T {
  const { chat } = useSession();
  return useSyncExternal(chat.subscribe, () => part(chat.snapshot()));
}

/** The groups, latest activity first: the same array until one of them changes. */
export function useGroups(): readonly GroupState[] {
  const held = useRef<readonly GroupState[]>([]);
  return useSnapshot(({ groups }) => {
    const was = held.current;
    if (groups.length !== was.length || groups.some((g, i) => g !== was[i])) held.current = groups;
    return held.current;
  });
}

/** Timers that are longer than this end at once. */
const TIMER_MAX_MS = 86_400_000;

/** A time as long as it is to come; undefined from then on. */
export function useComing(at: string | undefined): Date | undefined {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const left = at === undefined ? 0 : Date.parse(at) - Date.now();
  useEffect(() => {
    if (!(left > 0)) return;
    const timer = setTimeout(draw, Math.min(left, TIMER_MAX_MS));
    return () => clearTimeout(timer);
  });
  return left > 0 ? new Date(at!) : undefined;
}

const told = new WeakSet<Chatd>();

/** Whether the server has said once which groups there are; what was stored before is shown meanwhile. */
export function useKnown(): boolean {
  const { chat } = useSession();
  const [, draw] = useState(0);
  useEffect(() => {
    let shown = true;
    void chat.ready.then(() => {
      told.add(chat);
      if (shown) draw(1);
    });
    return () => { shown = false; };
  }, [chat]);
  return told.has(chat);
}

/** How many people have a group open, with this one, as the server says; 0: it has not said. */
export function useHere(group: string): number {
  const { chat } = useSession();
  const [count, set] = useState(0);
  useEffect(() => chat.on("here", (h) => h.group === group && set(h.count)), [group]);
  return count;
}

const opening: TimelineState = { items: [], before: "loading", after: "loading", unread: null, error: null };
const never = () => () => {};

/** A part of a group's log while this is shown. Give the view a key by what it opens: `at` counts when it is mounted. */
export function useTimeline(group: string, at: At, max: number): [TimelineState, Timeline | null] {
  const { chat } = useSession();
  const held = useRef<Timeline | null>(null);
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  useLayoutEffect(() => {
    const timeline = (held.current = chat.group(group).timeline({ at, max }));
    draw();
    return () => {
      held.current = null;
      timeline.close();
    };
  }, [chat, group]);
  const timeline = held.current;
  return [useSyncExternal(timeline?.subscribe ?? never, timeline?.snapshot ?? (() => opening)), timeline];
}

const narrow = matchMedia("(max-width: 720px)");
const onNarrow = (fn: () => void) => {
  narrow.addEventListener("change", fn);
  return () => narrow.removeEventListener("change", fn);
};

/** Whether there is room for one pane only, as shell.css has it. */
export const useNarrow = (): boolean => useSyncExternal(onNarrow, () => narrow.matches);

/** Runs at an event of the window or the document, while this is shown. */
export function useEvent<E extends Event>(target: EventTarget, name: string, fn: (event: E) => void): void {
  const latest = useRef(fn);
  latest.current = fn;
  useEffect(() => {
    const run = (e: Event) => latest.current(e as E);
    target.addEventListener(name, run);
    return () => target.removeEventListener(name, run);
  }, [target, name]);
}
