import type { Clock, Http, Link } from "./parts.js";
import { type State, type Task } from "./state.js";
export type OutboxHost = {
    readonly state: State;
    readonly clock: Clock;
    readonly link: Link;
    readonly http: Http;
    /** Notes the outcome, and resolves when it is stored. */
    answered(task: Task, answer: any, message: unknown): Promise<void>;
    refused(task: Task, error: {
        code: string;
        detail: string;
    }): Promise<void>;
};
/** A key that nobody else makes: 96 random bits. */
export declare function newKey(): string;
export declare class Outbox {
    #private;
    private readonly host;
    constructor(host: OutboxHost);
    /** Forgets what is under way: another session, or another tab, sends it again. */
    stop(): void;
    pump(): void;
}
