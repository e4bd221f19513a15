/** Lists of what waits for a decision in a group, for those who manage it. */
import { useEffect, useState } from "preact/hooks";
import { problemOf } from "./ui/confirm.tsx";

/** How many are shown at once; the others follow as these are decided. */
export const PAGE = 50;

type Page<T> = { readonly list: readonly T[]; readonly more: boolean };

/**
 * The open ones of a group, and how one is decided: the list is read again afterwards.
 * @param load reads the first page
 * @param follow calls again when another person may have decided, and returns how to stop
 * @param gone what is said where somebody else was first
 */
export function useDesk<T>(group: string, load: () => Promise<Page<T>>, gone: string, follow?: (again: () => void) => () => void) {
  const [page, setPage] = useState<Page<T>>({ list: [], more: false });
  const [problem, setProblem] = useState("");
  const look = (): Promise<void> => load().then(setPage, (err) => setProblem(problemOf(err)));
  useEffect(() => {
    void look();
    return follow?.(() => void look());
  }, [group]);
  function decide(run: () => Promise<unknown>): Promise<void> {
    setProblem("");
    return run().then(() => {}, (err) => setProblem(err.code === "not_found" ? gone : problemOf(err))).then(look);
  }
  return { ...page, problem, decide };
}
