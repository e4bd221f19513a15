/** What is shown in the place of a group, and the choice of a time: one file, loaded when some of it is first shown. */
import "../whole.ts";

export { Home } from "./home.tsx";
export { Inbox } from "./inbox.tsx";
export { Scheduled } from "./scheduled.tsx";
export { Slow } from "./slow.tsx";
export { WhenDialog } from "./whendialog.tsx";
