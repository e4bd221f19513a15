/** Texts in the reader's language. Each stands where it is shown, in all languages at once, so that none can lack one. */
import { prefs } from "./prefs.ts";

const wanted = prefs().language || navigator.language;
/** English with some letters doubled, one of each pair with an accent: about 40 % longer, for tests of the layout. */
const pseudo = new URLSearchParams(location.search).get("lang") === "pseudo";
export const language: "en" | "zh" = /^zh\b/i.test(wanted) ? "zh" : "en";
/** Of times and numbers: the language that was chosen, else as the browser has it. */
export const locale: string | undefined = prefs().language || undefined;

export function say(english: string, chinese: string): string {
  if (pseudo) return english.replaceAll(/[aeinouy]/g, (letter) => letter + "áéíñóúý"["aeinouy".indexOf(letter)]);
  return language === "zh" ? chinese : english;
}

/** A number with its noun: `counted(3, "member", "members", "名成员")` is "3 members" or "3 名成员". */
export const counted = (n: number, one: string, many: string, chinese: string): string =>
  `${n.toLocaleString(language)} ${say(n === 1 ? one : many, chinese)}`;
