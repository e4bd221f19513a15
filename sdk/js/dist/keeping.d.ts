import type { Clock, Http } from "./parts.js";
import type { Store } from "./store.js";
export declare class Keeping {
    store: Store;
    private readonly url;
    private readonly http;
    private readonly clock;
    constructor(store: Store, url: string, http: Http, clock: Clock);
    /** Of the store of a user, and of the tabs that share it. */
    name(user: string): string;
    /** The user of the last time, or whom the server takes the token for, however long it takes to reach it unless aborted. */
    user(signal: AbortSignal): Promise<string>;
    /** Notes who is to be shown the next time. */
    remember(user: string): Promise<void>;
    open(user: string, warn: (cause: unknown) => void, remember: boolean): Promise<void>;
    /** @param user "": whoever was shown the last time */
    destroy(user: string): Promise<void>;
}
