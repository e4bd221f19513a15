/** The lines of a timeline as an application gets them: with its own changes applied before the server confirms them. */
import { type Entry, type Range } from "./log.js";
import type { Task } from "./state.js";
import type { TimelineItem } from "./types.js";
export declare const isMessage: (t: Task) => boolean;
/** Makes items, the same object as before wherever nothing changed. */
export declare class Items {
    #private;
    /** @param gaps that lie in what is shown @param tasks of the group @param sending keys of those under way */
    make(lines: readonly Entry[], gaps: readonly Range[], tasks: readonly Task[], sending: ReadonlySet<string>, me: string, end: boolean): TimelineItem[];
}
