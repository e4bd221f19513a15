import { ChatdError } from "./error.js";
import type { Clock, Frame } from "./parts.js";
/** What is used of a WebSocket: that of a browser, of Node from version 22 on, and that of the npm package ws. */
export type WebSocketLike = {
    readonly readyState: number;
    onopen: any;
    onmessage: any;
    onclose: any;
    onerror: any;
    send(data: string): void;
    close(code?: number): void;
    terminate?(): void;
};
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;
/** How a session ended. code: of the close; 1006: without one. refusal: of the hello. askedMs: how long to stay away. */
export type Loss = {
    code: number;
    reason: string;
    askedMs: number;
    refusal: ChatdError | null;
};
export type SocketOptions = {
    url: string;
    WebSocket: WebSocketClass;
    clock: Clock;
    welcomeMs: number;
    /** What to say first; asked once the connection is there. */
    hello(): Promise<Frame>;
    welcomed(frame: Frame): void;
    frame(frame: Frame): void;
    /** Called once, unless it was ended from here; never while createSocket runs. */
    lost(loss: Loss): void;
};
/** One session over one websocket. */
export type Socket = {
    readonly live: boolean;
    /** Rejects with a ChatdError: the server's, or offline once the connection is lost. */
    ask(frame: Frame): Promise<any>;
    tell(frame: Frame): void;
    /** Asks whether the other side is still there; the connection counts as dead when nothing is heard within so many ms. */
    probe(withinMs: number): void;
    end(): void;
};
export declare function createSocket({ url, WebSocket, clock, welcomeMs, hello, welcomed, frame, lost }: SocketOptions): Socket;
