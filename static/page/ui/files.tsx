/** The files of a message. Their bytes take the token of the sign-in, so the page fetches them itself. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chatd, FileInfo } from "@chatd/client";
import { sizeOf } from "../format.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { lazy } from "./lazy.tsx";
import { memo } from "./memo.ts";
import { Icon, Problem } from "./parts.tsx";

/** Edges of the picture in a row, px: the preview has 640. */
const WIDTH_MAX = 360;
const HEIGHT_MAX = 320;
/** A preview is fetched when it is this close to being seen. */
const NEAR = "400px";
/** Previews that are kept for rows that come back. */
const PREVIEWS_MAX = 100;
/** A browser has read a download from memory by then. */
const SAVED_MS = 60_000;

export const Viewer = lazy(() => import("../views/places.tsx").then((m) => m.Viewer));

export const isPicture = (f: FileInfo): boolean => !!f.width && !!f.height;

/** Pictures first, as people look at them, then the rest. */
export const Files = memo(({ group, files }: { group: string; files: readonly FileInfo[] }) => {
  const [open, setOpen] = useState<FileInfo | null>(null);
  const pictures = files.filter(isPicture);
  return (
    <>
      <ul class="files" data-pictures={pictures.length} aria-label={say("Files", "文件")}>
        {pictures.map((f) => <li key={f.id}><Picture group={group} file={f} onOpen={setOpen} /></li>)}
        {files.filter((f) => !isPicture(f)).map((f) => <li key={f.id}><Download group={group} file={f} /></li>)}
      </ul>
      {open && <Viewer group={group} pictures={pictures} first={open} onClose={() => setOpen(null)} />}
    </>
  );
});

/** A button that downloads a file. */
export function Download({ group, file }: { group: string; file: FileInfo }) {
  const { chat } = useSession();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function download(): Promise<void> {
    setBusy(true);
    setProblem("");
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await chat.group(group).file(file.id));
      link.download = file.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
    } catch (err) {
      setProblem(whyNot(err));
    }
    setBusy(false);
  }
  return (
    <>
      <button type="button" class="file" disabled={busy} title={say(`Download ${file.name}`, `下载 ${file.name}`)} onClick={() => void download()}>
        <Icon name={busy ? "clock" : "file"} /><span class="unseen">{say("Download", "下载")} </span><bdi class="file-name">{file.name}</bdi>
        <small>{busy ? say("Downloading…", "正在下载…") : sizeOf(file.size)}</small></button>
      <Problem text={problem} />
    </>
  );
}

export const whyNot = (err: unknown): string => ((err as { status?: number }).status === 404
  ? say("This file is no longer available.", "此文件已不存在。") : say("The file can’t be loaded. Try again.", "无法加载文件，请重试。"));

const previews = new WeakMap<Chatd, Map<string, Promise<string>>>();

/** The address of a preview in memory. */
function previewOf(chat: Chatd, group: string, id: string): Promise<string> {
  const kept = previews.get(chat) ?? new Map<string, Promise<string>>();
  previews.set(chat, kept);
  const key = `${group}\n${id}`;
  const url = kept.get(key) ?? chat.group(group).file(id, "preview").then((blob) => URL.createObjectURL(blob));
  kept.delete(key); // the newest are last
  kept.set(key, url);
  url.catch(() => kept.delete(key));
  for (const [old, gone] of kept) {
    if (kept.size <= PREVIEWS_MAX) break;
    kept.delete(old);
    void gone.then((u) => URL.revokeObjectURL(u), () => {});
  }
  return url;
}

/** The preview of a picture, which opens the picture. One that cannot be shown is a file like any other. */
export function Picture({ group, file, onOpen }: { group: string; file: FileInfo; onOpen: (file: FileInfo) => void }) {
  const { chat } = useSession();
  const frame = useRef<HTMLButtonElement>(null);
  const [url, setUrl] = useState("");
  const [failed, setFailed] = useState(false);
  const { width = 1, height = 1 } = file;
  useLayoutEffect(() => {
    if (!frame.current) return;
    const scale = Math.min(1, WIDTH_MAX / width, HEIGHT_MAX / height);
    frame.current.style.width = `${Math.max(48, Math.round(width * scale))}px`;
    frame.current.style.aspectRatio = `${width} / ${height}`;
  }, [width, height, failed]);
  useEffect(() => {
    let here = true;
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((s) => s.isIntersecting)) return;
      near.disconnect();
      previewOf(chat, group, file.id).then((u) => here && setUrl(u), () => here && setFailed(true));
    }, { rootMargin: NEAR });
    near.observe(frame.current!);
    return () => {
      here = false;
      near.disconnect();
    };
  }, []);
  if (failed) return <Download group={group} file={file} />;
  return (
    <button ref={frame} type="button" class="picture" aria-label={say(`Open picture ${file.name}`, `打开图片 ${file.name}`)} title={file.name} onClick={() => onOpen(file)}>
      {url && <img src={url} alt="" decoding="async" draggable={false} onError={() => setFailed(true)} />}
    </button>
  );
}
