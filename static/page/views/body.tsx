/** What a message says: its text as Markdown, or its data. All of it becomes text of elements. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { MessageItem } from "@chatd/client";
import { cardOf } from "../cards.ts";
import { elided, parse, type Block, type Inline } from "../markdown.ts";
import { ALL } from "../mentions.ts";
import { usePerson } from "../people.ts";
import { say } from "../say.ts";
import { memo } from "../ui/memo.ts";
import { IconButton } from "../ui/parts.tsx";
import { DataCard } from "./datacard.tsx";

/** A text longer than this is shown in part. */
const LINES_MAX = 24;
const LETTERS_MAX = 2000;
/** The same of data, which is shown with two spaces a level. */
const DATA_LINES = 8;
/** Emoji alone are large, up to so many letters of code. */
const EMOJI_MAX = 48;
const EMOJI = new RegExp("^(?:\\p{RGI_Emoji}\\s?){1,8}$", "v");

/** A new line, or as many letters as a line has. */
const isLong = (text: string, lines: number): boolean => text.length > LETTERS_MAX || text.split("\n", lines + 1).length > lines;

/** @param tab tabIndex of what is in it */
export const Body = memo(({ item, me, tab }: { item: MessageItem; me: string; tab: number }) => {
  const { body, data, mentions } = item;
  const blocks = useMemo(() => (body === undefined ? [] : parse(body, mentions)), [body, mentions]);
  const [all, setAll] = useState(false);
  const card = useMemo(() => (body === undefined ? cardOf(data) : null), [body, data]);
  const json = useMemo(() => (body === undefined && data !== undefined ? JSON.stringify(data, null, 2) : ""), [body, data]);
  if (body === undefined && data === undefined) return null;
  if (card && !all) return <DataCard card={card} tab={tab} onAll={() => setAll(true)} />;
  const long = !all && isLong(body ?? json, body === undefined ? DATA_LINES : LINES_MAX);
  const shape = (kind: string) => `${kind}${long ? " long" : ""}`;
  const only = blocks.length === 1 ? blocks[0] : undefined;
  return (
    <>
      {body === undefined ? <pre class={shape("data")} dir="ltr">{long ? json.slice(0, 4 * LETTERS_MAX) : json}</pre>
        : only?.type === "text" ? <p class={shape(body.length <= EMOJI_MAX && EMOJI.test(body.trim()) ? "body emoji" : "body")} dir="auto">{inlines(only.inline, me, tab)}</p>
          : <div class={shape("body")} dir="auto">{blocks.map((b, i) => <Part key={i} block={b} me={me} tab={tab} />)}</div>}
      {long && <button type="button" class="text-button show-all" tabIndex={tab} onClick={() => setAll(true)}>{say("Show all", "显示全部")}</button>}
    </>
  );
});

function Part({ block: b, me, tab }: { block: Block; me: string; tab: number }) {
  switch (b.type) {
    case "text": return <p dir="auto">{inlines(b.inline, me, tab)}</p>;
    case "heading": return <p class="heading" dir="auto"><strong>{inlines(b.inline, me, tab)}</strong></p>;
    case "quote": return <blockquote>{b.blocks.map((inner, i) => <Part key={i} block={inner} me={me} tab={tab} />)}</blockquote>;
    case "code": return <Code language={b.language} text={b.text} tab={tab} />;
    case "list": {
      const items = b.items.map((inline, i) => <li key={i} dir="auto">{inlines(inline, me, tab)}</li>);
      return b.from === null ? <ul>{items}</ul> : <ol start={b.from}>{items}</ol>;
    }
  }
}

function Code({ language, text, tab }: { language: string; text: string; tab: number }) {
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true), () => {});
  return (
    <div class="code" dir="ltr" data-language={language || undefined}>
      <pre aria-label={language || say("Code", "代码")}><code>{text}</code></pre>
      <IconButton icon={copied ? "check" : "copy"} label={copied ? say("Copied", "已复制") : say("Copy", "复制")} tabIndex={tab} onClick={copy} />
    </div>
  );
}

function inlines(inline: readonly Inline[], me: string, tab: number): ComponentChildren {
  return inline.map((p) => {
    if (typeof p === "string") return p;
    switch (p.type) {
      case "strong": return <strong>{inlines(p.inline, me, tab)}</strong>;
      case "em": return <em>{inlines(p.inline, me, tab)}</em>;
      case "del": return <del>{inlines(p.inline, me, tab)}</del>;
      case "code": return <code dir="ltr">{p.text}</code>;
      case "link": return <a href={p.href} title={p.href} target="_blank" rel="noopener noreferrer" tabIndex={tab}>{elided(p.text)}</a>;
      case "mention": return p.user === ALL ? <bdi class="mention self">{ALL}</bdi> : <Mention user={p.user} self={p.user === me} />;
    }
  });
}

function Mention({ user, self }: { user: string; self: boolean }) {
  const { label } = usePerson(user);
  return <bdi class={self ? "mention self" : "mention"} title={user}>@{label}</bdi>;
}
