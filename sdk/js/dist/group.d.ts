import type { GroupCalls, Schedule } from "./calls.gen.js";
import type { Client } from "./client.js";
import { Thread } from "./thread.js";
import { type At, Timeline } from "./timeline.js";
import type { FileInfo, GroupState, Json, Message } from "./types.js";
import { type UploadOptions } from "./upload.js";
/** What a message says. A body, data or files have to be there. */
export type Draft = {
    body?: string;
    data?: Json;
    replyTo?: number;
    /** The message in whose thread it is a reply; see thread. */
    thread?: number;
    mentions?: readonly string[];
    /** After how many seconds it is deleted for everyone, from 60, if its group does not do so earlier. */
    expireS?: number;
    /** Uploaded before, see upload. */
    files?: readonly FileInfo[];
};
/** A message to be sent later, though the client is closed then. It shows up in the log when it is due, in no timeline before. */
export type Delayed = Draft & {
    deliverAt: Date | string;
};
/** A message that waits to be sent. */
export type Sending<T = Message> = {
    /** Names it for retry and discard; it is the client_id of the message. */
    readonly key: string;
    /**
     * Fulfilled with the message once the server has stored it, however long that takes while this client lives. Rejects with a
     * ChatdError when it is refused or discarded, and with `closed` when the client is closed: it is sent the next time then.
     * Of a delayed one it is the schedule; or the message, where that is there by the time that the server is reached.
     */
    readonly done: Promise<T>;
};
/** One group. It holds nothing: all that is known of the group is in the snapshot and in its timelines. */
export interface Group extends GroupCalls {
}
export declare class Group {
    #private;
    private readonly client;
    readonly id: string;
    /** @internal */
    constructor(client: Client, id: string);
    /** The group in the present snapshot; undefined: the person is not in it, as far as is known. */
    snapshot: () => GroupState | undefined;
    /**
     * Sends a message. Resolves once it is stored on this device, to be sent in the order of the calls, over restarts if the
     * store is durable. Rejects where storing fails, and with `outbox_full` where 1,000 messages wait.
     */
    send(message: Delayed): Promise<Sending<Schedule | Message>>;
    send(message: Draft): Promise<Sending>;
    /** Changes the content of one's own message; what is left out stays. Shown at once, sent in order like a message. */
    edit(id: number, content: Omit<Draft, "replyTo" | "thread" | "expireS">): Promise<Sending>;
    /** Deletes a message, for everybody. */
    delete(id: number): Promise<Sending>;
    /** Adds one's reaction to a message, or takes it back. */
    react(id: number, emoji: string, on?: boolean): Promise<Sending>;
    /** Sends a message that was refused once more, under its key. Fulfilled once that is stored; `done` is over, watch the item. */
    retry(key: string): Promise<void>;
    /** Gives a message up that was refused or waits. */
    discard(key: string): Promise<void>;
    /** Says that the person has read everything up to id. Works offline: resolves once it is stored on this device. */
    read(id: number): Promise<void>;
    /** Makes a message unread, and all after it. */
    markUnread(id: number): Promise<void>;
    /** Says that the person is typing: call it with each key; it is said every 3 s at most, and lost while offline. */
    typing(): void;
    /**
     * Uploads a file for the files of a message. After a broken connection it goes on from where the server is. Rejects with a
     * ChatdError, such as `too_large` or `quota_full`, with the last one after 10 attempts in a row that got no further, and with
     * the reason of the signal.
     */
    upload(file: Blob & {
        readonly name?: string;
    }, options?: UploadOptions): Promise<FileInfo>;
    /** The bytes of a file of a message, or of its preview, which pictures with a width have. */
    file(id: string, as?: "whole" | "preview"): Promise<Blob>;
    /** How large a file may be, bytes; 0: the server keeps none. */
    fileMax(): Promise<number>;
    /** Adds a member, or changes the role of one. */
    add(user: string, role?: "member" | "admin" | "owner"): Promise<void>;
    /** Removes a member. */
    remove(user: string): Promise<void>;
    /** Leaves the group; what is kept of it goes, also what waits to be sent. */
    leave(): Promise<void>;
    /** Changes the name and the settings, for owner and admins. */
    update(change: Record<string, Json>): Promise<void>;
    /**
     * Opens a part of the log, at the first unread message, the end, a message or a time: at most max lines (500) at a time.
     * It is there at once, and fills in as it loads. Close it when it is not shown any more.
     */
    timeline({ at, max }?: {
        at?: At;
        max?: number;
    }): Timeline;
    /**
     * Opens the thread of a message: its replies, at the end, or around one of them. It is there at once, and fills in as it loads.
     * Close it when it is not shown any more.
     */
    thread(root: number, { at }?: {
        at?: "end" | number;
    }): Thread;
}
