/** Messages that are being written: what a client holds of one grows with each piece. */
import { type Entry, around } from "./log.js";
import { keyOf } from "./state.js";
import type { Draft } from "./sync.js";

/** A text with a piece at an offset, in bytes of UTF-8; undefined: what is between is missing. */
export function grown(text: string, offset: number, piece: string): string | undefined {
  const bytes = new TextEncoder().encode(text);
  if (offset > bytes.length) return undefined;
  if (offset + new TextEncoder().encode(piece).length <= bytes.length) return text;
  return new TextDecoder().decode(bytes.subarray(0, offset)) + piece;
}

/** A frame of a message that is being written: a piece, or the whole text. Where one is missing, the end brings all. */
export async function streamed(d: Draft, f: { group: string; id: number; offset?: number; append?: string; body?: string }): Promise<void> {
  const held = d.s.groups.get(f.group)?.log.held ?? [];
  const e: Entry | undefined = around(held, f.id) && (await d.entry(f.group, f.id));
  if (e?.stream !== true) return;
  const body = f.body ?? grown(e.body ?? "", f.offset ?? 0, f.append ?? "");
  if (body !== undefined && body !== e.body) d.put(keyOf.entry(f.group, f.id), { ...e, body });
}
