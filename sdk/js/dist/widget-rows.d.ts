/** The rows of a conversation: what a timeline holds, with days, the mark of what is new, and the runs of one author. */
import type { Group } from "./group.js";
import type { GapItem, MessageItem, TimelineState } from "./types.js";
import type { Language } from "./widget-words.js";
/** What rows are drawn with. */
export type Drawing = {
    me: string;
    group: Group;
    language: Language;
    direct: boolean;
    nameOf(user: string): string;
    /** Shows a message that is somewhere else. */
    jump(id: number): void;
    /** Asks for what a gap hides. false: there is none of it. */
    load(gap: GapItem): Promise<boolean>;
    /** Has a person write about a message. */
    write(about: "reply" | "edit", item: MessageItem): void;
};
/** A row as it is to be. A row of the same key is drawn anew where one of its parts is another. */
export type Row = {
    key: string; /** Of the message, 0: none. */
    id: number;
    parts: readonly unknown[];
    draw(): HTMLElement;
};
export declare function rowsOf({ items, unread }: TimelineState, d: Drawing): Row[];
