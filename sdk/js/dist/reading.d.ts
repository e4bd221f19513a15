import type { Clock, Http, Link } from "./parts.js";
import type { State } from "./state.js";
export type ReadingHost = {
    readonly state: State;
    readonly clock: Clock;
    readonly link: Link;
    readonly http: Http;
    /** Notes an answer; null: it was refused. */
    confirmed(group: string, id: number, answer: any): Promise<void>;
    confirmedThread(group: string, root: number, id: number, answer: any): Promise<void>;
    /** The inbox was acked up to there, or that was refused. */
    acked(at: unknown): Promise<void>;
};
export declare class Reading {
    #private;
    private readonly host;
    constructor(host: ReadingHost);
    stop(): void;
    pump(): void;
}
