/** Opens the direct group with a person, which takes the place of this address. */
import { useEffect, useState } from "preact/hooks";
import { go } from "../route.ts";
import { useSession } from "../session.ts";
import { Problem } from "../ui/parts.tsx";

export function Direct({ user }: { user: string }) {
  const { chat } = useSession();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let shown = true;
    chat.direct(user).then((group) => shown && go({ view: "group", group: group.id }, "replace"), (err) => shown && setProblem(err.message));
    return () => { shown = false; };
  }, [user]);
  return <div class="nothing">{problem && <h1><bdi>{user}</bdi></h1>}<Problem text={problem} /></div>;
}
