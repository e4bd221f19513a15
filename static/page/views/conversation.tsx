/** One group: its head, its messages, who is typing, and the place to write. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { GroupState } from "@chatd/client";
import type { Target } from "../drafts.ts";
import { useHere, useKnown, useNarrow, useSnapshot } from "../hooks.ts";
import { close, openPanel, useRoute, type Panel } from "../route.ts";
import { usePeople } from "../people.ts";
import { peerOf, titleOf } from "../groups.ts";
import { useMembers } from "../members.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { star, useStarred } from "../starred.ts";
import type { IconName } from "../ui/icons.ts";
import { lazy } from "../ui/lazy.tsx";
import { memo } from "../ui/memo.ts";
import { Avatar, Back, Face, IconButton } from "../ui/parts.tsx";
import { useRoving } from "../ui/roving.ts";
import { Composer } from "./composer.tsx";
import { Level } from "./level.tsx";
import { Timeline } from "./timeline.tsx";
import { Typing } from "./typing.tsx";

const Outside = lazy(() => import("./people.tsx").then((m) => m.Outside));
const Held = lazy(() => import("./there.tsx").then((m) => m.Held), () => null);
const PeerLine = lazy(() => import("./there.tsx").then((m) => m.PeerLine), ({ about }: { user: string; about: string }) => about);

const FACES = 3;

/** What of a group counts for writing in it. */
export type Written = Pick<GroupState, "id" | "members"> & { [K in "post" | "slow_s" | "mention_all" | "muted_until"]: GroupState[K] | undefined };

/** What the composer is about: a message that is answered or edited. */
export type About = { kind: "reply" | "edit"; item: Target } | null;

export function Conversation({ group: id, at }: { group: string; at?: number | undefined }) {
  const { me } = useSession();
  const people = usePeople();
  const group = useSnapshot((s) => s.groups.find((g) => g.id === id));
  const known = useKnown();
  const [about, setAbout] = useState<About>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  // A message changes the group, and nothing of this.
  const { post, members, slow_s, mention_all, muted_until } = group ?? {};
  const written = useMemo((): Written => ({ id, post, slow_s, mention_all, muted_until, members: members ?? 0 }), [id, post, slow_s, mention_all, muted_until, members]);
  const member = useRef("");
  if (group) member.current = id;
  const here = useHere(id);
  if (!group && !known) return <div class="nothing" />; // what is shown outside a group is a file of its own
  if (!group) return <Outside group={id} left={member.current === id} />;
  const title = titleOf(group, me, people);
  const peer = peerOf(group, me);
  return (
    <>
      <Head group={written} title={title} peer={peer} named={!!group.name} about={peer ? people.known.get(peer)?.status || peer
        : `${group.visibility === "public" ? say("Public", "公开") : say("Private", "私密")} · ${counted(group.members, "member", "members", "名成员")}${here > 1 ? say(` · ${here} here`, ` · ${here} 人在看`) : ""}`} />
      <Timeline key={`${id} ${at ?? ""}`} group={group} at={at} onAbout={(next) => { setAbout(next); input.current?.focus(); }} />
      <Typing group={id} />
      {group.queued > 0 && <Held group={id} />}
      <Composer group={written} title={title} about={about} onAbout={setAbout} input={input} />
    </>
  );
}

/** named: it has a name, where its other person (peer) is no title. */
const Head = memo(({ group, title, peer, named, about }: { group: Written; title: string; peer: string | undefined; named: boolean; about: string }) => (
  <header class="pane-head group-head">
    <Back />
    {peer && !named ? <Avatar user={peer} /> : <Face id={group.id} label={title} square />}
    <div class="group-title">
      <h1 title={peer ?? group.id} dir="auto">{title}</h1>
      <p class="quiet">{!peer && <Faces group={group} />}{peer ? <PeerLine user={peer} about={about} /> : about}</p>
    </div>
    <Tools group={group.id} direct={peer !== undefined} />
  </header>
));

/** A few of whom one would write to. */
function Faces({ group }: { group: Written }) {
  const { me } = useSession();
  const { list } = useMembers(group);
  return <span class="faces" aria-hidden="true">{list.filter((m) => m.user !== me).slice(0, FACES).map((m) => <Avatar key={m.user} user={m.user} small />)}</span>;
}

/** What can be opened beside the conversation: on a narrow screen, where there is room for few, most of it is in a menu. */
function Tools({ group, direct }: { group: string; direct: boolean }) {
  const { me, features } = useSession();
  const route = useRoute();
  const roving = useRoving<HTMLDivElement>();
  const starred = useStarred(me).includes(group);
  const narrow = useNarrow();
  const panel = (name: Panel, icon: IconName, label: string) => {
    const open = route.view === "group" && route.panel === name;
    return <IconButton icon={icon} label={label} aria-expanded={open} data-open={name}
      onClick={() => (open ? close({ view: "group", group }) : openPanel(name))} />;
  };
  return (
    <div class="group-tools" role="toolbar" aria-label={say("Group", "群组")} {...roving}>
      {!narrow && <IconButton icon="star" class="icon-button star-toggle" aria-pressed={starred} onClick={() => star(me, group, !starred)}
        label={starred ? say("Remove from favourites", "移出收藏") : say("Add to favourites", "加入收藏")} />}
      {!narrow && <Level key={group} group={group} />}
      {!narrow && features.includes("search") && panel("search", "search", say("Search in this group", "在此群组中搜索"))}
      {!narrow && panel("pins", "pin", say("Pinned messages", "置顶消息"))}
      {!narrow && panel("files", "file", say("Files", "文件"))}
      {panel("members", "people", say("Members", "成员"))}
      {!narrow && !direct && panel("settings", "gear", say("Group settings", "群组设置"))}
      {narrow && <Level key={group} group={group} all direct={direct} />}
    </div>
  );
}
