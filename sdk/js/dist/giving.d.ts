import type { Tabs } from "./parts.js";
import type { TabsOptions } from "./tabs.js";
import type { Message } from "./types.js";
/** Takes an entry of a log. Fulfilled: it is not given again. */
export type Take = (message: Message) => void | Promise<void>;
export declare const giving: (take: Take) => (options: TabsOptions) => Tabs;
