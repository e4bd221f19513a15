import type { Tabs } from "./parts.js";
import type { TabsOptions } from "./tabs.js";
export declare function alone({ store, clock, listener }: TabsOptions): Tabs;
