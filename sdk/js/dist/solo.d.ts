import type { Clock, Tabs, TabsListener } from "./parts.js";
import type { Store } from "./store.js";
export type TabsEnvironment = {
    locks?: LockManager;
    channel?: (name: string) => BroadcastChannel;
    page?: EventTarget;
};
export declare function createTabs({ store, listener }: {
    name: string;
    store: Store;
    clock: Clock;
    listener: TabsListener;
    environment: TabsEnvironment;
}): Tabs;
