/** How the parts of the client meet. Nothing here is public. */
import type { Change } from "./store.js";
import type { ConnectionState, Json } from "./types.js";
/** Time and chance, so that tests decide both. */
export interface Clock {
    now(): number;
    after(ms: number, run: () => void): () => void;
    random(): number;
}
/**
 * A frame of the websocket, or the same thing out of an answer to a sync: op is messages, inbox, cursor, typing, joined, left, welcome, errors.
 * By poll, welcome says only that a session begins: whose it is and which groups there are has to be asked for by HTTP.
 */
export type Frame = {
    op: string;
    [field: string]: any;
};
/** What the link asks of the rest: it knows the server's protocol, and nothing of groups or stores. */
export interface LinkListener {
    /** The positions up to where everything is stored, once all frames handed over before are; asked at each hello and sync. */
    positions(): Promise<{
        after: Record<string, string | number>;
        inbox_after?: string | number;
    }>;
    /** Acks that have to be sent: for a sync, and to be sent over a socket when the link says so. Taken by asking. */
    acks(): {
        ack?: Record<string, string | number>;
        inbox_ack?: string | number;
    };
    /** Every frame that is no answer, in order. Resolves when it is stored; the poll waits for it, the websocket does not. */
    frame(frame: Frame): Promise<void>;
    state(state: ConnectionState): void;
}
/** One way to the server at a time: the websocket, or the long poll while there is none. */
export interface Link {
    open(): void;
    close(): void;
    /** Tries at once if it is waiting to: online, visible again, or a person pressed Retry. */
    hurry(): void;
    /** Ends the present session and begins another from positions(): a hole, or a position that the server refused. */
    restart(why: string): void;
    readonly live: boolean;
    readonly by: "websocket" | "poll" | "";
    /** A command that is answered ({op: "send" | "read" | "ack" | ...}); by HTTP while polling. Rejects with a ChatdError. */
    ask(frame: Frame): Promise<any>;
    /** A command without an answer; of those only typing goes by HTTP while polling. */
    tell(frame: Frame): void;
}
/** HTTP with the token: renews it once on 401, and turns every failure into a ChatdError. */
export interface Http {
    request(method: string, path: string, options?: RequestOptions): Promise<any>;
}
export type RequestOptions = {
    body?: Json | Blob | undefined;
    /** Idempotency-Key of a call that may be repeated. */
    key?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
    /** How long the answer may take, ms; default: 30 s, for a Blob no bound; 0: none. */
    timeoutMs?: number;
    /** What to return of a good answer; default: its JSON, null for an empty one. */
    read?: (res: Response) => any;
};
/**
 * The tabs of an origin that share a store. One of them leads: it holds the socket, and it alone makes commits. The others
 * follow its commits, and leave in the store what they want done (the outbox, a read position), with a nudge. A tab that
 * has nobody to share with leads from its start, and meets the same calls.
 */
export interface Tabs {
    start(): void;
    /** Leaves the lead to another tab, and hears no more. `lost` is not called. */
    stop(): void;
    readonly leads: boolean;
    /**
     * Writes the changes and the number of the commit in one step, unless another tab leads by now; then every tab applies what
     * the commit means, this one first. Commits follow each other in the order of the calls. Rejects with a ChatdError
     * `closed` where this tab does not lead by the end, and as the store does: nothing is applied then. What was written all
     * the same was in time for the next leader, and comes from there.
     */
    commit(changes: readonly Change[], meaning: unknown): Promise<void>;
    /** Tells the leader, which may be this tab, that there is something to do. Lost where nobody leads: see led. */
    nudge(what: unknown): void;
    /**
     * Has whoever leads do something, see serve, and resolves with what comes of it once this tab has applied the commit.
     * Rejects with what has the code and the detail of an error, which may be of another copy of its class.
     */
    ask(op: string, args: any[]): Promise<any>;
    /** By the leader: what the other tabs shall see and nobody stores, whole each time. A tab that opens later gets the last one. */
    share(state: unknown): void;
}
/** What the tabs ask of the rest. All that crosses to other tabs must be what structuredClone takes. */
export interface TabsListener {
    /** Reads all that memory holds from the store anew: at the start, before this tab leads, and when commits were missed. */
    load(): Promise<void>;
    /** Never called while load runs. A commit may be one that load saw already: it says how things are, not how they change. */
    apply(meaning: unknown): void;
    /** This tab leads: all is loaded, what followers left in the store included. */
    lead(): void;
    /** It does no longer: stop the link and the outbox at once. Commits under way reject. */
    lost(): void;
    /** Another tab leads. The one before may have taken nudges and done nothing of them: nudge again for what is not done. */
    led(): void;
    nudge(what: unknown): void;
    state(state: unknown): void;
    /** Does what was asked for, as one commit. With an id, the commit has an event "answer" too. */
    serve(op: string, args: any[], id?: string): Promise<any>;
}
