/**
 * What a client holds in memory: the groups, what waits to be sent, what was read and not confirmed, the inbox. Messages are
 * in the store, and in memory only as far as a timeline shows them. Everything durable changes by commits, which say how
 * things are in the words of the store, so that applying one is the same in every tab.
 */
import type { Entry, Log } from "./log.js";
import type { Change, Store } from "./store.js";
import type { ConnectionState, FileInfo, GroupState, InboxItem, Json, Message, Snapshot } from "./types.js";
/** What describes a group, and how far the person is in it. */
export type Described = Omit<GroupState, "typing" | "queued" | "failed" | "waiting" | "unreadThreads">;
export type GroupRecord = {
    g: Described;
    log: Log;
    /** Up to which id unread, mentions_unread and members have been counted. */
    counted: number;
    /** false: only its messages have been seen, and no description. */
    known: boolean;
    /** When a timeline of it was last opened, ms; what was not for longest is dropped first. */
    opened: number;
    /** Of the messages that are kept, about. */
    bytes: number;
    /** Threads that the person follows, by root: up to where they are read, and what is unread. Absent: not asked yet. */
    threads?: Threads;
    /** The last entry that counted for a thread. */
    replied?: number;
};
/** By the id of the root. One that the person does not follow has -1 for the read one. */
export type Threads = Readonly<Record<string, readonly [read: number, unread: number]>>;
/** Something to send. */
export type Task = {
    n: string;
    key: string;
    group: string;
    kind: "text" | "data" | "edit" | "delete" | "reaction";
    body?: string;
    data?: Json;
    mentions?: string[];
    files?: FileInfo[];
    reply_to?: number;
    thread?: number;
    target?: number;
    emoji?: string;
    removed?: boolean;
    deliver_at?: string;
    queued_at: number;
    /** The last id that was known then: it is in the log after this, if at all. */
    after: number;
    /** Given by the server, which has it; the log does not yet. */
    id?: number;
    sent_at?: string;
    error?: {
        code: string;
        detail: string;
    };
};
export type InboxRecord = {
    epoch: string;
    to: number;
    cursor: string;
    complete: boolean;
    items: InboxItem[];
    /** What the person is done with and the server does not know of yet. */
    ack?: {
        seq: number;
    } | {
        cursor: string;
    };
};
/** A commit: what is written, and what of it the application is told. Meant for structuredClone. */
export type Commit = {
    changes: Change[];
    events: [name: string, value: unknown][];
};
export declare const pad: (n: number) => string;
export declare const keyOf: {
    group: (g: string) => string;
    entries: (g: string) => string;
    entry: (g: string, id: number) => string;
    change: (g: string, id: number) => string;
    task: (n: string) => string;
    read: (g: string) => string;
    /** Up to where a thread was read. */
    readThread: (g: string, root: number) => string;
    inbox: string;
    meta: string;
};
/** Behind every key that begins with a prefix. */
export declare const ending: (prefix: string) => string;
export declare const unknownGroup: (id: string) => GroupRecord;
export declare const emptyInbox: () => InboxRecord;
/** What a commit changed of one group. */
export type Touched = {
    entries: Entry[];
    /** All that was held was dropped. */
    dropped: boolean;
    /** What was held below this id was dropped. */
    below: number;
};
export declare class State {
    #private;
    me: string;
    stored: boolean;
    connection: ConnectionState;
    readonly groups: Map<string, GroupRecord>;
    readonly outbox: Map<string, Task>;
    readonly reads: Map<string, number>;
    /** The same of threads, by their keys. */
    readonly threadReads: Map<string, number>;
    /** Keys of what is under way to the server. */
    sending: ReadonlySet<string>;
    inbox: InboxRecord;
    /** Told whenever something of a group changed; "": something else. */
    changed: (group: string, touched: Touched | null) => void;
    /** Reads all that is held from a store. Timelines have to be told. */
    load(store: Store): Promise<void>;
    /** Takes what was written. */
    apply(changes: readonly Change[]): void;
    connect(connection: ConnectionState): void;
    /** Somebody types, until a time; 0: no longer. */
    type(group: string, user: string, until: number): void;
    /** Forgets who stopped typing. */
    expire(now: number): void;
    /** Takes what the leader shares. */
    share(typing: [string, [string, number][]][], sending: string[]): void;
    /** Says what is under way to the server. */
    send(keys: Iterable<string>): void;
    /** Forgets everything. */
    clear(): Promise<void>;
    typing(): [string, [string, number][]][];
    tasks(group: string): Task[];
    snapshot(): Snapshot;
}
/** A message of the log out of what was sent and what the server answered. */
export declare function sentMessage(t: Task, me: string, answer: {
    id: number;
    sent_at?: string;
}): Message;
