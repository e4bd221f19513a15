/** What is asked about a message in a dialog. */
import type { MessageItem } from "@chatd/client";
import { MuteDialog } from "./mute.tsx";
import { ReportDialog } from "./report.tsx";

export type Asked = { item: MessageItem; what: "mute" | "report" };

export const AskedDialog = ({ item, what, onClose }: Asked & { onClose: () => void }) =>
  what === "mute" ? <MuteDialog group={item.group} user={item.from} onClose={onClose} /> : <ReportDialog group={item.group} id={item.id} onClose={onClose} />;
