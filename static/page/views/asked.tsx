/** What is asked about a message in a dialog. */
import type { MessageItem } from "@chatd/client";
import { BanDialog } from "./ban.tsx";
import { MuteDialog } from "./mute.tsx";
import { ReportDialog } from "./report.tsx";

export type Asked = { item: MessageItem; what: "mute" | "ban" | "report" };

export function AskedDialog({ item, what, onClose }: Asked & { onClose: () => void }) {
  const author = { group: item.group, user: item.from, onClose };
  return what === "mute" ? <MuteDialog {...author} /> : what === "ban" ? <BanDialog {...author} /> : <ReportDialog group={item.group} id={item.id} onClose={onClose} />;
}
