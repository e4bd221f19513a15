/** Looks at pictures. */
import type { FileInfo } from "@chatd/client";
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Download, whyNot } from "./files.tsx";
import { Dialog, IconButton, Problem } from "./parts.tsx";

/** Pictures as they were uploaded, one at a time. */
export function Viewer({ group, pictures, first, onClose }: { group: string; pictures: readonly FileInfo[]; first: FileInfo; onClose: () => void }) {
  const { chat } = useSession();
  const [at, setAt] = useState(Math.max(0, pictures.findIndex((p) => p.id === first.id)));
  const [url, setUrl] = useState("");
  const [problem, setProblem] = useState("");
  const file = pictures[at] ?? first;
  useEffect(() => {
    let made = "";
    let here = true;
    setUrl("");
    setProblem("");
    chat.group(group).file(file.id).then((blob) => {
      if (here) setUrl((made = URL.createObjectURL(blob)));
    }, (err) => here && setProblem(whyNot(err)));
    return () => {
      here = false;
      if (made) URL.revokeObjectURL(made);
    };
  }, [file.id]);
  const move = (step: number) => setAt((at + step + pictures.length) % pictures.length);
  function onKeyDown(e: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!step || pictures.length < 2) return;
    e.preventDefault();
    move(getComputedStyle(e.currentTarget as Element).direction === "rtl" ? -step : step);
  }
  return (
    <Dialog title={file.name} onClose={onClose}>
      <div class="viewer" onKeyDown={onKeyDown}>
        {problem ? <Problem text={problem} /> : url ? <img src={url} alt={file.name} onError={() => setProblem(say("This picture can’t be shown.", "无法显示此图片。"))} /> : <p class="quiet" role="status">{say("Loading…", "正在加载…")}</p>}
        <div class="viewer-foot">
          {pictures.length > 1 && <>
            <IconButton icon="back" label={say("Previous picture", "上一张")} onClick={() => move(-1)} />
            <span class="quiet" aria-live="polite">{`${at + 1} / ${pictures.length}`}</span>
            <IconButton icon="back" class="icon-button turned" label={say("Next picture", "下一张")} onClick={() => move(1)} />
          </>}
          <Download group={group} file={file} />
        </div>
      </div>
    </Dialog>
  );
}
