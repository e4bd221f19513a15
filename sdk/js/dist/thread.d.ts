import type { Client } from "./client.js";
import type { Draft, Group, Sending } from "./group.js";
import { type Touched } from "./state.js";
import type { View } from "./timeline.js";
import type { ThreadState } from "./types.js";
/** The replies to one message, kept up to date. They are entries of the group's log, and what waits to be sent is in its outbox. */
export declare class Thread implements View {
    #private;
    private readonly client;
    private readonly of;
    readonly root: number;
    private at;
    /** @internal */
    readonly from: number;
    readonly group: string;
    /** @internal */
    constructor(client: Client, of: Group, root: number, at: "end" | number);
    /** Calls back after each change, at most once a task; returns how to stop. */
    subscribe: (fn: () => void) => (() => void);
    /** What is shown now. The same object until something changes; items that did not change are the same objects too. */
    snapshot: () => ThreadState;
    /** Loads older replies. Rejects with a ChatdError; `error` shows it too. */
    loadBefore(): Promise<void>;
    /** Loads newer replies. */
    loadAfter(): Promise<void>;
    /** Shows another part of it. */
    jump(at: "end" | number): Promise<void>;
    /** Sends a reply, as `group.send` does; its edits, deletion and reactions are the group's. */
    send(message: Omit<Draft, "thread">): Promise<Sending>;
    /** Says that the person has read the replies up to id, by default all of them. Works offline. Of a thread that they do not follow nothing is kept. */
    read(id?: number): Promise<void>;
    /** Follows the thread, with all of it read, or not any longer. */
    follow(following?: boolean): Promise<void>;
    /** Ends it: it is not kept up to date any more. */
    close(): void;
    /** @internal */
    touched(t: Touched | null): void;
    /** @internal */
    retry(): void;
    /** @internal */
    reloaded(): void;
    /** @internal */
    told(): void;
}
