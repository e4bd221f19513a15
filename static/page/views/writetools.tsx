/** What stands beneath the text that is being written: files, emoji, the looks of a part, and sending. */
import { useRef, useState } from "preact/hooks";
import { say } from "../say.ts";
import { EmojiPicker } from "../ui/emoji.tsx";
import { Icon, IconButton, Popover } from "../ui/parts.tsx";
import { memo } from "../ui/memo.ts";
import { suggestions, whenText } from "./when.ts";

export type Look = "bold" | "italic" | "code" | "list" | "link";
export type ToolsProps = {
  /** Files can be attached. */
  attaches: boolean; editing: boolean; sendable: boolean;
  /** The message can be sent later: it has no files. */
  delays: boolean;
  onFiles: (files: FileList) => void; onEmoji: (emoji: string) => void; onLook: (look: Look) => void;
  /** Without a time a person wants to choose that, or after which one it disappears. */
  onLater: (at: Date | "when" | "vanish") => void;
};

const LOOKS = (): [Look, string, string, string][] => [
  ["bold", "B", say("Bold", "粗体"), "Ctrl+B"], ["italic", "I", say("Italic", "斜体"), "Ctrl+I"], ["code", "‹›", say("Code", "代码"), "Ctrl+E"],
  ["list", "", say("List", "列表"), ""], ["link", "", say("Link", "链接"), ""],
];

export const WriteTools = memo(({ attaches, editing, sendable, delays, onFiles, onEmoji, onLook, onLater }: ToolsProps) => {
  const [open, setOpen] = useState<"emoji" | "later" | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const emoji = useRef<HTMLSpanElement>(null);
  const later = useRef<HTMLSpanElement>(null);
  const close = () => setOpen(null);
  return (
    <div class="write-tools">
      {attaches && <>
        <input ref={chooser} type="file" multiple hidden onChange={(e) => { if (e.currentTarget.files) onFiles(e.currentTarget.files); e.currentTarget.value = ""; }} />
        <IconButton icon="clip" label={say("Attach files", "添加附件")} onClick={() => chooser.current?.click()} />
      </>}
      <span ref={emoji}><IconButton icon="smile" label={say("Insert emoji", "插入表情")} aria-expanded={open === "emoji"} onClick={() => setOpen(open ? null : "emoji")} /></span>
      {open === "emoji" && <Popover anchor={emoji} name="picker" label={say("Emoji", "表情")} onClose={close}><EmojiPicker onPick={onEmoji} onClose={close} /></Popover>}
      <span class="looks" role="group" aria-label={say("Formatting", "格式")}>
        {LOOKS().map(([look, sign, label, keys]) => (
          <button key={look} type="button" class={`icon-button look-${look}`} aria-label={label} title={keys ? `${label} (${keys})` : label} onMouseDown={(e) => e.preventDefault()} onClick={() => onLook(look)}>
            {sign || <Icon name={look === "list" ? "list" : "link"} />}</button>
        ))}
      </span>
      <span class="send-buttons">
        <button class="icon-button send" aria-label={editing ? say("Save changes", "保存修改") : say("Send message", "发送消息")} title={editing ? say("Save changes", "保存修改") : say("Send message", "发送消息")} disabled={!sendable}>
          <Icon name={editing ? "check" : "send"} /></button>
        {!editing && <>
          <span ref={later}><IconButton icon="chevron" class="icon-button later" label={say("Send later", "稍后发送")} aria-haspopup="menu" aria-expanded={open === "later"} disabled={!sendable || !delays} onClick={() => setOpen(open ? null : "later")} /></span>
          {open === "later" && (
            <Popover anchor={later} name="menu later-menu" label={say("Send later", "稍后发送")} role="menu" onClose={close}>
              {suggestions(new Date()).map(({ name, at }, i) => (
                <button key={name} type="button" role="menuitem" data-focus={i === 0 ? "" : undefined} onClick={() => { close(); onLater(at); }}>{name}<kbd>{whenText(at)}</kbd></button>
              ))}
              <button type="button" role="menuitem" onClick={() => { close(); onLater("when"); }}>{say("Choose a time…", "选择时间…")}</button>
              <button type="button" role="menuitem" onClick={() => { close(); onLater("vanish"); }}>{say("Disappears after…", "限时消息…")}</button>
            </Popover>
          )}
        </>}
      </span>
    </div>
  );
});
