/** The files that go with the next message: how far each is, and what can be done about it. */
import { sizeOf } from "../format.ts";
import { say } from "../say.ts";
import { Icon, IconButton } from "../ui/parts.tsx";
import { memo } from "../ui/memo.ts";
import type { Upload, Uploads } from "../uploads.ts";

export const Attached = memo(({ group, uploads, store }: { group: string; uploads: readonly Upload[]; store: Uploads }) => (
  <ul class="attached" aria-label={say("Attached files", "附件")}>
    {uploads.map((u) => (
      <li key={u.key} data-phase={u.phase} class={u.preview ? "tile with-picture" : "tile"}>
        {u.preview ? <img src={u.preview} alt="" /> : <Icon name={/^image\//.test(u.type) ? "image" : "file"} />}
        <p><bdi>{u.name}</bdi><small role={u.phase === "failed" ? "alert" : undefined}>{progressOf(u)}</small></p>
        {u.phase === "failed" && <IconButton icon="again" label={say(`Retry ${u.name}`, `重试 ${u.name}`)} onClick={() => store.retry(group, u.key)} />}
        <IconButton icon="close" label={say(`Remove ${u.name}`, `移除 ${u.name}`)} onClick={() => store.remove(group, u.key)} />
        {(u.phase === "sending" || u.phase === "waiting") && <progress max={u.size} value={u.sent} aria-label={say(`Upload of ${u.name}`, `正在上传 ${u.name}`)} />}
      </li>
    ))}
  </ul>
));

function progressOf(u: Upload): string {
  switch (u.phase) {
    case "sending": return say(`${sizeOf(u.sent)} of ${sizeOf(u.size)}`, `${sizeOf(u.sent)} / ${sizeOf(u.size)}`);
    case "waiting": return say("Waiting…", "等待中…");
    case "failed": return u.problem ?? "";
    default: return sizeOf(u.size);
  }
}
