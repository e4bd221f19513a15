import type { Tabs } from "./parts.js";
import type { TabsOptions } from "./tabs.js";
import type { Json } from "./types.js";
/** One change of a store. A key is any string; ranges are half-open, in the order of UTF-16 code units. */
export type Change = {
    put: string;
    value: Json;
} | {
    remove: string;
} | {
    removeFrom: string;
    to: string;
};
/** What has to stand under a key for a write to be made, compared by ===; undefined: nothing stands there. */
export type Expect = {
    key: string;
    value: string | number | undefined;
};
/**
 * Where a client keeps what must survive: an ordered map from strings to JSON. write is atomic: after a crash, all of its
 * changes are there or none. Calls may overlap; what was written before a read began is seen by it.
 */
export interface Store {
    /** Opens or creates what is kept under name, one for each server and person. Rejects where storage is refused. */
    open(name: string): Promise<void>;
    get(key: string): Promise<Json | undefined>;
    /** Ascending pairs with from <= key < to, at most limit of them; reverse: the last ones, descending. */
    range(from: string, to: string, options?: {
        limit?: number;
        reverse?: boolean;
    }): Promise<[string, Json][]>;
    /**
     * Makes all changes, or none. With expect: false where it does not hold, and nothing is written. It is compared in the
     * transaction that writes, so that of several tabs only the one that leads can write.
     */
    write(changes: readonly Change[], expect?: Expect): Promise<boolean>;
    /** Has the tabs that see the same content work together, as those of indexedDBStore() do. Absent: no other sees it. */
    readonly tabs?: (options: TabsOptions) => Tabs;
    /** Whether it outlives the process. */
    readonly durable: boolean;
    /** About how many bytes of messages a client leaves in it before it drops the oldest; default: 50 MiB. */
    readonly maxBytes?: number;
    /** Set by whoever uses it, and called when the store finds that what it kept was deleted by somebody else. */
    onlost?: ((cause: unknown) => void) | undefined;
    close(): Promise<void>;
    /** Deletes everything that open made under this name. */
    destroy(): Promise<void>;
}
