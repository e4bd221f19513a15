/** What a person can do with a message. */
import type { MessageItem } from "./types.js";
import type { Drawing } from "./widget-rows.js";
/** Buttons that show where the message has the pointer or the focus. */
export declare function tools(item: MessageItem, own: boolean, { group, language, write }: Drawing): HTMLElement;
