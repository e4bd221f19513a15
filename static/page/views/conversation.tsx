/** One group: its head, its messages, who is typing, and the place to write. */
import { useRef, useState } from "preact/hooks";
import type { Target } from "../drafts.ts";
import { useSnapshot } from "../hooks.ts";
import { openPanel, pathOf } from "../route.ts";
import { usePeople } from "../people.ts";
import { peerOf, titleOf } from "../groups.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { GroupFace, Icon, IconButton } from "../ui/parts.tsx";
import { Composer } from "./composer.tsx";
import { Timeline } from "./timeline.tsx";
import { Typing } from "./typing.tsx";

/** What the composer is about: a message that is answered or edited. */
export type About = { kind: "reply" | "edit"; item: Target } | null;

export function Conversation({ group: id, at }: { group: string; at?: number | undefined }) {
  const { me } = useSession();
  const people = usePeople();
  const group = useSnapshot((s) => s.groups.find((g) => g.id === id));
  const [about, setAbout] = useState<About>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  if (!group) return <NotIn id={id} />;
  const title = titleOf(group, me, people);
  const peer = peerOf(group, me);
  return (
    <>
      <header class="pane-head group-head">
        <a class="icon-button back" href={pathOf({ view: "home" })} aria-label={say("Back to groups", "返回群组列表")}><Icon name="back" /></a>
        <GroupFace group={group} title={title} />
        <div class="group-title">
          <h2 title={peer ?? group.id} dir="auto">{title}</h2>
          <p class="quiet">{peer ? people.known.get(peer)?.status || peer
            : `${group.visibility === "public" ? say("Public", "公开") : say("Private", "私密")} · ${counted(group.members, "member", "members", "名成员")}`}</p>
        </div>
        <IconButton icon="search" label={say("Search in this group", "在此群组中搜索")} onClick={() => openPanel("search")} />
        <IconButton icon="people" label={say("Members", "成员")} onClick={() => openPanel("members")} />
        {!peer && <IconButton icon="gear" label={say("Group settings", "群组设置")} onClick={() => openPanel("settings")} />}
      </header>
      <Timeline key={`${id} ${at ?? ""}`} group={group} at={at} onAbout={(next) => { setAbout(next); input.current?.focus(); }} />
      <Typing group={id} />
      <Composer group={group} title={title} about={about} onAbout={setAbout} input={input} />
    </>
  );
}

/** The address names a group that the person is not in, or that is gone. */
function NotIn({ id }: { id: string }) {
  const known = useSnapshot((s) => s.connection.phase === "live" || s.groups.length > 0);
  if (!known) return <div class="nothing" />;
  return (
    <div class="nothing">
      <h2>{say("You’re not in this group", "您不在此群组中")}</h2>
      <p class="quiet">{say("There is no group", "没有群组")} <bdi>{id}</bdi> {say("among yours. It may be private, or gone.", "。它可能是私密的，或已被删除。")}</p>
      <p class="buttons"><a class="button" href={pathOf({ view: "browse" })}>{say("Browse public groups", "浏览公开群组")}</a></p>
    </div>
  );
}
