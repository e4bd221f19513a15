/** Lists of what waits for a decision in a group, for those who manage it. */
import type { Message } from "@chatd/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSession } from "./session.ts";
import { problemOf } from "./ui/confirm.tsx";

/** How many are shown at once; the others follow as these are decided. */
export const PAGE = 50;
/** Nothing tells managers what is new, or what another one has dismissed: a list that is shown is read again after this. */
const EVERY_MS = 15_000;
/** And sooner after a message that tells, but not more often than this. */
const APART_MS = 3000;

type Page<T> = { readonly list: readonly T[]; readonly more: boolean };

/**
 * The open ones of a group, kept up to date, and how one is decided.
 * @param load reads the first page
 * @param gone what is said where somebody else was first
 * @param tells whether a message of the group says that somebody has decided
 */
export function useDesk<T>(group: string, load: () => Promise<Page<T>>, gone: string, tells: (m: Message, list: readonly T[]) => boolean) {
  const { chat } = useSession();
  const [page, setPage] = useState<Page<T> & { failure: string }>({ list: [], more: false, failure: "" });
  const [problem, setProblem] = useState("");
  const latest = useRef(0);
  const held = useRef({ page, tells });
  held.current = { page, tells };
  async function look(): Promise<void> {
    const mine = ++latest.current;
    const next = await load().then((now) => ({ ...now, failure: "" }), (err) => ({ ...held.current.page, failure: problemOf(err) }));
    if (mine === latest.current) setPage(next);
  }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let at = 0;
    const run = () => {
      timer = setTimeout(run, EVERY_MS);
      // Where a button is about to be pressed, another one must not come under the pointer.
      if (document.visibilityState !== "visible" || (at > 0 && document.querySelector(".requests button:hover"))) return;
      at = Date.now();
      void look();
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(run, Math.max(0, at + APART_MS - Date.now()));
    };
    run();
    const stop = chat.on("message", (m) => m.group === group && held.current.tells(m, held.current.page.list) && soon());
    document.addEventListener("visibilitychange", soon);
    return () => {
      latest.current++;
      clearTimeout(timer);
      stop();
      document.removeEventListener("visibilitychange", soon);
    };
  }, [chat, group]);
  function decide(run: () => Promise<unknown>): Promise<void> {
    setProblem("");
    return run().then(() => {}, (err) => setProblem(err.code === "not_found" ? gone : problemOf(err))).then(look);
  }
  return { list: page.list, more: page.more, problem: problem || page.failure, decide, look };
}
