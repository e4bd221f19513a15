/**
 * The code of the development sign-in. It comes with the link that chatd prints when it starts, in the fragment, and is
 * taken out of the address at once, so that a copied address or a screenshot gives nothing away.
 */
import { load, save } from "./saved.js";

const FRAGMENT = /^#code=([\w-]+)$/;

/** Keeps the code of the address, if there is one. Before anything else reads the fragment. */
export function takeDevCode() {
  const found = FRAGMENT.exec(location.hash);
  if (!found) return;
  save("dev-code", found[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

export const devCode = () => load("dev-code") ?? "";
