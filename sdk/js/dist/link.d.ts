import type { Clock, Http, Link, LinkListener } from "./parts.js";
import { type WebSocketClass } from "./socket.js";
import type { Tokens } from "./token.js";
/** What happens around the client. Each returns how to stop listening. */
export type Environment = {
    /** The network is there, or away. */
    online(run: (online: boolean) => void): () => void;
    /** The page is looked at again. */
    visible(run: () => void): () => void;
};
export type LinkOptions = {
    url: string;
    http: Http;
    tokens: Pick<Tokens, "get" | "refused" | "renewed" | "ended" | "end" | "hurry">;
    listener: LinkListener;
    clock: Clock;
    /** null: long polling only. Default: the global one, if there is one. */
    WebSocket?: WebSocketClass | null | undefined;
    environment?: Environment | undefined;
};
export declare function createLink(options: LinkOptions): Link;
