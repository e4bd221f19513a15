/** Threads: the one that is open beside its group, and the list of those that a person follows. Loaded when one is first shown. */
import "../whole.ts";

export { ThreadPanel } from "./threadpanel.tsx";
export { Threads } from "./threadlist.tsx";
