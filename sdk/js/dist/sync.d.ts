/**
 * What frames, pages and lists mean: each function looks at the state, reads of the store what it needs, and returns what is
 * to be written and told. One at a time, by the leader; nothing here changes anything.
 */
import { type Asked, type Batch, type Entry, type Log } from "./log.js";
import { type Commit, type GroupRecord, type InboxRecord, type State, type Task } from "./state.js";
import type { Change, Store } from "./store.js";
import type { InboxItem } from "./types.js";
/** A commit in the making. */
export declare class Draft implements Commit {
    readonly s: State;
    readonly store: Store;
    readonly changes: Change[];
    readonly events: Commit["events"];
    /** Groups whose counts only the server can say. */
    readonly stale: Set<string>;
    /** Groups of which only the server can say which threads the person follows, and what is unread in them. */
    readonly threads: Set<string>;
    constructor(s: State, store: Store);
    put(key: string, value: unknown): void;
    remove(key: string): void;
    removeAll(prefix: string): void;
    tell(name: string, value: unknown): void;
    record(group: string): GroupRecord;
    entry(group: string, id: number): Promise<Entry | undefined>;
    /** Drops what is held of a log. */
    drop(group: string): void;
}
/** Messages that the server pushed, or a sync brought. "hole": ids are missing silently; ask again from the positions. */
export declare function received(d: Draft, b: Batch): Promise<"hole" | null>;
/**
 * The lines that are held and have to be read again, as what a page brings cannot be applied to them: of what a gap hid, the changes of
 * lines to which a later one was applied before, and replies; and replies that were deleted while they were not held.
 */
export declare function disputed(store: Store, { gaps, held }: Log, group: string, page: Batch): Promise<number[]>;
/**
 * A page that was asked for in a life of the log, -1 if there was none. false: nothing of it could be taken.
 * @param again what was read again of the lines that are disputed
 */
export declare function paged(d: Draft, page: Batch, asked: Asked, life: number, again?: readonly Batch[]): Promise<boolean>;
/** What the server no longer has between a page and what is held before. */
export declare function vanished(d: Draft, group: string, from: number, to: number, life?: number): void;
/**
 * The caller's groups as listed by the server. Counts of a list that is older than what came live, or than what the person
 * has read meanwhile, are not taken; they are stale then. A group of which nothing is owed to the person is placed at its end.
 * @param read groups of which the server answered a read position while the list was on its way
 */
export declare function listed(d: Draft, list: any[], read: ReadonlySet<string>): void;
/** One group as GET or PATCH /v1/groups/{g} return it. */
export declare function described1(d: Draft, g: any): void;
/** The person is in a group no longer. */
export declare function left(d: Draft, group: string): void;
/**
 * A session begins. Groups of which nothing is owed to the person begin at their end. true: a position was given up, and a session
 * without it has to begin.
 * @param entered groups that were entered since it was asked for
 */
export declare function welcomed(d: Draft, f: any, entered: ReadonlySet<string>): boolean;
/**
 * What the server could not do about some groups: one that the person is not in goes, a position that it cannot read is given
 * up. Says whether one was given up, and whether another session is worth a try later.
 */
export declare function failed(d: Draft, errors: {
    group: string;
    inbox?: boolean;
    code: string;
}[]): {
    given: boolean;
    later: boolean;
};
/** Somebody's cursors moved: one's own on another device, or another member's. */
export declare function moved(d: Draft, c: {
    group: string;
    user: string;
    seen: number;
    read: number;
}): void;
/** The person has read up to id. */
export declare function readTo(d: Draft, group: string, id: number): Promise<void>;
/** The server has taken a read position, or refused it for good. */
export declare function confirmed(d: Draft, group: string, id: number, answer: {
    seen: number;
    read: number;
    unread: number;
} | null): void;
/** How the person stands to a thread, as the server has said it; last_id is its newest reply then. */
export type Standing = {
    id: number;
    read: number;
    unread: number;
    following: boolean;
    last_id?: number;
};
/** The threads of a group that the person follows, as the server lists them; replied: what had counted when it was asked. */
export declare function followed(d: Draft, group: string, list: readonly Standing[], replied: number): void;
/** The same of one thread; done: a read position that the server has taken, or refused. */
export declare function standing(d: Draft, group: string, root: number, t: Standing | null, done?: number): void;
/** The person has read a thread up to id. */
export declare function readThreadTo(d: Draft, group: string, root: number, id: number): Promise<void>;
/** Items of the inbox. "hole": some are missing silently. */
export declare function items(d: Draft, b: InboxRecord & {
    from: number;
    items: InboxItem[];
}): "hole" | void;
/** The person is done with the items up to seq. */
export declare function done(d: Draft, seq: number): void;
/** The server has taken a message of the outbox. */
export declare function answered(d: Draft, t: Task, answer: {
    id: number;
    sent_at?: string;
}, message: unknown): void;
/** The server has refused it for good. A message stays, to be tried again or discarded; a change is given up. */
export declare function refused(d: Draft, t: Task, error: {
    code: string;
    detail: string;
}): void;
/** Tries what was refused once more, and counts its age anew: a person has decided. */
export declare function retried(d: Draft, key: string, now: number): void;
/** Gives up what was refused, or was not sent yet. */
export declare function discarded(d: Draft, key: string): void;
/** The person's positions as a call has answered them. */
export declare function marked(d: Draft, group: string, { seen, read, unread }: any): void;
/** A timeline of it was opened. */
export declare function opened(d: Draft, group: string, now: number): void;
/**
 * Drops the oldest messages of the group that was not opened for longest, and where only those are left, of one that is shown.
 * false: there is nothing to drop.
 * @param shown the first id that is shown of each group; from there on nothing is dropped
 */
export declare function pruned(d: Draft, shown: ReadonlyMap<string, number>): Promise<boolean>;
