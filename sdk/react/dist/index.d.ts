/** Hooks of React over a client of chatd. All need a ChatdProvider above them. */
import type { At, Chatd, ConnectionState, Draft, GroupState, Sending, Timeline, TimelineState } from "@chatd/client";
import { type ReactNode } from "react";
/** Connects a client that was made outside of components while this is shown, and gives it to the hooks below. */
export declare function ChatdProvider({ chat, children }: {
    chat: Chatd;
    children?: ReactNode;
}): ReactNode;
/** The client, for everything that no hook does. */
export declare function useChatd(): Chatd;
/** Whether the client is connected, and when it tries again. */
export declare function useConnection(): ConnectionState;
/** The person's groups, latest activity first. */
export declare function useGroups(): readonly GroupState[];
/** How many messages are unread: in a group, or in all. */
export declare function useUnread(group?: string): number;
/** The other members who are typing in a group. */
export declare function useTyping(group: string): readonly string[];
/** Sends to a group: a text, or a draft. Resolves once the message is kept to be sent; it is in the timeline then. */
export declare function useSend(group: string): (message: string | Draft) => Promise<Sending>;
/** Says that the person has read a group up to a message, once the page is visible. undefined: nothing yet. */
export declare function useRead(group: string, id: number | undefined): void;
/**
 * A part of a group's log, which follows new messages at its end. It opens at options.at (the first unread message) when the
 * component is mounted and when the group changes; later on, jump.
 */
export declare function useTimeline(group: string, options?: {
    at?: At;
    max?: number;
}): TimelineState & Pick<Timeline, "loadBefore" | "loadAfter" | "loadGap" | "jump">;
