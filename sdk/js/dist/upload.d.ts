import type { Clock, Http } from "./parts.js";
import type { FileInfo } from "./types.js";
export type UploadOptions = {
    /** What the file is called; default: its own name. */
    name?: string;
    /** Told how many bytes the server has: at the start, and after each mebibyte. */
    onProgress?: (sent: number, size: number) => void;
    /** Gives the upload up, and removes what has arrived. */
    signal?: AbortSignal;
};
export declare function upload(http: Http, clock: Clock, group: string, file: Blob & {
    readonly name?: string;
}, options?: UploadOptions): Promise<FileInfo>;
