/** What is in the picker of emoji: a field to search by name, groups, a grid, and the tone of skin. */
import "../whole.ts";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { say } from "../say.ts";
import { type Emoji, find, loadEmoji, recentEmoji, setTone, toneNow, usedEmoji, withTone } from "./emoji-table.ts";
import type { PickerProps } from "./emoji.tsx";
import { memo } from "./memo.ts";

/** More are not looked at: one writes another letter. */
const FOUND_MAX = 180;
const HANDS = ["✋", "✋🏻", "✋🏼", "✋🏽", "✋🏾", "✋🏿"];

let all: readonly Emoji[] = [];
/** Fulfilled when the table is there; to be awaited before the picker is drawn. */
export const ready = async (): Promise<void> => void (all = await loadEmoji());

const groups = (): [icon: string, name: string][] => [
  ["🕘", say("Last used", "最近使用")], ["😀", say("Smileys", "笑脸")], ["👋", say("People", "人物")], ["🐻", say("Nature", "自然")], ["🍔", say("Food", "食物")],
  ["🚗", say("Travel", "旅行")], ["⚽", say("Activities", "活动")], ["💡", say("Objects", "物品")], ["❤️", say("Symbols", "符号")], ["🏁", say("Flags", "旗帜")],
];

export function Picker({ onPick, onClose }: PickerProps) {
  const [query, setQuery] = useState("");
  const [group, setGroup] = useState(0);
  const [tone, pickTone] = useState(toneNow);
  const [at, setAt] = useState(0);
  const [inGrid, setInGrid] = useState(true); // arrows to the sides move in the grid, else in the text
  const field = useRef<HTMLInputElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const shown = query.trim() ? find(all, query).slice(0, FOUND_MAX) : group > 0 ? all.filter((e) => e.group === group - 1) : recent();
  const active = Math.min(at, shown.length - 1);
  useEffect(() => grid.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active, group, query]);

  function pick(e: Emoji): void {
    const char = withTone(e, tone);
    usedEmoji(char);
    onPick(char);
    onClose();
  }
  const picked = useRef(pick);
  picked.current = pick;
  const [onCell] = useState(() => (e: Emoji) => picked.current(e));

  function onKeyDown(e: KeyboardEvent): void {
    if (e.isComposing) return;
    const rtl = getComputedStyle(field.current!).direction === "rtl" ? -1 : 1;
    const columns = getComputedStyle(grid.current!).gridTemplateColumns.split(" ").length;
    const step = { ArrowUp: -columns, ArrowDown: columns, ...((inGrid || !query) && { ArrowLeft: -rtl, ArrowRight: rtl }) }[e.key];
    if (step) {
      setAt(Math.max(0, Math.min(shown.length - 1, active + step)));
      setInGrid(true);
    } else if (e.key === "Enter") {
      if (shown[active]) pick(shown[active]);
    } else {
      return;
    }
    e.preventDefault();
  }
  return (
    <>
      <input ref={field} type="search" class="emoji-search" role="combobox" aria-expanded="true" aria-controls="emoji-grid" aria-activedescendant={active >= 0 ? `emoji-${active}` : undefined} data-focus list={undefined}
        aria-label={say("Search emoji", "搜索表情")} placeholder={say("Search emoji", "搜索表情")} value={query} dir="auto" onKeyDown={onKeyDown}
        onInput={(e) => { setQuery(e.currentTarget.value); setAt(0); setInGrid(false); }} />
      <div class="emoji-groups" role="group" aria-label={say("Groups", "分类")}>
        {groups().map(([icon, name], i) => (
          <button key={icon} type="button" aria-pressed={!query && i === group} aria-label={name} title={name} onClick={() => { setGroup(i); setQuery(""); setAt(0); grid.current!.scrollTop = 0; field.current?.focus(); }}>{icon}</button>
        ))}
      </div>
      <div ref={grid} class="emoji-grid" id="emoji-grid" role="listbox" aria-label={say("Emoji", "表情")}>
        {shown.map((e, i) => <Cell key={e.char} emoji={e} n={i} tone={tone} active={i === active} onPick={onCell} />)}
        {shown.length === 0 && <p class="quiet">{say("No emoji is called so", "没有找到表情")}</p>}
      </div>
      <div class="emoji-foot">
        <span class="quiet">{shown[active]?.name ?? ""}</span>
        <button type="button" class="emoji-tone" aria-label={say(`Skin tone ${tone + 1} of 6`, `肤色 ${tone + 1}/6`)} title={say("Skin tone", "肤色")}
          onClick={() => { const next = (tone + 1) % HANDS.length; setTone(next); pickTone(next); }}>{HANDS[tone]}</button>
      </div>
    </>
  );
}

/** Those used last, in the tone that they were used in. */
function recent(): Emoji[] {
  return recentEmoji().map((char) => {
    const plain = char.replace(/[\u{1F3FB}-\u{1F3FF}]/u, "");
    const known = all.find((e) => e.char === char || e.char.replaceAll("\uFE0F", "") === plain.replaceAll("\uFE0F", ""));
    return { char, toned: false, name: known?.name ?? char, names: "", group: -1 };
  });
}

const Cell = memo(({ emoji, n, tone, active, onPick }: { emoji: Emoji; n: number; tone: number; active: boolean; onPick: (e: Emoji) => void }) => (
  <button type="button" tabIndex={-1} id={`emoji-${n}`} role="option" aria-selected={active} aria-label={emoji.name} title={emoji.name} onClick={() => onPick(emoji)}>{withTone(emoji, tone)}</button>
));
