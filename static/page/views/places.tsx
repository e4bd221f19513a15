/** What is shown in the place of a group or beside it, the choice of a time, files to send and to look at, messages that were not sent, and invitations: one file, loaded when some of it is first shown. */
import "../whole.ts";

export { Viewer } from "../ui/viewer.tsx";
export { Attached } from "./attached.tsx";
export { Home } from "./home.tsx";
export { Inbox } from "./inbox.tsx";
export { Invited } from "./invited.tsx";
export { Nothing } from "./nothing.tsx";
export { PinsPanel } from "./pinspanel.tsx";
export { Receipts } from "./receipts.tsx";
export { Scheduled } from "./scheduled.tsx";
export { Slow } from "./slow.tsx";
export { Unsent } from "./unsent.tsx";
export { Vanish } from "./vanish.tsx";
export { WhenDialog } from "./whendialog.tsx";
