/** What the list of messages shows, line by line: days, notices, gaps, "New", and messages in runs of one author. Pure functions. */
import type { GapItem, MessageItem, TimelineItem } from "@chatd/client";
import { dayKey } from "./format.ts";

export type MessageLine = { type: "message"; key: string; item: MessageItem; /** Whether a run of one author begins with it. */ head: boolean };
export type Line =
  | MessageLine
  | { type: "day"; key: string; at: string }
  | { type: "new"; key: string }
  | { type: "gap"; key: string; gap: GapItem }
  /** Notices, or messages that were deleted, in a row. */
  | { type: "notices" | "deleted"; key: string; items: MessageItem[] };

/** Messages of one author further apart than this do not stand together. */
const RUN_MS = 5 * 60_000;
/** As many notices or deleted messages in a row are one line, which opens. */
export const FOLDED_FROM = 3;

/** @param newFrom the id from which on messages are new, 0: none @param direct that two people are in their direct group needs no line */
export function linesOf(items: readonly TimelineItem[], newFrom: number, me: string, direct: boolean): Line[] {
  const lines: Line[] = [];
  let marked = newFrom === 0;
  let day = "";
  for (const item of items) {
    if (item.type === "gap") {
      lines.push({ type: "gap", key: item.key, gap: item });
      continue;
    }
    const notice = item.kind === "notice";
    if (notice && direct && (item.notice === "created" || item.notice === "joined")) continue;
    const today = dayKey(item.sent_at);
    if (today !== day) lines.push({ type: "day", key: `day-${today}`, at: item.sent_at });
    day = today;
    if (!marked && item.id >= newFrom && item.from !== me && !notice && !item.deleted_at) {
      lines.push({ type: "new", key: "new" });
      marked = true;
    }
    const last = lines.at(-1);
    const sort = notice ? "notices" : item.deleted_at ? "deleted" : "message";
    if (sort === "message") lines.push({ type: "message", key: item.key, item, head: !follows(last, item) });
    else if (last?.type === sort) {
      last.items.push(item);
      last.key = item.key; // the one that stays when older lines are loaded
    }
    else lines.push({ type: sort, key: item.key, items: [item] });
  }
  return lines;
}

function follows(last: Line | undefined, item: MessageItem): boolean {
  if (last?.type !== "message" || last.item.from !== item.from || item.reply_to) return false;
  return Date.parse(item.sent_at) - Date.parse(last.item.sent_at) < RUN_MS;
}

const idsOf = (line: Line): number => (line.type === "message" ? line.item.id : "items" in line ? line.items[0]!.id : 0);

/**
 * Up to which id each line has been read once it was on screen: what changes other messages has no line and counts with the line
 * before. @param to the last id that is shown
 */
export function upTo(lines: readonly Line[], to: number): Map<string, number> {
  const ids = new Map<string, number>();
  let last = to;
  for (const line of lines.toReversed()) {
    const id = idsOf(line);
    if (id === 0) continue;
    ids.set(line.key, last);
    last = id - 1;
  }
  return ids;
}

/**
 * Where each other member's reading ends: the last message shown, by somebody else than them, that they have read.
 * @param reads positions by member @param to positions above are outside of what is shown
 */
export function readMarks(lines: readonly Line[], reads: ReadonlyMap<string, number>, me: string, to: number): Map<string, string[]> {
  const shown = lines.filter((l): l is MessageLine => l.type === "message" && l.item.id > 0);
  const marks = new Map<string, string[]>();
  for (const [user, read] of reads) {
    if (user === me || read > to) continue;
    const key = shown.findLast((l) => l.item.id <= read && l.item.from !== user)?.key;
    if (key !== undefined) marks.set(key, [...(marks.get(key) ?? []), user]);
  }
  return marks;
}
