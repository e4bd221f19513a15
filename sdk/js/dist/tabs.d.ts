import type { Clock, Tabs, TabsListener } from "./parts.js";
import type { Store } from "./store.js";
type Channel = Pick<BroadcastChannel, "postMessage" | "close" | "onmessage">;
/** What a browser gives. Without locks or a channel this tab shares with nobody, and leads from its start. */
export type TabsEnvironment = {
    locks?: Pick<LockManager, "request"> | undefined;
    channel?: ((name: string) => Channel) | undefined;
    /** Where pagehide, pageshow, freeze, resume and visibilitychange are heard. */
    page?: EventTarget | undefined;
};
export type TabsOptions = {
    /** Of the store: the server and the person. */
    name: string;
    store: Store;
    clock: Clock;
    listener: TabsListener;
    /** Default: what the browser gives. {}: this tab leads whatever others do. */
    environment?: TabsEnvironment | undefined;
};
/** Tabs that only hear each other: see asking. */
export declare function createTabs(options: TabsOptions): Omit<Tabs, "ask">;
export {};
