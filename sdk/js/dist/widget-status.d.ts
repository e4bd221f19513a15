/** What is said where there is nothing else to show, and of the connection. */
import type { Chatd } from "./chatd.js";
import { type Icon } from "./widget-dom.js";
import type { Language } from "./widget-words.js";
/** How the connection is, where that is worth a word. */
export declare class Status {
    #private;
    private readonly chat;
    private readonly language;
    readonly element: HTMLDivElement;
    constructor(chat: Chatd, language: Language);
    update(): void;
}
/** A picture, a word, and perhaps more in an empty place. */
export declare function notice(name: Icon, title: string, ...more: HTMLElement[]): HTMLElement[];
/** Lines as they may look, while they load. */
export declare function skeleton(): HTMLElement[];
