/** Hooks of React over a client of chatd. All need a ChatdProvider above them. */
import type { At, Chatd, ConnectionState, Draft, GapItem, GroupState, Sending, Snapshot, Timeline, TimelineState } from "@chatd/client";
import { type ReactNode, createContext, createElement, useCallback, useContext, useEffect, useState, useSyncExternalStore } from "react";

const Context = createContext<Chatd | null>(null);

/** Connects a client that was made outside of components while this is shown, and gives it to the hooks below. */
export function ChatdProvider({ chat, children }: { chat: Chatd; children?: ReactNode }): ReactNode {
  useEffect(() => {
    chat.connect();
    return () => void chat.close();
  }, [chat]);
  return createElement(Context.Provider, { value: chat }, children);
}

/** The client, for everything that no hook does. */
export function useChatd(): Chatd {
  const chat = useContext(Context);
  if (!chat) throw new Error("there is no ChatdProvider above this component");
  return chat;
}

/** A part of the snapshot; renders again when that part is another one. */
function useSnapshot<T>(part: (snapshot: Snapshot) => T): T {
  const chat = useChatd();
  const now = () => part(chat.snapshot());
  return useSyncExternalStore(chat.subscribe, now, now);
}

/** Whether the client is connected, and when it tries again. */
export function useConnection(): ConnectionState {
  return useSnapshot((s) => s.connection);
}

/** The person's groups, latest activity first. */
export function useGroups(): readonly GroupState[] {
  return useSnapshot((s) => s.groups);
}

/** How many messages are unread: in a group, or in all. */
export function useUnread(group?: string): number {
  return useSnapshot((s) => (group === undefined ? s.unread : find(s, group)?.unread ?? 0));
}

const nobody: readonly string[] = [];

/** The other members who are typing in a group. */
export function useTyping(group: string): readonly string[] {
  return useSnapshot((s) => find(s, group)?.typing ?? nobody);
}

function find(snapshot: Snapshot, group: string): GroupState | undefined {
  return snapshot.groups.find((g) => g.id === group);
}

/** Sends to a group: a text, or a draft. Resolves once the message is kept to be sent; it is in the timeline then. */
export function useSend(group: string): (message: string | Draft) => Promise<Sending> {
  const chat = useChatd();
  return useCallback((message) => chat.group(group).send(typeof message === "string" ? { body: message } : message), [chat, group]);
}

const onVisible = (fn: () => void) => {
  document.addEventListener("visibilitychange", fn);
  return () => document.removeEventListener("visibilitychange", fn);
};
const isVisible = () => document.visibilityState === "visible";

/** Says that the person has read a group up to a message, once the page is visible. undefined: nothing yet. */
export function useRead(group: string, id: number | undefined): void {
  const chat = useChatd();
  const visible = useSyncExternalStore(onVisible, isVisible, () => false);
  useEffect(() => {
    if (visible && id) chat.group(group).read(id).catch(() => {}); // the client is closed: it is said again when this is shown anew
  }, [chat, group, id, visible]);
}

const opening: TimelineState = { items: [], before: "loading", after: "loading", unread: null, error: null };
const ignore = () => () => {};
const whileOpening = () => opening;

/**
 * A part of a group's log, which follows new messages at its end. It opens at options.at (the first unread message) when the
 * component is mounted and when the group changes; later on, jump.
 */
export function useTimeline(group: string, options: { at?: At; max?: number } = {}): TimelineState & Pick<Timeline, "loadBefore" | "loadAfter" | "loadGap" | "jump"> {
  const chat = useChatd();
  const [opened, setOpened] = useState<Timeline | null>(null);
  useEffect(() => {
    const timeline = chat.group(group).timeline(options);
    setOpened(timeline);
    return () => timeline.close();
  }, [chat, group]);
  const timeline = opened?.group === group ? opened : null;
  const state = useSyncExternalStore(timeline?.subscribe ?? ignore, timeline?.snapshot ?? whileOpening, whileOpening);
  const loadBefore = useCallback(async () => timeline?.loadBefore(), [timeline]);
  const loadAfter = useCallback(async () => timeline?.loadAfter(), [timeline]);
  const loadGap = useCallback(async (gap: Pick<GapItem, "from" | "to">) => (await timeline?.loadGap(gap)) ?? false, [timeline]);
  const jump = useCallback(async (at: At) => timeline?.jump(at), [timeline]);
  return { ...state, loadBefore, loadAfter, loadGap, jump };
}
