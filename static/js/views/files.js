/** The files of a message. Their bytes take the token of the sign-in, so the page fetches and draws them itself. */
import { sizeOf } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Icon, Problem, Sheet } from "./parts.js";

/** @typedef {import("../types.js").File} File */

/** Edge of a preview, px. */
const PREVIEW_PX = 640;
/** Width up to which a picture is drawn as it is, px: more than screens have. */
const WHOLE_PX = 4096;
/** A preview is fetched when it is this close to being seen. */
const NEAR = "400px";
/** A browser has read a download from memory by then. */
const SAVED_MS = 60_000;

/** @param {{files: File[], on: any}} props */
export const Files = ({ files, on }) => html`
  <ul class="files" aria-label="Files">
    ${files.map((f) => html`<li key=${f.id}>${f.width && f.height ? html`<${Picture} file=${f} on=${on} />` : html`<${Download} file=${f} load=${on.file} />`}</li>`)}
  </ul>`;

/** A button that downloads a file. @param {{file: File, load: (id: string, as: string) => Promise<Blob>}} props */
function Download({ file, load }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function download() {
    setBusy(true);
    setProblem("");
    try {
      keep(await load(file.id, "inline=1"), file.name);
    } catch (/** @type {any} */ err) {
      setProblem(err.status === 404 ? "This file is no longer available." : err.message);
    }
    setBusy(false);
  }
  return html`
    <button type="button" class="file" disabled=${busy} aria-label="Download ${file.name}, ${sizeOf(file.size)}" onClick=${download}>
      <${Icon} name=${busy ? "clock" : "file"} /><span class="file-name">${file.name}</span><small>${busy ? "Downloading…" : sizeOf(file.size)}</small></button>
    <${Problem} text=${problem} />`;
}

/** Hands bytes to the browser as a download. @param {Blob} blob @param {string} name */
function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}

/** The preview of a picture, which opens the picture. One that cannot be shown is a file like any other. @param {{file: File, on: any}} props */
function Picture({ file, on }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    const near = new IntersectionObserver(([seen]) => {
      if (!seen.isIntersecting) return;
      near.disconnect();
      on.file(file.id, "size=preview").then((/** @type {Blob} */ blob) => paint(element, blob)).catch(() => setFailed(true));
    }, { rootMargin: NEAR });
    near.observe(element);
    return () => near.disconnect();
  }, []);
  if (failed) return html`<${Download} file=${file} load=${on.file} />`;
  const { width = 1, height = 1 } = file;
  const scale = Math.min(1, PREVIEW_PX / Math.max(width, height));
  return html`
    <button type="button" class="picture" aria-label="Open picture ${file.name}" title=${file.name} onClick=${() => on.picture(file)}>
      <canvas ref=${canvas} width=${Math.ceil(width * scale)} height=${Math.ceil(height * scale)} aria-hidden="true"></canvas></button>`;
}

/**
 * Draws a picture: the policy of the page has no place for pictures from memory.
 * @param {HTMLCanvasElement} canvas @param {Blob} blob @param {ImageBitmapOptions} [options]
 */
async function paint(canvas, blob, options) {
  const bitmap = await createImageBitmap(blob, options);
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  bitmap.close();
  canvas.dataset.painted = "";
}

/** A picture as it was uploaded. @param {any} props */
export function PictureSheet({ actions, group, file, onClose }) {
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const [problem, setProblem] = useState("");
  const load = (/** @type {string} */ id, /** @type {any} */ as) => actions.file(group, id, as);
  useEffect(() => {
    load(file.id, "inline=1").then((/** @type {Blob} */ blob) => canvas.current && paint(canvas.current, blob, file.width > WHOLE_PX ? { resizeWidth: WHOLE_PX, resizeQuality: "high" } : {}))
      .catch((/** @type {any} */ err) => setProblem(err.code ? err.message : "This picture can’t be shown."));
  }, []);
  return html`
    <${Sheet} title=${file.name} onClose=${onClose}>
      ${problem ? html`<${Problem} text=${problem} />`
        : html`<canvas class="whole-picture" ref=${canvas} role="img" aria-label=${file.name}></canvas>`}
      <${Download} file=${file} load=${load} />
    </${Sheet}>`;
}
