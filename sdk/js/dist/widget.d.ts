/**
 * `<chatd-chat url mode="group|direct|list|launcher" group user lang theme token-url>`: a chat for any page. It is made of
 * what is public of the client, and of nothing else.
 */
import type { Chatd } from "./chatd.js";
import type { GetToken } from "./types.js";
import { type Words } from "./widget-words.js";
export { Chatd } from "./chatd.js";
export { ChatdError, SignedOut } from "./error.js";
export type { Words } from "./widget-words.js";
export type { GetToken } from "./types.js";
/** What the element tells, by CustomEvents with these details; they bubble. */
export type WidgetEvents = {
    "chatd-message": import("./types.js").Message;
    "chatd-unread": {
        unread: number;
        mentions: number;
    };
    "chatd-group": {
        group: string;
    };
    "chatd-toggle": {
        open: boolean;
    };
    "chatd-failed": {
        key: string;
        group: string;
        error: {
            code: string;
            detail: string;
        };
    };
    "chatd-error": unknown;
    "chatd-signed-out": unknown;
};
/** Absent where pages are rendered on a server, which may import this all the same. */
declare const Base: {
    new (): HTMLElement;
    prototype: HTMLElement;
};
export declare class ChatdChat extends Base {
    #private;
    static readonly observedAttributes: string[];
    /** Gives a token whenever one is needed; throw SignedOut to stop. In the place of the attribute token-url. */
    get getToken(): GetToken | undefined;
    set getToken(fn: GetToken | undefined);
    /** Words in the place of those that the widget has, for another language or another tone. */
    get words(): Partial<Words> | undefined;
    set words(words: Partial<Words> | undefined);
    /** The client, for what the element does not do; undefined until it has an address and tokens. Do not close it. */
    get chat(): Chatd | undefined;
    /** Whether the panel of a launcher is open: the attribute. */
    get open(): boolean;
    set open(open: boolean);
    connectedCallback(): void;
    disconnectedCallback(): void;
    attributeChangedCallback(name: string, was: string | null, is: string | null): void;
}
declare global {
    interface HTMLElementTagNameMap {
        "chatd-chat": ChatdChat;
    }
}
