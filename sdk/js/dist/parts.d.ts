/** How the parts of the client meet. Nothing here is public. */
import type { ConnectionState, Json } from "./types.js";
/** Time and chance, so that tests decide both. */
export interface Clock {
    now(): number;
    after(ms: number, run: () => void): () => void;
    random(): number;
}
/** A frame of the websocket, or the same thing out of an answer to a sync: op is messages, inbox, cursor, typing, joined, left, welcome, errors. */
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
    /** A command without an answer (typing); dropped while there is no websocket. */
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
    signal?: AbortSignal;
    /** What to return of a good answer; default: its JSON, null for an empty one. */
    read?: (res: Response) => any;
};
