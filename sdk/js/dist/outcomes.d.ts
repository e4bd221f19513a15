/** What becomes of what this tab sends: told by commits, or found in the store where some were missed. */
import { ChatdError } from "./error.js";
import { type State, type Task } from "./state.js";
import type { Store } from "./store.js";
export type OutcomesHost = {
    readonly state: State;
    readonly store: Store;
    /** Takes an event as if a commit had told it. */
    event(name: string, value: unknown): void;
};
type Wait = {
    task: Task;
    stored?: boolean;
    done(message: any): void;
    fail(err: ChatdError): void;
};
export declare class Outcomes {
    #private;
    private readonly host;
    constructor(host: OutcomesHost);
    /** How many tasks are about to be stored. */
    get coming(): number;
    /** Has a task stored. The outcome is what `done` says. */
    send(task: Task, store: () => Promise<void>): Promise<{
        key: string;
        done: Promise<any>;
    }>;
    settle(key: string, how: (wait: Wait) => void): void;
    fail(err: ChatdError): void;
    /** The state was loaded anew: the commits that told of some may be among those that this tab missed. */
    loaded(): void;
}
export {};
