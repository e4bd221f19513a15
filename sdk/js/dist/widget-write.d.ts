/** Where a person writes. */
import type { Group } from "./group.js";
import type { MessageItem } from "./types.js";
import type { Language } from "./widget-words.js";
/** What is written about a message: a reply to it, or what shall stand in its place; kept is what was being written before. */
type About = {
    kind: "reply" | "edit";
    id: number;
    kept: string;
};
export declare class Write {
    #private;
    private readonly group;
    private readonly language;
    private readonly sent;
    readonly element: HTMLElement;
    /** @param sent called once a message is stored on this device */
    constructor(group: Group, language: Language, sent: () => void);
    focus(): void;
    /** What was being written: not what is written about a message. */
    get draft(): string;
    set draft(text: string);
    /** Has a person reply to a message, or edit it. name: of its author. */
    about(kind: About["kind"], { id, body, files, data }: MessageItem, name: string): void;
    /** Whether something can be sent, or kept for sending. Until then one can write. */
    set ready(ready: boolean);
}
export {};
