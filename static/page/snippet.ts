/** What was found of a message. Pure functions. */
import { plain } from "./markdown.ts";

/** A part of the text; found: it is what was searched for. */
export type Part = { text: string; found: boolean };

/** Characters of the private use area, which stand in the text for the ends of what was found while its marks are taken away. */
const FROM = "\uf8d0", TO = "\uf8d1";

/** A text as it reads, without its marks and with names for ids, in parts. marks: where each find begins and ends, in UTF-16 units. */
export function partsOf(text: string, marks: readonly (readonly number[])[], mentions: readonly string[] = [], nameOf?: (user: string) => string): Part[] {
  let held = "", at = 0;
  const upTo = (end: number) => { held += text.slice(at, end).replaceAll(/[\uf8d0\uf8d1]/g, "\ufffd"); at = end; };
  for (const [from = 0, to = 0] of marks) {
    upTo(from);
    held += FROM;
    upTo(to);
    held += TO;
  }
  upTo(text.length);
  let found = false;
  return plain(held, mentions, nameOf).split(/([\uf8d0\uf8d1])/).flatMap((text) => {
    if (text === FROM || text === TO) found = text === FROM;
    else if (text) return [{ text, found }];
    return [];
  });
}
