import type { Tabs } from "./parts.js";
import type { State } from "./state.js";
import type { Store } from "./store.js";
import { Draft } from "./sync.js";
export type CommitsHost = {
    readonly state: State;
    readonly store: Store;
    readonly tabs: Tabs | null;
    /** The first id that is shown of each group that is: from there on nothing is dropped. */
    shown(): Map<string, number>;
    /** Groups whose counts may be wrong. */
    stale(groups: Set<string>): void;
    /** Groups of which it is not known which threads are followed. */
    threads(groups: Set<string>): void;
    /** The store is full, and stays so. */
    full(cause: unknown): void;
    log(level: "error", text: string, cause: unknown): void;
};
export declare class Commits {
    #private;
    private readonly host;
    constructor(host: CommitsHost);
    /** Fulfilled once everything is stored that was to be until now. */
    idle(): Promise<void>;
    /** Has something worked out and stored, after all that came before. */
    add<T>(make: (d: Draft) => T | Promise<T>): Promise<T>;
}
