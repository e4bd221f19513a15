import type { GroupState } from "./types.js";
import type { Shared } from "./widget-clients.js";
import type { Language } from "./widget-words.js";
export type TalkOptions = {
    shared: Shared;
    id: string;
    language: Language;
    titleOf(group: GroupState): string;
    back?: () => void;
    close?: () => void;
};
export declare class Talk {
    #private;
    readonly element: HTMLElement;
    constructor(o: TalkOptions);
    close(): void;
    focus(): void;
    /** What is being written. */
    get draft(): string;
    set draft(text: string);
    /** Draws what changed. */
    update(): void;
}
