import type { ChatCalls } from "./calls.gen.js";
import { ChatdError } from "./error.js";
import { Group } from "./group.js";
import type { Options } from "./options.js";
import type { ConnectionState, InboxItem, Json, LinkPreview, Message, Snapshot } from "./types.js";
/** What `on` tells, by name. In every tab, after it was stored, and each thing once while the client lives. */
export type Events = {
    /** An entry of a log that came live, in the order of its log: messages, and edits, deletions, reactions and notices. */
    message: Message;
    /** Messages that cannot be had any more; to is 0 where the log began anew at from. */
    gap: {
        group: string;
        from: number;
        to: number;
    };
    inbox: InboxItem;
    /** Another member's positions: what they have received and read. Not in groups of more than 100. */
    cursor: {
        group: string;
        user: string;
        seen: number;
        read: number;
    };
    /** Versions of the profiles of those by whom messages are that came: another one than is known is worth asking for. */
    profiles: {
        [user: string]: number;
    };
    /** What links of messages lead to, by link, as it came with messages: where the server has the feature, and has read the page. */
    previews: {
        [link: string]: LinkPreview;
    };
    /** What the person has begun to write in a group changed, here or on another device (`draft.put`); deleted: it is gone. */
    draft: {
        group: string;
        body?: string;
        data?: Json;
        reply_to?: number;
        thread?: number;
        rev?: number;
        deleted?: true;
    };
    /** Who has the group open that `focus` named, of all devices, with one's own; users are five at most. */
    here: {
        group: string;
        count: number;
        users: string[];
    };
    /** `user` asks to stop writing a message of one's own. */
    stream_cancel: {
        group: string;
        id: number;
        user: string;
    };
    joined: {
        group: string;
    };
    left: {
        group: string;
    };
    /** Something to send was refused, or discarded. A message stays as `failed`; a change is given up. */
    failed: {
        key: string;
        group: string;
        error: {
            code: string;
            detail: string;
        };
    };
    /** The client had to stop. */
    error: ChatdError;
    "signed-out": ChatdError;
};
/**
 * A client of one server, for one person. It keeps what it knows in a store, holds one connection for all tabs that share
 * the store, and sends what waits. Everything but `connect` can be called at any time.
 */
export interface Chatd extends ChatCalls {
}
export declare class Chatd {
    #private;
    /** Makes no connection yet: see connect. */
    constructor(options: Options);
    /** Loads what is kept, connects, and stays connected until close. Also after that, and after a signed-out. */
    connect(): void;
    /** Ends the connection and resolves once nothing is written any more. What waits to be sent stays in the store. */
    close(): Promise<void>;
    /** Fulfilled once there are groups to show: at once what was kept, the first time what the server says. Never rejects. */
    get ready(): Promise<void>;
    get state(): ConnectionState;
    /** Calls back for each event; returns how to stop. What it throws is logged. */
    on<E extends keyof Events>(event: E, fn: (value: Events[E]) => void): () => void;
    /** Calls back after each change of the snapshot, at most once a task; returns how to stop. */
    subscribe: (fn: () => void) => (() => void);
    /** All that is known at this moment. The same object until something changes. */
    snapshot: () => Snapshot;
    /** Tries to connect now, if it waits to: a person asked for it. */
    hurry(): void;
    /**
     * Says which group the person looks at, or null for none, and whether they are away, as without a group they are unless it is said.
     * Said once, to the present session: say it again when `state` becomes live. Of several tabs the last one counts.
     */
    focus(group: string | null, away?: boolean): void;
    /** Deletes what is kept of this person on this device and closes the client in all tabs: for signing out. */
    forget(): Promise<void>;
    /** A group, whether the person is in it or not. The same object for the same id. */
    group(id: string): Group;
    /** Creates a group with the caller as its owner. */
    create(draft?: {
        id?: string;
        name?: string;
        members?: string[];
        visibility?: "private" | "public";
    } & Record<string, Json | undefined>): Promise<Group>;
    /** Enters a public group. */
    join(id: string): Promise<Group>;
    /** The group of the person and another one, made if it is not there. */
    direct(user: string): Promise<Group>;
    /** The inbox is in the snapshot; acked items leave it. */
    readonly inbox: {
        /** Says that the person is done with the items up to seq. Resolves once it is stored on this device. */
        ack: (seq: number) => Promise<void>;
    };
    /** Any call of the API, with the token. Fulfilled with the answer's JSON, null if it is empty; rejects with a ChatdError. */
    request(method: string, path: string, body?: Json): Promise<any>;
}
