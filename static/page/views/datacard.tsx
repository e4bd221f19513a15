/** Data of a program, as a card. */
import type { Card } from "../cards.ts";
import { elided } from "../markdown.ts";
import { say } from "../say.ts";

export function DataCard({ card: { type, title, link, rows, more }, tab, onAll }: { card: Card; tab: number; onAll: () => void }) {
  return (
    <div class="data-card">
      <p class="data-type" dir="auto">{type}</p>
      {title && <p class="data-title" dir="auto">{title}</p>}
      {rows.length > 0 && <dl>{rows.map(([key, value]) => <div key={key}><dt dir="auto">{key}</dt><dd dir="auto">{value}</dd></div>)}</dl>}
      {link && <a href={link} title={link} target="_blank" rel="noopener noreferrer" tabIndex={tab}>{elided(link)}</a>}
      {more && <button type="button" class="text-button show-all" tabIndex={tab} onClick={onAll}>{say("Show all of it", "显示全部数据")}</button>}
    </div>
  );
}
