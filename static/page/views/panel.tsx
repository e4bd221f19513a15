/** What opens beside a conversation, by name. */
import { useSnapshot } from "../hooks.ts";
import { say } from "../say.ts";
import type { Panel } from "../route.ts";
import { lazy } from "../ui/lazy.tsx";
import { PanelFrame } from "../ui/parts.tsx";

const FilesPanel = lazy(() => import("./filespanel.tsx").then((m) => m.FilesPanel));
const Members = lazy(() => import("./people.tsx").then((m) => m.Members));
const Settings = lazy(() => import("./people.tsx").then((m) => m.Settings));
const Receipts = lazy(() => import("./places.tsx").then((m) => m.Receipts));
const PinsPanel = lazy(() => import("./places.tsx").then((m) => m.PinsPanel));
const ThreadPanel = lazy(() => import("./threads.tsx").then((m) => m.ThreadPanel));
const SearchPanel = lazy(() => import("./search.tsx").then((m) => m.SearchPanel));

const TITLES: Record<Panel, string> = {
  members: say("Members", "成员"), files: say("Files", "文件"), settings: say("Settings", "设置"), search: say("Search", "搜索"), pins: say("Pinned messages", "置顶消息"), receipts: say("Read by", "已读"), thread: say("Thread", "消息列"),
};

export function PanelOf({ group: name, panel, id, root, onClose }: { group: string; panel: Panel; id?: number | undefined; root?: number | undefined; onClose: () => void }) {
  const group = useSnapshot((s) => s.groups.find((g) => g.id === name));
  return (
    <PanelFrame name={panel} title={TITLES[panel]} onClose={onClose}>
      {panel === "members" && <Members group={name} />}
      {panel === "settings" && <Settings group={name} />}
      {panel === "receipts" && id !== undefined && <Receipts group={name} id={id} />}
      {panel === "search" && group && <SearchPanel group={group} />}
      {panel === "pins" && group && <PinsPanel group={group} />}
      {panel === "thread" && root !== undefined && group && <ThreadPanel group={group} root={root} at={id} />}
      {panel === "files" && <FilesPanel group={name} />}
    </PanelFrame>
  );
}
