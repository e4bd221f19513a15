import type { Clock } from "./parts.js";
import type { Draft } from "./sync.js";
/** What the leader can be asked for, by name. */
export type Ops = Record<string, (d: Draft, ...args: any[]) => any>;
export type Request = {
    id: string;
    op: string;
    args: any[];
};
export type AskingHost = {
    readonly clock: Clock;
    readonly leads: boolean;
    /** null: the client was closed. */
    readonly tabs: unknown;
    commit<T>(make: (d: Draft) => T | Promise<T>): Promise<T>;
    nudge(what: Request): void;
};
export declare class Asking {
    #private;
    private readonly host;
    private readonly ops;
    constructor(host: AskingHost, ops: Ops);
    ask(op: string, args: any[]): Promise<any>;
    /** This tab leads: it does what it was waiting for. */
    lead(): void;
    /** Another tab leads: the one before may have taken what was asked and done nothing of it. */
    led(): void;
    serve({ id, op, args }: Request): Promise<void>;
    answered({ id, result, error }: {
        id: string;
        result: unknown;
        error?: {
            code: string;
            detail: string;
        };
    }): void;
    fail(err: unknown): void;
}
