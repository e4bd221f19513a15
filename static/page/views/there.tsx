/** Who is there, and who has read what shall be read: one file, loaded when some of it is first shown. */
import "../whole.ts";

export { Dot, PeerLine, Peers, StateLine, Watch } from "../presence.tsx";
export { Held } from "./held.tsx";
export { Online } from "./online.tsx";
export { QuorumDialog, QuorumLine } from "./quorum.tsx";
