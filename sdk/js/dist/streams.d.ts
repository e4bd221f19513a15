import type { Draft } from "./sync.js";
/** A text with a piece at an offset, in bytes of UTF-8; undefined: what is between is missing. */
export declare function grown(text: string, offset: number, piece: string): string | undefined;
/** A frame of a message that is being written: a piece, or the whole text. Where one is missing, the end brings all. */
export declare function streamed(d: Draft, f: {
    group: string;
    id: number;
    offset?: number;
    append?: string;
    body?: string;
}): Promise<void>;
