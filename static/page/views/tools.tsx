/** What can be done with a message: one toolbar, at the row that is under the pointer or has the focus, and a menu. */
import { useRef } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { say } from "../say.ts";
import { EmojiPicker } from "../ui/emoji.tsx";
import { recentEmoji } from "../ui/emoji-table.ts";
import { lazy } from "../ui/lazy.tsx";
import { IconButton, Popover } from "../ui/parts.tsx";
import { useRoving } from "../ui/roving.ts";
import type { RowActions } from "./row.tsx";

const Menu = lazy(() => import("./menu.tsx").then((m) => m.Menu));

/** What is open at a row. */
export type Open = "" | "menu" | "picker" | "delete" | "block";

const USUAL = ["👍", "❤️", "😂"];

/** The emoji that are offered first. */
const quick = (): string[] => [...new Set([...recentEmoji(), ...USUAL])].slice(0, USUAL.length);

export function Tools({ item, mine, manages, open, on }: { item: MessageItem; mine: boolean; manages: boolean; open: Open; on: RowActions }) {
  const roving = useRoving<HTMLDivElement>();
  const close = () => on.show(item.key, "");
  // A press closes what is open before its click arrives: that click must not open it again.
  const pressed = useRef<Open>("");
  const toggle = (what: Open) => ({
    "aria-expanded": open === what, "aria-haspopup": true,
    onPointerDown: () => { pressed.current = open; },
    onClick: () => {
      on.show(item.key, pressed.current === what ? "" : what);
      pressed.current = "";
    },
  });
  return (
    <>
      <div class="tools" role="toolbar" aria-label={say("Actions for this message", "消息操作")} {...roving}>
        {quick().map((emoji) => (
          <button type="button" key={emoji} class="icon-button quick" aria-label={say(`React with ${emoji}`, `用 ${emoji} 回应`)} onClick={() => on.react(item, emoji)}>{emoji}</button>
        ))}
        <IconButton icon="smile" label={say("Add reaction", "添加回应")} {...toggle("picker")} />
        {on.thread && <IconButton icon="thread" class="icon-button in-thread" label={say("Reply in thread", "在消息列中回复")} onClick={() => on.thread!(item)} />}
        <IconButton icon="reply" label={say("Reply", "回复")} onClick={() => on.reply(item)} />
        <IconButton icon="more" label={say("More actions", "更多操作")} {...toggle("menu")} />
      </div>
      {open === "picker" && (
        <Popover anchor={roving.ref} name="picker" label={say("Pick a reaction", "选择回应")} onClose={close}>
          <EmojiPicker onPick={(emoji) => on.react(item, emoji)} onClose={close} />
        </Popover>
      )}
      {open === "menu" && <Menu item={item} mine={mine} manages={manages} on={on} anchor={roving.ref} onClose={close} />}
    </>
  );
}
