/** Files that are dragged over the page. */
import { useRef, useState } from "preact/hooks";
import { useEvent } from "../hooks.ts";

/** Takes files that are dropped anywhere on the page, while it takes any; returns whether some are being dragged over it. */
export function useDrop(takes: boolean, drop: (files: FileList) => void): boolean {
  const [over, setOver] = useState(false);
  const depth = useRef(0); // each element that is entered is one that is left
  const files = (e: DragEvent): boolean => takes && !!e.dataTransfer?.types.includes("Files");
  const set = (n: number) => {
    depth.current = Math.max(0, n);
    setOver(depth.current > 0);
  };
  useEvent<DragEvent>(window, "dragenter", (e) => files(e) && set(depth.current + 1));
  useEvent<DragEvent>(window, "dragleave", (e) => files(e) && set(depth.current - 1));
  useEvent<DragEvent>(window, "dragover", (e) => files(e) && e.preventDefault());
  useEvent<DragEvent>(window, "drop", (e) => {
    if (!files(e)) return;
    e.preventDefault();
    set(0);
    drop(e.dataTransfer!.files);
  });
  return over;
}
