import type { Environment } from "./link.js";
import type { Clock } from "./parts.js";
import type { WebSocketClass } from "./socket.js";
import type { Store } from "./store.js";
import type { TabsEnvironment } from "./tabs.js";
import type { GetToken } from "./types.js";
export type Options = {
    /** Of the server, with its path if it has one. In a page it may be relative. */
    url: string;
    /** Called whenever a token is needed, once at a time; throw SignedOut to stop. */
    getToken: GetToken;
    /** Who the token is for, if the application knows: then the server is not asked before anything is shown or sent. */
    user?: string;
    /** Where messages, positions and what waits to be sent are kept. Default: in memory. */
    store?: Store;
    /** "separate": this tab has a connection of its own, and a store of its own. Default: "shared" where the browser can. */
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
