/** The rows of a conversation: what a timeline holds, with days, the mark of what is new, and the runs of one author. */
import type { Group } from "./group.js";
import type { FileInfo, GapItem, MessageItem, TimelineItem, TimelineState } from "./types.js";
import { avatar, h, icon, linked, say } from "./widget-dom.js";
import { tools } from "./widget-tools.js";
import type { Language } from "./widget-words.js";

/** Messages of one author that come this close together are a run: it has one head and one time. */
const RUN_MS = 5 * 60_000;

/** What rows are drawn with. */
export type Drawing = {
  me: string; group: Group; language: Language; direct: boolean;
  nameOf(user: string): string;
  /** Shows a message that is somewhere else. */
  jump(id: number): void;
  /** Asks for what a gap hides. false: there is none of it. */
  load(gap: GapItem): Promise<boolean>;
  /** Has a person write about a message. */
  write(about: "reply" | "edit", item: MessageItem): void;
};

/** A row as it is to be. A row of the same key is drawn anew where one of its parts is another. */
export type Row = { key: string; /** Of the message, 0: none. */ id: number; parts: readonly unknown[]; draw(): HTMLElement };

const isText = (i: TimelineItem | undefined): i is MessageItem => i?.type === "message" && i.kind !== "notice";

export function rowsOf({ items, unread }: TimelineState, d: Drawing): Row[] {
  const { language } = d;
  const shown = items.filter((i) => !(d.direct && i.type === "message" && i.kind === "notice")); // that the two of them are there says nothing
  const byId = new Map(shown.flatMap((i) => (i.type === "message" && i.id > 0 ? [[i.id, i]] : [])));
  const days = shown.map((i) => (i.type === "message" ? new Date(i.sent_at).toDateString() : ""));
  const mark = unread ? shown.findIndex((i) => i.type === "message" && i.id >= unread.id) : -1;
  const run = (i: number) => { // whether a message continues the run before it
    const [a, b] = [shown[i - 1], shown[i]];
    return isText(a) && isText(b) && a.from === b.from && days[i - 1] === days[i] && i !== mark && Date.parse(b.sent_at) - Date.parse(a.sent_at) < RUN_MS;
  };
  const rows: Row[] = [];
  const add = (key: string, kind: string, text: string, id = 0) => rows.push({ key, id, parts: [text], draw: () => marked(kind, text) });
  let day = "";
  shown.forEach((item, i) => {
    if (item.type === "gap") return void (item.to > 0 ? rows.push({ key: item.key, id: 0, parts: [item.from, item.to, language], draw: () => gapped(item, d) }) : add(item.key, "gap", language.gap));
    if (days[i] !== day) add(`day ${(day = days[i]!)}`, "day", language.day(item.sent_at));
    if (i === mark) add("unread", "new", language.unread);
    if (item.kind === "notice") return void add(item.key, "notice", language.notice(item, d.nameOf), item.id);
    const quoted = item.reply_to === undefined ? undefined : byId.get(item.reply_to);
    const place = { first: !run(i), last: !run(i + 1) };
    rows.push({ key: item.key, id: item.id, parts: [item, place.first, place.last, quoted, language, d.direct, d.nameOf(item.from), quoted && d.nameOf(quoted.from)], draw: () => message(item, place, quoted, d) });
  });
  return rows;
}

const marked = (kind: string, text: string) => h("div", { class: `mark ${kind}`, part: `mark mark-${kind}` }, h("bdi", {}, text));

/** Messages that are missing, and may be there by now. */
function gapped(item: GapItem, { language, load }: Drawing): HTMLElement {
  const text = h("bdi", { role: "status" }, language.missing);
  const button = h("button", { type: "button", class: "link", onclick: () => void run() }, language.load);
  const line = h("div", { class: "mark gap", part: "mark mark-gap", tabindex: "-1" }, h("span", {}, text, " ", button));
  async function run() {
    if (line.ariaBusy === "true") return;
    line.ariaBusy = "true";
    const before = line.previousElementSibling;
    const focused = line.matches(":focus-within");
    try {
      if (!(await load(item))) {
        say(text, language.gap);
        button.remove();
        if (focused) line.focus();
      } else if (focused) requestAnimationFrame(() => {
        let row = before?.nextElementSibling;
        while (row && !row.matches(".row")) row = row.nextElementSibling;
        (row as HTMLElement | undefined)?.focus({ preventScroll: true });
      });
    } catch {
      say(text, language.notLoaded);
      say(button, language.retry);
    }
    line.ariaBusy = "false";
  }
  return line;
}

function message(item: MessageItem, { first, last }: { first: boolean; last: boolean }, quoted: MessageItem | undefined, d: Drawing): HTMLElement {
  const { language, group } = d;
  const own = item.from === d.me;
  const name = own ? language.you : d.nameOf(item.from);
  const bubble = h("div", { class: "bubble", part: own ? "bubble bubble-own" : "bubble", title: language.full(item.sent_at) },
    item.reply_to !== undefined && !item.deleted_at && quote(item.reply_to, quoted, d), ...(item.deleted_at ? [] : (item.files ?? []).map((f) => file(f, language))), content(item, language));
  const reactions = [...item.reactions].map(([emoji, { count, mine }]) => h("button", {
    type: "button", class: "reaction", part: "reaction", "aria-pressed": String(mine), "aria-label": language.reactions(emoji, count),
    onclick: () => void group.react(item.id, emoji, !mine).catch(() => {}),
  }, h("span", {}, emoji), String(count)));
  const time = h("time", { datetime: item.sent_at }, language.time(item.sent_at));
  const classes = ["row", own && "own", first && "first", last && "last", item.state, item.deleted_at && "gone"];
  return h("div", { class: classes.filter(Boolean).join(" "), part: own ? "row row-own" : "row", tabindex: "-1", "data-id": item.id > 0 && item.id, "data-state": item.state },
    !own && !d.direct && h("span", { class: "face" }, first && avatar(item.from, name)),
    h("div", { class: "column" },
      h("span", { class: first && !own && !d.direct ? "author" : "unseen", part: "author" }, h("bdi", {}, name)),
      h("div", { class: "held" }, bubble, item.state === "sent" && item.id > 0 && !item.deleted_at && tools(item, own, d)), reactions.length > 0 && h("div", { class: "reactions" }, ...reactions), foot(item, last, time, d)));
}

/** What stands below a bubble: the time of a run, or what became of what was written here. */
function foot(item: MessageItem, last: boolean, time: HTMLElement, { language, group }: Drawing): HTMLElement {
  const key = item.client_id!;
  switch (item.state) {
    case "failed":
      return h("div", { class: "foot trouble", part: "trouble", role: "alert" }, icon("warn"), h("bdi", {}, language.failed(item.error?.detail ?? "")),
        h("button", { type: "button", class: "link", onclick: () => void group.retry(key).catch(() => {}) }, language.retry),
        h("button", { type: "button", class: "link", onclick: () => void group.discard(key).catch(() => {}) }, language.discard));
    case "queued":
    case "sending":
      return h("div", { class: last ? `foot ${item.state}` : "unseen", part: "time" }, icon("clock"), item.state === "queued" ? language.queued : language.sending);
    default: {
      const edited = item.edited_at !== undefined && item.deleted_at === undefined;
      return h("div", { class: last || edited ? "foot" : "unseen", part: "time" }, edited && h("span", {}, `${language.edited} ·`), time);
    }
  }
}

function content(item: MessageItem, language: Language): HTMLElement | null {
  if (item.deleted_at) return h("span", { class: "body" }, language.deleted);
  if (item.kind === "data") return h("pre", { class: "body", "aria-label": language.data, tabindex: "0" }, JSON.stringify(item.data, null, 2));
  return item.body ? h("span", { class: "body", part: "body", dir: "auto" }, ...linked(item.body)) : null;
}

function quote(id: number, of: MessageItem | undefined, d: Drawing): HTMLElement {
  const { language } = d;
  const text = !of ? language.original : of.deleted_at ? language.deleted : of.body || of.files?.map((f) => f.name).join(", ") || language.data;
  return h("button", { type: "button", class: "quote", part: "quote", title: language.original, onclick: () => d.jump(id) },
    of && h("strong", {}, h("bdi", {}, of.from === d.me ? language.you : d.nameOf(of.from))), h("span", {}, h("bdi", {}, text)));
}

const file = ({ name, size }: FileInfo, language: Language) =>
  h("span", { class: "file", part: "file" }, icon("file"), h("span", { class: "unseen" }, language.file), h("bdi", {}, name), h("small", {}, bytes(size, language.tag)));

function bytes(n: number, tag: string): string {
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, n)) / 10));
  const unit = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"][power]!;
  return new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 }).format(n / 1024 ** power);
}
