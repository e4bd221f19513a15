/** What a person can do with a message. */
import type { MessageItem } from "./types.js";
import { h, iconButton } from "./widget-dom.js";
import type { Drawing } from "./widget-rows.js";

const EMOJI = ["👍", "❤️", "😂", "🎉", "😮", "😢"];

/** Buttons that show where the message has the pointer or the focus. */
export function tools(item: MessageItem, own: boolean, { group, language, write }: Drawing): HTMLElement {
  const plain = { class: "tool" };
  const text = (label: string, name: string, onclick: () => void) => h("button", { type: "button", class: name, onclick }, label);
  const done = (work: Promise<unknown>) => {
    show(all);
    void work.catch(() => {});
  };
  const all = [
    iconButton("react", language.react, () => show(EMOJI.map((e) => text(e, "tool", () => done(group.react(item.id, e, !item.reactions.get(e)?.mine)))), "react"), plain),
    iconButton("reply", language.reply, () => write("reply", item), plain),
    ...(own && item.kind === "text" ? [iconButton("edit", language.edit, () => write("edit", item), plain)] : []),
    ...(own ? [iconButton("remove", language.remove, () => show([text(language.removeNow, "tool danger", () => done(group.delete(item.id)))], "remove"), plain)] : []),
  ];
  const bar = h("div", { class: "tools", part: "tools", role: "group", "aria-label": language.actions, onfocusout: (e: FocusEvent) => {
    if (!bar.contains(e.relatedTarget as Node | null) && bar.firstChild !== all[0]) {
      bar.replaceChildren(...all);
      delete bar.dataset.open;
    }
  } }, ...all);
  const show = (buttons: HTMLElement[], open = "") => {
    const were = [...bar.children];
    bar.append(...buttons);
    buttons[0]!.focus(); // before the others go, so that the focus stays within
    for (const b of were) if (!buttons.includes(b as HTMLElement)) b.remove();
    if (open) bar.dataset.open = open;
    else delete bar.dataset.open;
  };
  return bar;
}
