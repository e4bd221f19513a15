/** The list of conversations. */
import type { GroupState } from "./types.js";
import type { Shared } from "./widget-clients.js";
import type { Language } from "./widget-words.js";
export type ListOptions = {
    shared: Shared;
    language: Language;
    titleOf(group: GroupState): string;
    pick(group: string): void;
    close?: () => void;
};
export declare class List {
    #private;
    readonly element: HTMLElement;
    constructor(o: ListOptions);
    /** Puts the focus on the entry of a conversation, or on the first. */
    focus(group?: string): void;
    /** Draws what changed. */
    update(groups: readonly GroupState[], current: string): void;
}
