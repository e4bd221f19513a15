/** The button of a group for what one wants to be notified of; on a narrow screen for all that its head has no room for. */
import { useRef, useState } from "preact/hooks";
import { useMuted } from "../muted.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { lazy } from "../ui/lazy.tsx";
import { IconButton } from "../ui/parts.tsx";

const GroupMenu = lazy(() => import("./menu.tsx").then((m) => m.GroupMenu), () => null);

export function Level({ group, all = false, direct = false }: { group: string; all?: boolean; direct?: boolean }) {
  const muted = useMuted(useSession().me, group);
  const [open, setOpen] = useState(false);
  const pressed = useRef(false); // a press closes the menu before its click arrives
  const ref = useRef<HTMLSpanElement>(null);
  const label = all ? say("More", "更多") : say("Notifications of this group", "此群组的通知");
  return (
    <span ref={ref} class="group-more">
      <IconButton icon={all ? "more" : muted ? "bell-off" : "bell"} label={label} aria-expanded={open} aria-haspopup="menu"
        onPointerDown={() => { pressed.current = open; }} onClick={() => { setOpen(!pressed.current); pressed.current = false; }} />
      {open && <GroupMenu anchor={ref} group={group} label={label} all={all} direct={direct} onClose={() => setOpen(false)} />}
    </span>
  );
}
