import { type Asked } from "./log.js";
import { type State, type Touched } from "./state.js";
import type { Store } from "./store.js";
import type { GapItem, TimelineState } from "./types.js";
/** Where a timeline begins: at the first unread message, at the end, at a message, or at the first one since a time. */
export type At = "unread" | "end" | number | Date;
/** What a timeline asks of the client. */
export type Host = {
    readonly state: State;
    readonly store: Store;
    /** Loads a page and resolves once it is stored; false: it came too late. */
    page(group: string, asked: Asked): Promise<boolean>;
    /** Notes that the server no longer has from..to. */
    vanished(group: string, from: number, to: number, life: number): Promise<void>;
    /** The first entry of the log from id on, as the server says. */
    peek(group: string, id: number): Promise<{
        id: number;
        sent_at: string;
    } | undefined>;
    opened(view: View): void;
    closed(view: View): void;
    /** Calls something of the application. */
    call<T>(fn: (value: T) => void, value: T, what: string): void;
    /** Has told() called soon, once. */
    soon(view: View): void;
};
/** A part of a group that is shown, and kept up to date. */
export interface View {
    readonly group: string;
    /** The first id that is shown. */
    readonly from: number;
    /** Something of its group was committed. */
    touched(t: Touched | null): void;
    /** The server is reached again. */
    retry(): void;
    /** Everything was read from the store anew. */
    reloaded(): void;
    /** Tells who subscribed. */
    told(): void;
}
/** A part of a group's log, kept up to date: at most `max` lines in a row, from which more is loaded on either side. */
export declare class Timeline implements View {
    #private;
    private readonly host;
    readonly group: string;
    private readonly max;
    /** @internal */
    constructor(host: Host, group: string, at: At, max: number);
    /** Calls back after each change, at most once a task; returns how to stop. */
    subscribe: (fn: () => void) => (() => void);
    /** What is shown now. The same object until something changes; items that did not change are the same objects too. */
    snapshot: () => TimelineState;
    /** Loads about 60 older lines. Rejects with a ChatdError where they are not held and cannot be had; `error` shows it too. */
    loadBefore(): Promise<void>;
    /** Loads about 60 newer lines. */
    loadAfter(): Promise<void>;
    /**
     * Asks the server for what a gap hides: the oldest 100 of it that there are, which then stand where they belong. What is left is a
     * gap; load it as well. false: the server has none of it. Rejects with a ChatdError, which `error` does not show.
     */
    loadGap({ from, to }: Pick<GapItem, "from" | "to">): Promise<boolean>;
    /** Shows another part of the log, "end" and "unread" as at the beginning. What was shown stays until that is loaded. */
    jump(at: At): Promise<void>;
    /** Ends it: it is not kept up to date any more. */
    close(): void;
    /** @internal The first id that is shown. */
    get from(): number;
    /** @internal Whether what was shown stays until something else is loaded. */
    get quiet(): boolean;
    /** @internal Something of its group was committed. */
    touched(t: Touched | null): void;
    /** @internal The server is reached again. */
    retry(): void;
    /** @internal Everything was read from the store anew. */
    reloaded(): void;
    /** @internal */
    told(): void;
}
