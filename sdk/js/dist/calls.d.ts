import { type ChatCalls, type GroupCalls } from "./calls.gen.js";
import type { Http } from "./parts.js";
export declare const callsOf: (http: Http) => ChatCalls;
export declare const callsOfGroup: (http: Http, group: string) => GroupCalls;
