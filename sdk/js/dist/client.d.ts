import type { Asked, Batch } from "./log.js";
import type { Injected, Options } from "./options.js";
import { Outcomes } from "./outcomes.js";
import type { Clock, Http, Link } from "./parts.js";
import { State } from "./state.js";
import type { Store } from "./store.js";
import * as sync from "./sync.js";
import type { Host, View } from "./timeline.js";
import { type Tokens } from "./token.js";
export declare class Client implements Host {
    #private;
    readonly state: State;
    readonly clock: Clock;
    readonly http: Http;
    readonly tokens: Tokens;
    link: Link;
    readonly outcomes: Outcomes;
    /** Timelines that are kept up to date. */
    readonly open: Set<View>;
    readonly listeners: Map<string, Set<(value: any) => void>>;
    readonly subscribers: Set<() => void>;
    readonly ready: Promise<void>;
    loaded: Promise<void> | null;
    constructor(options: Options & Injected);
    get store(): Store;
    log(level: "warn" | "error", text: string, cause?: unknown): void;
    connect(): void;
    close(): Promise<void>;
    /** Deletes what is kept on this device, and ends the client in all tabs. */
    forget(): Promise<void>;
    get leads(): boolean;
    emit(name: string, value: unknown): void;
    /** What an application throws does not keep others from being told. */
    call<T>(fn: (value: T) => void, value: T, what: string): void;
    /** Has whoever leads do something, and waits until it is stored. */
    ask(op: string, ...args: any[]): Promise<any>;
    typing(group: string): void;
    focus(group: string | null, away: boolean): void;
    hurry(): void;
    /** What tabs ask the leader to do. */
    readonly ops: Record<string, (d: sync.Draft, ...args: any[]) => any>;
    /** Stored here at once, so that it is not lost if nobody leads; then done by the leader. */
    keep(key: string, value: any, op: "queue" | "read" | "readThread", ...args: any[]): Promise<void>;
    page(group: string, asked: Asked): Promise<boolean>;
    vanished(group: string, from: number, to: number, life: number): Promise<void>;
    peek(group: string, id: number): Promise<import("./types.js").Message | undefined>;
    /** The log from one id on, as the server has it now. */
    look(group: string, id: number): Promise<Batch>;
    /** Calls back for each event of this tab; returns how to stop. */
    hear(name: string, fn: (value: any) => void): () => void;
    opened(timeline: View): void;
    closed(timeline: View): void;
    soon(what: View | Client): void;
}
