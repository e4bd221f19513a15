import { ChatdError } from "./error.js";
import { type Environment } from "./link.js";
import type { Asked, Batch } from "./log.js";
import type { Clock, Http, Link } from "./parts.js";
import type { WebSocketClass } from "./socket.js";
import { State, type Task } from "./state.js";
import type { Store } from "./store.js";
import * as sync from "./sync.js";
import { type TabsEnvironment } from "./tabs.js";
import type { Host, Timeline } from "./timeline.js";
import { type Tokens } from "./token.js";
import type { GetToken } from "./types.js";
export type Options = {
    /** Of the server, with its path if it has one. In a page it may be relative. */
    url: string;
    /** Called whenever a token is needed, once at a time; throw SignedOut to stop. */
    getToken: GetToken;
    /** Who the token is for, if the application knows: what is kept is shown without asking the server who it is. */
    user?: string;
    /** Where messages, positions and what waits to be sent are kept. Default: in memory. */
    store?: Store;
    /** "separate": this tab has a connection of its own, though other tabs share the store. Default: "shared" where the browser can. */
    tabs?: "shared" | "separate";
    fetch?: typeof globalThis.fetch;
    /** For Node before 22 (`import WebSocket from "ws"`). null: long polling only. */
    WebSocket?: WebSocketClass | null;
    /** Told what an operator may want to know. Default: the console. */
    log?: (level: "warn" | "error", text: string, cause?: unknown) => void;
};
/** For tests. */
export type Injected = {
    clock?: Clock;
    environment?: Environment;
    tabsEnvironment?: TabsEnvironment;
};
export declare class Client implements Host {
    #private;
    readonly state: State;
    readonly clock: Clock;
    readonly http: Http;
    readonly tokens: Tokens;
    store: Store;
    link: Link;
    /** Timelines that are kept up to date. */
    readonly open: Set<Timeline>;
    readonly listeners: Map<string, Set<(value: any) => void>>;
    readonly subscribers: Set<() => void>;
    /** Of messages that are on their way, by key. */
    readonly waits: Map<string, {
        done(message: any): void;
        fail(err: ChatdError): void;
    }>;
    readonly ready: Promise<void>;
    loaded: Promise<void> | null;
    constructor(options: Options & Injected);
    log(level: "warn" | "error", text: string, cause?: unknown): void;
    connect(): void;
    close(): Promise<void>;
    /** Deletes what is kept on this device, in all tabs, and ends the client. */
    forget(): Promise<void>;
    get leads(): boolean;
    emit(name: string, value: unknown): void;
    /** Has whoever leads do something, and waits until it is stored. */
    ask(op: keyof Client["ops"], ...args: any[]): Promise<any>;
    typing(group: string): void;
    hurry(): void;
    /** What tabs ask the leader to do. */
    readonly ops: {
        page: (d: sync.Draft, page: Batch, asked: Asked) => Promise<boolean>;
        vanished: (d: sync.Draft, group: string, from: number, to: number) => void;
        queue: (d: sync.Draft, task: Task) => void;
        retry: (d: sync.Draft, key: string) => void;
        discard: (d: sync.Draft, key: string) => void;
        read: (d: sync.Draft, group: string, id: number) => Promise<void>;
        cursors: (d: sync.Draft, group: string, answer: any) => void;
        done: (d: sync.Draft, seq: number) => void;
        known: (d: sync.Draft, group: any) => void;
        gone: (d: sync.Draft, group: string) => void;
        opened: (d: sync.Draft, group: string, now: number) => void;
        forget: (d: sync.Draft) => void;
    };
    /** Stored here at once, so that it is not lost if nobody leads; then done by the leader. */
    keep(key: string, value: any, op: "queue" | "read", ...args: any[]): Promise<void>;
    /** The outcome of what is sent under a key. */
    wait(key: string): Promise<any>;
    page(group: string, asked: Asked): Promise<boolean>;
    vanished(group: string, from: number, to: number): Promise<void>;
    peek(group: string, id: number): Promise<any>;
    opened(timeline: Timeline): void;
    closed(timeline: Timeline): void;
    soon(what: Timeline | Client): void;
}
