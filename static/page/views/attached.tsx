/** The files that go with the next message: how far each is, in which order they go, and what can be done about it. */
import { useRef } from "preact/hooks";
import { sizeOf } from "../format.ts";
import { say } from "../say.ts";
import { memo } from "../ui/memo.ts";
import { Icon, IconButton } from "../ui/parts.tsx";
import type { Upload, Uploads } from "../uploads.ts";

export const Attached = memo(({ group, uploads, store }: { group: string; uploads: readonly Upload[]; store: Uploads }) => {
  const dragged = useRef("");
  const list = useRef<HTMLUListElement>(null);
  function onKeyDown(e: KeyboardEvent, u: Upload): void {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const turned = /Left|Right/.test(e.key) && getComputedStyle(list.current!).direction === "rtl";
    const button = e.currentTarget as HTMLElement;
    store.move(group, u.key, turned ? -step : step);
    requestAnimationFrame(() => button.focus()); // what is moved in the document loses it
  }
  function onDragOver(e: DragEvent, u: Upload): void {
    if (!dragged.current) return; // a file from elsewhere is dropped on the page
    e.preventDefault();
    const [from, to] = [dragged.current, u.key].map((key) => uploads.findIndex((one) => one.key === key));
    if (from !== to) store.move(group, dragged.current, to! - from!);
  }
  return (
    <ul ref={list} class="attached" aria-label={say("Attached files", "附件")}>
      {uploads.map((u, i) => (
        <li key={u.key} data-phase={u.phase} class={u.preview ? "tile with-picture" : "tile"} draggable={uploads.length > 1} onDragStart={(e) => { dragged.current = u.key; e.dataTransfer!.effectAllowed = "move"; }}
          onDragOver={(e) => onDragOver(e, u)} onDragEnd={() => { dragged.current = ""; }} onDrop={(e) => { if (dragged.current) e.preventDefault(); }}>
          {u.preview ? <img src={u.preview} alt="" draggable={false} /> : <Icon name={/^image\//.test(u.type) ? "image" : "file"} />}
          <p><bdi>{u.name}</bdi><small role={u.phase === "failed" ? "alert" : undefined}>{progressOf(u)}</small></p>
          {u.phase === "failed" && <IconButton icon="again" label={say(`Retry ${u.name}`, `重试 ${u.name}`)} onClick={() => store.retry(group, u.key)} />}
          {uploads.length > 1 && <IconButton icon="list" data-move={u.key} label={say(`Move ${u.name}, ${i + 1} of ${uploads.length}`, `移动 ${u.name}，第 ${i + 1} 个，共 ${uploads.length} 个`)}
            title={say("Drag to another position, or use the arrow keys", "拖动或使用方向键调整顺序")} onKeyDown={(e) => onKeyDown(e, u)} onClick={() => store.move(group, u.key, i === uploads.length - 1 ? -i : 1)} />}
          <IconButton icon="close" label={say(`Remove ${u.name}`, `移除 ${u.name}`)} onClick={() => store.remove(group, u.key)} />
          {(u.phase === "sending" || u.phase === "waiting") && <progress max={u.size} value={u.sent} aria-label={say(`Upload of ${u.name}`, `正在上传 ${u.name}`)} />}
        </li>
      ))}
    </ul>
  );
});

function progressOf(u: Upload): string {
  switch (u.phase) {
    case "sending": return say(`${sizeOf(u.sent)} of ${sizeOf(u.size)}`, `${sizeOf(u.sent)} / ${sizeOf(u.size)}`);
    case "waiting": return say("Waiting…", "等待中…");
    case "failed": return u.problem ?? "";
    default: return sizeOf(u.size);
  }
}
