/** Where a person writes. */
import type { Group } from "./group.js";
import type { Language } from "./widget-words.js";
export declare class Write {
    #private;
    private readonly group;
    private readonly sent;
    readonly element: HTMLFormElement;
    /** @param sent called once a message is stored on this device */
    constructor(group: Group, language: Language, sent: () => void);
    focus(): void;
    get text(): string;
    set text(text: string);
    /** Whether something can be sent, or kept for sending. Until then one can write. */
    set ready(ready: boolean);
}
