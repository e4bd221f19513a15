/** What opens beside a conversation, by name. */
import { say } from "../say.ts";
import type { Panel } from "../route.ts";
import { lazy } from "../ui/lazy.tsx";
import { PanelFrame } from "../ui/parts.tsx";

const Members = lazy(() => import("./people.tsx").then((m) => m.Members));
const Settings = lazy(() => import("./people.tsx").then((m) => m.Settings));
const Receipts = lazy(() => import("./people.tsx").then((m) => m.Receipts));

const TITLES: Record<Panel, string> = {
  members: say("Members", "成员"), files: say("Files", "文件"), settings: say("Settings", "设置"), search: say("Search", "搜索"), receipts: say("Read by", "已读"),
};

export function PanelOf({ group, panel, id, onClose }: { group: string; panel: Panel; id?: number | undefined; onClose: () => void }) {
  return (
    <PanelFrame name={panel} title={TITLES[panel]} onClose={onClose}>
      {panel === "members" && <Members group={group} />}
      {panel === "settings" && <Settings group={group} />}
      {panel === "receipts" && id !== undefined && <Receipts group={group} id={id} />}
    </PanelFrame>
  );
}
