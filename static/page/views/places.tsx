/** What is shown in the place of a group, the choice of a time, and what becomes of messages that a moderator sees first: one file, loaded when some of it is first shown. */
import "../whole.ts";

export { Home } from "./home.tsx";
export { Inbox } from "./inbox.tsx";
export { Scheduled } from "./scheduled.tsx";
export { Slow } from "./slow.tsx";
export { Waits } from "./waits.tsx";
export { WhenDialog } from "./whendialog.tsx";
