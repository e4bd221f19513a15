/** What is asked about a message in a dialog. */
import "../whole.ts";
import type { MessageItem } from "@chatd/client";
import { lazy } from "../ui/lazy.tsx";
import { ForwardDialog } from "./forward.tsx";
import { RemindDialog } from "./remind.tsx";

const QuorumDialog = lazy(() => import("./there.tsx").then((m) => m.QuorumDialog));
const OfAuthor = lazy(() => import("./people.tsx").then((m) => m.OfAuthor));

export type Asked = { item: MessageItem; what: "mute" | "ban" | "report" | "forward" | "remind" | "quorum" };

export function AskedDialog({ item, what, onClose }: Asked & { onClose: () => void }) {
  if (what === "quorum") return <QuorumDialog item={item} onClose={onClose} />;
  if (what === "forward") return <ForwardDialog item={item} onClose={onClose} />;
  return what === "remind" ? <RemindDialog item={item} onClose={onClose} /> : <OfAuthor item={item} what={what} onClose={onClose} />;
}
