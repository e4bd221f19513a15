// Makes emoji.js and emoji-zh.js of the folder OUT from an unpacked npm emojibase-data: node scripts/emoji-table.mjs DATA OUT
import fs from "node:fs";
const dir = process.argv[2], out = process.argv[3];
const read = (p) => JSON.parse(fs.readFileSync(`${dir}/${p}`));
const en = read("en/data.json"), zh = new Map(read("zh/data.json").map((e) => [e.hexcode, e]));
const codes = read("en/shortcodes/github.json");
/** Without the components. Newer emoji than of this version are boxes on most machines. */
const groups = [0, 1, 3, 4, 5, 6, 7, 8, 9];
const VERSION = 15;
const lines = [], zhLines = [];
for (const g of groups) {
  const rows = [], zrows = [], flags = [];
  for (const e of en.filter((e) => e.group === g && e.version <= VERSION).sort((a, b) => a.order - b.order)) {
    if (/^(1F1[EF][0-9A-F]-?){2}$/.test(e.hexcode)) { // a flag of a country: browsers know the names of the regions
      flags.push([...e.emoji].map((c) => String.fromCharCode(c.codePointAt(0) - 0x1F1E6 + 65)).join(""));
      continue;
    }
    const names = [e.label.toLowerCase()];
    for (const c of [codes[e.hexcode] ?? []].flat()) {
      const words = c.replaceAll("_", " ");
      const known = names[0].split(/[\s:,-]+/);
      // Only what the name does not say by itself.
      if (!words.split(" ").every((w) => known.some((k) => k.startsWith(w) || w.startsWith(k))) && !/clock\d/.test(c)) names.push(words);
    }
    const [light, ...tones] = e.skins?.filter((s) => typeof s.tone === "number") ?? [];
    const [first, ...rest] = e.emoji;
    const simple = tones.length === 4 && first + "\u{1F3FB}" + rest.join("").replace(/^\uFE0F/, "") === light.emoji;
    const emoji = /^\p{Emoji_Presentation}\uFE0F$/u.test(e.emoji) ? first : e.emoji;
    rows.push(`${emoji}${simple ? "*" : ""} ${names.join(",")}`);
    zrows.push(zh.get(e.hexcode)?.label ?? "");
  }
  if (flags.length) rows.push(`+ ${flags.join("")}`);
  lines.push(rows.join("\n")); zhLines.push(zrows.join("\n"));
}
const bt = "`";
fs.writeFileSync(`${out}/emoji.js`, `// Generated from emojibase-data: see README.md. An emoji a line, * where it takes a skin tone behind its first code point, and its names; an empty line between groups; + and the regions whose flags end the last one.\nexport const table = ${bt}${lines.join("\n\n")}${bt};\n`);
fs.writeFileSync(`${out}/emoji-zh.js`, `// Generated from emojibase-data: see README.md. The Chinese names, in the order of emoji.js.\nexport const names = ${bt}${zhLines.flatMap((l) => l.split("\n")).join("\n")}${bt};\n`);
