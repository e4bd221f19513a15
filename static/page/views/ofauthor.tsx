/** What is asked about the author of a message. */
import type { MessageItem } from "@chatd/client";
import { BanDialog } from "./ban.tsx";
import { MuteDialog } from "./mute.tsx";
import { ReportDialog } from "./report.tsx";

export function OfAuthor({ item, what, onClose }: { item: MessageItem; what: "mute" | "ban" | "report"; onClose: () => void }) {
  const author = { group: item.group, user: item.from, onClose };
  return what === "mute" ? <MuteDialog {...author} /> : what === "ban" ? <BanDialog {...author} /> : <ReportDialog group={item.group} id={item.id} onClose={onClose} />;
}
