import type { Tabs } from "./parts.js";
import type { TabsOptions } from "./tabs.js";
/** Tabs that ask each other. */
export declare const asking: (create: (options: TabsOptions) => Omit<Tabs, "ask">) => (options: TabsOptions) => Tabs;
