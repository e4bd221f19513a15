/** Pictures of people, before they are uploaded. */
import { say } from "./say.ts";

/** The server takes 2 MiB, and makes a square of 256 pixels of it. */
const SEND_MAX = 1_500_000;
const EDGE = 512;

/** A picture as it is, or a smaller one of it: cameras make larger ones than the server takes. */
export async function smallEnough(file: File): Promise<Blob> {
  if (file.size <= SEND_MAX) return file;
  const picture = await createImageBitmap(file).catch(() => {
    throw new Error(say("This file is not a picture that can be read here.", "无法读取此图片文件。"));
  });
  const scale = Math.min(1, EDGE / Math.min(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const type = file.type === "image/png" || file.type === "image/webp" ? "image/png" : "image/jpeg";
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), type, 0.9));
}
