/** Small parts that several views share. */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GroupState } from "@chatd/client";
import { peerOf } from "../groups.ts";
import { usePerson } from "../people.ts";
import { useSession } from "../session.ts";
import { say } from "../say.ts";
import { ICONS, type IconName } from "./icons.ts";
import { memo } from "./memo.ts";

/** What points the way in which one reads: turned where that is from right to left. */
const TURNS = /^(back|forward|leave|list|reply|send)$/;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={TURNS.test(name) ? "icon turns" : "icon"} viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d={ICONS[name]} /></svg>
);

/** On a narrow screen, from a view to the list of groups. */
export const Back = () => <a class="icon-button back" href="/" aria-label={say("Back to groups", "返回群组列表")}><Icon name="back" /></a>;

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "label">;

/** A button that shows only an icon; its label is its name. */
export const IconButton = ({ icon, label, ...rest }: { icon: IconName; label: string } & ButtonProps) => (
  <button type="button" class="icon-button" aria-label={label} title={label} {...rest}><Icon name={icon} /></button>
);

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const first = (word: string) => [...graphemes.segment(word)][0]?.segment ?? "";

/** One or two letters of a name, or its letter and digit: "AM" for Alice Martin, "M7" for member-07, 王 for 王伟. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
  const [one = "?", two] = words;
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Arabic}/u.test(first(one))) return first(one);
  const digit = /(\d)\D*$/.exec(name)?.[1];
  if (digit && words.length < 3) return (first(one) + digit).toUpperCase();
  return (first(one) + (two ? first(two) : "")).toUpperCase();
}

/** One of twelve tints, always the same for an id. */
export function tintOf(id: string): number {
  let n = 7;
  for (const c of id) n = (n * 31 + c.codePointAt(0)!) >>> 0;
  return n % 12;
}

/** The picture of a person, or letters. */
export function Avatar({ user, small }: { user: string; small?: boolean }) {
  const { label, picture } = usePerson(user);
  return <Face id={user} label={label} picture={picture} small={small} />;
}

export const Face = memo(({ id, label, picture = "", small, square }: { id: string; label: string; picture?: string; small?: boolean | undefined; square?: boolean }) => {
  const [broken, setBroken] = useState("");
  return (
    <span class={`avatar tint-${tintOf(id)}${small ? " small" : ""}${square ? " square" : ""}`} aria-hidden="true">
      {picture && picture !== broken
        ? <img src={picture} alt="" decoding="async" draggable={false} onError={() => setBroken(picture)} />
        : initials(label)}
    </span>
  );
});

/** A group as a rounded square, or the other person of a direct one. */
export function GroupFace({ group, title }: { group: Pick<GroupState, "id" | "name" | "direct">; title: string }) {
  const { me } = useSession();
  const peer = peerOf(group, me);
  return peer && !group.name ? <Avatar user={peer} /> : <Face id={group.id} label={title} square />;
}

/** How a person is called, with the id where that looks like somebody else. */
export function Name({ user }: { user: string }) {
  const { label, alike } = usePerson(user);
  return <><bdi class="name" title={user}>{label}</bdi>{alike && <small class="id"> {user}</small>}</>;
}

export { Problem } from "./problem.tsx";

/** The frame of what opens beside a conversation, or over it where there is no room: no dialog, the rest stays usable. */
export function PanelFrame({ title, onClose, children, name }: { title: string; onClose: () => void; children?: ComponentChildren; name: string }) {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const panel = ref.current!;
    const opener = document.activeElement as HTMLElement | null;
    panel.focus({ preventScroll: true });
    return () => {
      const now = document.activeElement;
      if (opener?.isConnected && (!now || now === document.body || panel.contains(now))) opener.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside ref={ref} class="panel" data-panel={name} aria-label={title} tabIndex={-1}>
      <header class="panel-head"><h2>{title}</h2><IconButton icon="close" label={say("Close", "关闭")} onClick={onClose} /></header>
      <div class="panel-body">{children}</div>
    </aside>
  );
}

/** A modal dialog, for what has to be decided first. The browser keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children?: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current!;
    const opener = document.activeElement as HTMLElement | null;
    if (!dialog.open) dialog.showModal();
    return () => {
      dialog.close();
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={ref} class="dialog" aria-label={title} onMouseDown={(e) => e.target === ref.current && onClose()}
      onCancel={(e) => { e.preventDefault(); onClose(); }}>
      <div class="dialog-body">
        <header class="panel-head"><h2>{title}</h2><IconButton icon="close" label={say("Close", "关闭")} onClick={onClose} /></header>
        {children}
      </div>
    </dialog>
  );
}

const MARGIN_PX = 8;

/**
 * What opens beside an element and above everything else. Escape, a click elsewhere and the next one that opens close it: the
 * browser does that, and gives the focus back, which goes to what has data-focus.
 */
export function Popover({ anchor, name, label, role = "group", onClose, children }: {
  anchor: { readonly current: HTMLElement | null }; name: string; label: string; role?: "group" | "menu" | "listbox"; onClose: () => void; children?: ComponentChildren;
}) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current!;
    function place(): void {
      if (!anchor.current) return;
      const at = anchor.current.getBoundingClientRect();
      const { width, height } = box.getBoundingClientRect();
      const left = at.left + at.right < innerWidth ? at.left : at.right - width; // towards the middle
      const top = at.bottom + height + MARGIN_PX < innerHeight ? at.bottom + 4 : at.top - height - 4;
      box.style.left = `${Math.max(MARGIN_PX, Math.min(left, innerWidth - width - MARGIN_PX))}px`;
      box.style.top = `${Math.max(MARGIN_PX, top)}px`;
    }
    const toggled = (e: Event) => (e as ToggleEvent).newState === "closed" && onClose();
    box.showPopover();
    place();
    box.querySelector<HTMLElement>("[data-focus]")?.focus();
    box.addEventListener("toggle", toggled);
    addEventListener("resize", place);
    addEventListener("scroll", place, true);
    return () => {
      // What was chosen closes it: the focus goes to what it was about, and from there to what opens next.
      if (box.contains(document.activeElement)) (anchor.current?.closest<HTMLElement>(".message") ?? anchor.current?.querySelector<HTMLElement>("button") ?? anchor.current)?.focus({ preventScroll: true });
      box.removeEventListener("toggle", toggled);
      removeEventListener("resize", place);
      removeEventListener("scroll", place, true);
    };
  }, []);
  return <div ref={ref} popover="auto" class={`popover ${name}`} role={role} aria-label={label}>{children}</div>;
}
