/** One group in the list. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { GroupState } from "@chatd/client";
import { useBlocked } from "../blocked.ts";
import { type Draft, useDraft } from "../drafts.ts";
import { shortTime } from "../format.ts";
import { useMuted } from "../muted.ts";
import { usePeople } from "../people.ts";
import { oneLine, previewOf } from "../preview.ts";
import { groupPath } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { lazy } from "../ui/lazy.tsx";
import { memo } from "../ui/memo.ts";
import { GroupFace, Icon } from "../ui/parts.tsx";

const Dot = lazy(() => import("./there.tsx").then((m) => m.Dot), () => null);

type Props = {
  group: GroupState; title: string; current: boolean; stop: boolean; starred: boolean; onStar: (group: string, on: boolean) => void;
  /** How the other person of a direct one is there. */
  there?: "online" | "away" | undefined;
};

/** What moves, as all rows do when one comes to the top, is drawn apart from what is in it. */
export const GroupRow = memo(({ top, ...shown }: Props & { top: number }) => {
  const ref = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => { ref.current!.style.insetBlockStart = `${top}px`; }, [top]);
  return <li ref={ref} class="group-line"><Shown {...shown} /></li>;
});

const Shown = memo(({ group: g, title, current, stop, starred, onStar, there }: Props) => {
  const at = g.last_message?.sent_at ?? g.created_at;
  const unread = g.unread > 0 || g.mentions_unread > 0;
  const draft = useDraft(current ? "" : g.id); // of what is open the composer shows it, with each key
  const muted = useMuted(useSession().me, g.id);
  return (
    <>
      <a class={`group-link${unread ? " unread" : ""}${muted ? " muted" : ""}`} href={groupPath(g.id)} data-group={g.id} aria-current={current ? "page" : undefined} tabIndex={stop ? 0 : -1}>
        <span class="face-there"><GroupFace group={g} title={title} />{there && <Dot state={there} />}</span>
        <span class="group-text">
          <span class="group-top">
            <span class="group-name" dir="auto">{title}</span>
            <time class="group-time" dateTime={at}>{shortTime(at)}</time>
          </span>
          <span class="group-bottom">
            <Last group={g} draft={draft} />
            {muted && <span class="mark" role="img" aria-label={say("Muted", "已静音")}><Icon name="bell-off" /></span>}
            <Marks group={g} draft={draft} />
          </span>
        </span>
      </a>
      <button type="button" class="icon-button star" tabIndex={-1} aria-pressed={starred} onClick={() => onStar(g.id, !starred)}
        aria-label={starred ? say(`Remove ${title} from favourites`, `将 ${title} 移出收藏`) : say(`Add ${title} to favourites`, `将 ${title} 加入收藏`)}><Icon name="star" /></button>
    </>
  );
});

/** Who is typing; else what of one's own was refused or is on its way, unless there is something to read; else what was said last. */
function Last({ group: g, draft }: { group: GroupState; draft: Draft | undefined }) {
  const { me } = useSession();
  const people = usePeople();
  const blocked = useBlocked();
  const typing = g.typing.find((u) => !blocked.has(u));
  if (typing) return <em class="group-last">{say(`${people.known.get(typing)?.name || typing} is typing…`, `${people.known.get(typing)?.name || typing} 正在输入…`)}</em>;
  const { who, text } = g.failed > 0 && g.unread === 0 ? { who: "", text: failedText(g.failed) }
    : g.waiting && g.unread === 0 ? { who: say("You", "您"), text: oneLine(g.waiting, people) }
    : draft && g.unread === 0 ? { who: say("Draft", "草稿"), text: draft.text.trim().slice(0, 120) || say("Attachment", "附件") } : previewOf(g, me, people, blocked);
  return <span class="group-last" dir="auto">{who && <><bdi>{who}</bdi>{say(": ", "：")}</>}{text}</span>;
}

const failedText = (n: number) => counted(n, "message not sent", "messages not sent", "条消息未发送");
const queuedText = (n: number) => counted(n, "message waits to be sent", "messages wait to be sent", "条消息等待发送");
const threadsText = (n: number) => counted(n, "unread reply in threads", "unread replies in threads", "条未读的消息列回复");

/** What waits, was refused, or is unread. */
function Marks({ group: g, draft }: { group: GroupState; draft: Draft | undefined }) {
  return (
    <>
      {draft && <span class="mark" role="img" aria-label={say("Draft", "草稿")}><Icon name="pencil" /></span>}
      {g.failed > 0 && <span class="mark failed" role="img" aria-label={failedText(g.failed)}><Icon name="again" /></span>}
      {g.queued > 0 && <span class="mark" role="img" aria-label={queuedText(g.queued)}><Icon name="clock" /></span>}
      {g.mentions_unread > 0 && <span class="badge at" aria-label={counted(g.mentions_unread, "unread mention", "unread mentions", "条未读提及")}>@</span>}
      {g.unread === 0 && !!g.threads_unread && <span class="mark threads" role="img" data-threads={g.threads_unread} title={threadsText(g.threads_unread)} aria-label={threadsText(g.threads_unread)}><Icon name="thread" />{g.threads_unread > 99 ? "99+" : g.threads_unread}</span>}
      {g.unread > 0 && <span class="badge" data-unread={g.unread} aria-label={counted(g.unread, "unread message", "unread messages", "条未读消息")}>{g.unread > 999 ? "999+" : g.unread}</span>}
    </>
  );
}
