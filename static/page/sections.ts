/** The list of groups in its order, cut into sections, and where each line of it stands. Pure functions. */
import type { GroupState } from "@chatd/client";

export type SectionName = "unread" | "starred" | "direct" | "groups" | "found";
export type Line = { readonly top: number; readonly height: number } & (
  | { readonly type: "head"; readonly section: SectionName; readonly count: number }
  | { readonly type: "group"; readonly section: SectionName; readonly group: GroupState; readonly title: string }
);
const ORDER: readonly SectionName[] = ["unread", "starred", "direct", "groups"];
const HEAD_PX = 30;
/** Lines beyond the visible ones, so that a turn of the wheel finds them drawn. */
const AROUND_PX = 400;

export const isUnread = (g: GroupState) => g.unread > 0 || g.mentions_unread > 0;

export type Asked = {
  groups: readonly GroupState[];
  titleOf: (g: GroupState) => string;
  starred: readonly string[];
  /** The group that is open stays in the section where it was when it was opened, while it is read and more arrives. */
  open: string;
  /** It was unread then. */
  openUnread: boolean;
  filter: string;
  rowPx: number;
};

/** Unread mentions are first of all; within a section the latest activity is first, as the client has them. */
export function linesOf({ groups, titleOf, starred, open, openUnread, filter, rowPx }: Asked): Line[] {
  const stars = new Set(starred);
  const sections = new Map<SectionName, { group: GroupState; title: string }[]>();
  const words = fold(filter).split(/\s+/).filter(Boolean);
  for (const group of groups) {
    const title = titleOf(group);
    let section = sectionOf(group, stars, group.id === open ? openUnread : isUnread(group));
    if (words.length > 0) {
      const text = fold(`${title} ${group.id}`);
      if (!words.every((w) => text.includes(w))) continue;
      section = "found";
    }
    const of = sections.get(section) ?? [];
    of.push({ group, title });
    sections.set(section, of);
  }
  sections.get("unread")?.sort((a, b) => Number(b.group.mentions_unread > 0) - Number(a.group.mentions_unread > 0));
  const lines: Line[] = [];
  let top = 0;
  for (const section of [...ORDER, "found"] as const) {
    const of = sections.get(section) ?? [];
    if (of.length === 0) continue;
    if (section !== "found" && (sections.size > 1 || section === "unread")) {
      lines.push({ type: "head", section, count: of.length, top, height: HEAD_PX });
      top += HEAD_PX;
    }
    for (const { group, title } of of) {
      lines.push({ type: "group", section, group, title, top, height: rowPx });
      top += rowPx;
    }
  }
  return lines;
}

function sectionOf(group: GroupState, starred: ReadonlySet<string>, unread: boolean): SectionName {
  return unread ? "unread" : starred.has(group.id) ? "starred" : group.direct ? "direct" : "groups";
}

export const fold = (text: string): string => text.normalize("NFKD").replaceAll(/\p{Mn}/gu, "").toLowerCase();

/** The lines that are drawn: those in sight and around it, and the one that the keyboard is at. */
export const drawnOf = (lines: readonly Line[], from: number, height: number, active: string): Line[] =>
  lines.filter((l) => (l.top + l.height > from - AROUND_PX && l.top < from + height + AROUND_PX) || (l.type === "group" && l.group.id === active));

/** How many unread groups stand out of sight. */
export function unreadBeyond(lines: readonly Line[], from: number, height: number): { above: number; below: number } {
  let [above, below] = [0, 0];
  for (const l of lines) {
    if (l.type !== "group" || !isUnread(l.group)) continue;
    if (l.top + l.height / 2 < from) above++;
    else if (l.top + l.height / 2 > from + height) below++;
  }
  return { above, below };
}
