/** Quiet cards of what the links of a message lead to. Pictures are not loaded: that would show the linked site who reads, and when. */
import type { Chatd, MessageItem } from "@chatd/client";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { useSyncExternal } from "../hooks.ts";
import { createCards, enclosed, hostOf, linksIn } from "../linkcards.ts";
import { usePrefs } from "../prefs.ts";
import { say } from "../say.ts";
import { closed, useSession } from "../session.ts";
import { IconButton } from "../ui/parts.tsx";
import "../whole.ts";

type Cards = ReturnType<typeof createCards>;
const all = new WeakMap<Chatd, Cards>();

function cardsOf(chat: Chatd): Cards {
  const cards = all.get(chat) ?? createCards(chat);
  all.set(chat, cards);
  return cards;
}

export function LinkCards({ item: { group, id, body = "" }, mine, tab }: { item: MessageItem; mine: boolean; tab: number }) {
  const { chat, toast } = useSession();
  const { previews: wanted } = usePrefs();
  const cards = cardsOf(chat);
  const links = useMemo(() => linksIn(body), [body]);
  const known = useSyncExternal(cards.subscribe, cards.known);
  const hidden = useSyncExternal(cards.subscribe, () => cards.isHidden(group, id));
  const shown = wanted && !hidden && links.length > 0;
  useLayoutEffect(() => { if (shown) cards.want(group, id, links); }, [shown, group, id, links]);
  if (!shown) return null;
  function hide(): void {
    cards.hide(group, id);
    const without = mine ? links.reduce((text, link) => enclosed(text, link) ?? text, body) : body;
    toast(say("Preview hidden for you.", "已为您隐藏预览。"), without === body ? {}
      : { action: { label: say("Hide for everyone", "对所有人隐藏"), run: () => void chat.group(group).edit(id, { body: without }).catch(closed) } });
  }
  return (
    <>
      {links.map((link) => {
        const p = known.get(link);
        return p && (
          <div key={link} class="data-card link-card" data-link={link}>
            <p class="data-type" dir="ltr">{hostOf(link)}</p>
            <a class="data-title" href={link} title={link} target="_blank" rel="noopener noreferrer" tabIndex={tab} dir="auto">{p.title}</a>
            {p.description && <p class="link-about" dir="auto">{p.description}</p>}
            <IconButton icon="close" label={say("Hide preview", "隐藏预览")} tabIndex={tab} onClick={hide} />
          </div>
        );
      })}
    </>
  );
}
