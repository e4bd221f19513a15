/**
 * What a client holds of a group's log. Pure functions: each returns a new log and leaves its argument alone.
 *
 * A message is changed only by later entries of the same log (edit, delete, reaction). A page is read at some later point,
 * so its messages already contain the changes up to the `last` of that page. Each message remembers that point as `at`,
 * and a change applies only when it is newer: so nothing is counted twice, in whatever order pages and live entries come.
 */
import type { FileInfo, Json, LinkPreview, Message, Reaction } from "./types.js";
/** Ids from..to, both of them within. */
export type Range = [from: number, to: number];
/** A line of a log as it is stored. */
export type Entry = Omit<Message, "target" | "emoji" | "removed"> & {
    readonly at: number;
    readonly reactions?: [emoji: string, Reaction][];
};
export type Log = {
    readonly epoch: string;
    /** Up to here everything came live; -1: no position yet, the server decides where the log begins. */
    readonly end: number;
    /** The server's name for end; empty: end alone. */
    readonly cursor: string;
    /** Every id of these is known, though edits, deletions and reactions are not lines. Ascending, not adjacent. */
    readonly held: readonly Range[];
    /** Lost for good, [from, to]; to is 0 where the log began anew at from. */
    readonly gaps: readonly Range[];
    /** Nothing below is to be had from the server. */
    readonly floor: number;
    /**
     * From here to the end nothing was missed: what an earlier page does not have of it came live. Without a position, what is
     * held has the changes before.
     */
    readonly since: number;
    /** Rises when what was held was given up: a page that was asked for before is of the log as it was then. */
    readonly life: number;
    /** Ids of changes that came live before the messages that they are about; a page that was read earlier needs them. */
    readonly loose: readonly number[];
};
/** What the server sends after a position, and a page of the log. */
export type Batch = {
    group: string;
    epoch: string;
    from: number;
    to: number;
    cursor?: string;
    complete: boolean;
    messages: Message[];
    first?: number;
    last?: number;
    has_more?: boolean;
    seen?: number;
    read?: number;
    unread?: number;
    profiles?: Record<string, number>;
    previews?: Record<string, LinkPreview>;
};
export declare const emptyLog: (epoch?: string, life?: number) => Log;
/** Ranges with one more, joined where they touch. */
export declare function add(ranges: readonly Range[], [from, to]: Range): Range[];
/** Ranges without one. */
export declare function cut(ranges: readonly Range[], [from, to]: Range): Range[];
/** The range that an id is in. */
export declare const around: (ranges: readonly Range[], id: number) => Range | undefined;
/** Whether each id of from..to is held or lost for good. */
export declare function covered({ held, gaps }: Log, from: number, to: number): boolean;
/** A log with a gap for good at from..to, but for what is held of that. */
export declare function lost(log: Log, range: Range): Log;
/** What a batch does to a log. */
export type Step = {
    log: Log;
    /** Its messages that are new to the log. */
    fresh: Message[];
    /** What was held is of another life of the log, or of an end that it lost: it goes. */
    anew: boolean;
    gap?: Range;
};
/**
 * Takes what the server sent after a position. "hole": ids are missing without a word, so nothing of it may be shown;
 * null: all of it is known.
 * @param first of what the person may see; who was out of a group for a while may not see what was written then
 */
export declare function append(was: Log, b: Batch, first?: number): Step | "hole" | null;
/** Whether what is held of a log without a position lacks changes, if it goes on from an id. */
export declare const missed: (log: Log, from: number) => boolean;
/** What a page is an answer to. */
export type Asked = {
    before: number;
} | {
    after: number;
};
/** Takes a page that was asked for; null: it is of another life of the log or late, ask again. */
export declare function insert(was: Log, page: Batch, asked: Asked): Log | null;
/** Gives a position up, and with it what is held: the log goes on wherever the server begins, behind a gap. */
export declare const unplaced: (log: Log) => Log;
/** Remembers changes whose messages are not held, and says which ones are forgotten for them. */
export declare function loosened(log: Log, ids: number[]): {
    log: Log;
    forgotten: number[];
};
/** Whether an entry is a line of its own. */
export declare const isLine: (m: {
    kind: string;
}) => boolean;
/** A line as it is stored, with the changes up to at. */
export declare function entry(m: Message & {
    reactions?: Record<string, Reaction>;
}, at: number): Entry;
type Content = {
    body?: string | undefined;
    data?: Json | undefined;
    mentions?: readonly string[] | undefined;
    files?: readonly FileInfo[] | undefined;
    actions?: readonly unknown[] | undefined;
};
type Change = Content & {
    kind: string;
    stream?: Message["stream"];
};
/** A message after an edit or a deletion; after any other change it is as before. An edit replaces the fields that it has. */
export declare function revised<M extends Content & {
    stream?: Message["stream"];
    edited_at?: string;
    deleted_at?: string;
}>(m: M, change: Change, at: string): M;
/** Whether an entry deletes a message. That of an erasure which names other entries takes an author off what was deleted before. */
export declare const deletes: (m: Message) => boolean;
/** The root of a thread after one of its replies was deleted. */
export declare const unreplied: (e: Entry, m: Message, newest: {
    id: number;
    sent_at: string;
} | undefined) => Entry;
/** A line after a change of the log that is about it. */
export declare function changed(e: Entry, m: Message, me: string): Entry;
/** The reactions after one more, or one less. One emoji may be spelled in two ways: it keeps the one that is shown. */
export declare function react(list: readonly [string, Reaction][], emoji: string, on: boolean, mine: boolean): [string, Reaction][];
export {};
