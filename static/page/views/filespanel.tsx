/** What was shared in a group, the newest first: pictures, files and links. */
import "../whole.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FileInfo, MessageItem } from "@chatd/client";
import { pieces, shortTime } from "../format.ts";
import { useTimeline } from "../hooks.ts";
import { pathOf } from "../route.ts";
import { say } from "../say.ts";
import { Download, isPicture, Picture, Viewer } from "../ui/files.tsx";
import { Name, Problem } from "../ui/parts.tsx";

type Tab = "pictures" | "files" | "links";
/** Lines that are held at a time; what was found in them stays. */
const HELD_MAX = 300;
/** Lines that one look goes back at most, and what it is content with. */
const LOOK_MAX = 1000;
const ENOUGH = 30;

type Found = { key: string; item: MessageItem; file?: FileInfo; href?: string };

function foundIn(item: MessageItem, tab: Tab): Found[] {
  if (tab === "links") return pieces(item.body ?? "").flatMap((p, i) => (p.href ? [{ key: `${item.key} ${i}`, item, href: p.href }] : []));
  return (item.files ?? []).filter((f) => isPicture(f) === (tab === "pictures")).map((file) => ({ key: `${item.key} ${file.id}`, item, file }));
}

export function FilesPanel({ group }: { group: string }) {
  const [state, timeline] = useTimeline(group, "end", HELD_MAX);
  const [tab, setTab] = useState<Tab>("pictures");
  const [looks, setLooks] = useState(1);
  const [open, setOpen] = useState<FileInfo | null>(null);
  const seen = useRef(new Map<number, MessageItem>());
  const all = useMemo(() => {
    for (const i of state.items) if (i.type === "message" && i.id) seen.current.set(i.id, i);
    return [...seen.current.values()].filter((i) => !i.deleted_at && (i.files || i.body?.includes("://"))).sort((a, b) => b.id - a.id);
  }, [state.items]);
  const found = all.flatMap((item) => foundIn(item, tab));
  const further = state.before === "more" && found.length < looks * ENOUGH && seen.current.size < looks * LOOK_MAX;
  useEffect(() => {
    if (further) void timeline?.loadBefore().catch(() => {}); // the state says why
  }, [further, state, timeline]);
  const tabs: [Tab, string][] = [["pictures", say("Pictures", "图片")], ["files", say("Files", "文件")], ["links", say("Links", "链接")]];
  const pictures = all.flatMap((item) => (item.files ?? []).filter(isPicture));
  return (
    <div class="shared">
      <div class="buttons" role="group" aria-label={say("What is shown", "显示内容")}>
        {tabs.map(([name, label]) => <button key={name} type="button" class="button" aria-pressed={tab === name} onClick={() => setTab(name)}>{label}</button>)}
      </div>
      {found.length > 0 && <ul class={`shared-${tab}`}>{found.map((f) => (
        <li key={f.key}>
          {f.href ? <a href={f.href} target="_blank" rel="noopener noreferrer" dir="auto">{f.href}</a>
            : tab === "pictures" ? <Picture group={group} file={f.file!} onOpen={setOpen} /> : <Download group={group} file={f.file!} />}
          {tab !== "pictures" && <p class="quiet"><Name user={f.item.from} /> · <a href={pathOf({ view: "group", group, id: f.item.id })}>{shortTime(f.item.sent_at)}</a></p>}
        </li>
      ))}</ul>}
      <Problem text={state.error ? say("Older messages can’t be loaded.", "无法加载更早的消息。") : ""} />
      {further || state.before === "loading" ? <p class="quiet" role="status">{say("Looking…", "正在查找…")}</p>
        : state.before === "more" ? <p class="buttons"><button type="button" class="button" onClick={() => setLooks(looks + 1)}>{say("Look further back", "查找更早的")}</button></p>
        : found.length === 0 && <p class="quiet">{say("Nothing here yet", "暂无内容")}</p>}
      {open && <Viewer group={group} pictures={pictures} first={open} onClose={() => setOpen(null)} />}
    </div>
  );
}
