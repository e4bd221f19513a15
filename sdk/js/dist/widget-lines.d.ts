/** The lines of a conversation in a box that scrolls: more is loaded at its edges, and what a person looks at stays where it is. */
import type { Timeline } from "./timeline.js";
import type { TimelineState } from "./types.js";
import type { Row } from "./widget-rows.js";
import type { Language } from "./widget-words.js";
export type LinesOptions = {
    timeline: Timeline;
    language: Language;
    /** Everything up to this message was on screen. */
    seen(id: number): void;
};
export declare class Lines {
    #private;
    readonly element: HTMLElement;
    constructor(o: LinesOptions);
    close(): void;
    /** Draws what changed. typing: what is said of who types. unread: how many messages wait. */
    draw(state: TimelineState, rows: Row[], typing: string, unread: number): void;
    /** Shows the newest lines, and goes on with what comes. */
    end(): Promise<void>;
    /** Shows a message. */
    jump(id: number): void;
    /** Somebody looks at the page again. */
    looked(): void;
}
