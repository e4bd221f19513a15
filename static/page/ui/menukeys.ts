/** The arrows, in a menu. */
export function menuKeys(e: KeyboardEvent): void {
  const buttons = [...(e.currentTarget as HTMLElement).querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[e.key];
  e.stopPropagation();
  if (to === undefined) return;
  e.preventDefault();
  buttons.at(to % buttons.length)?.focus();
}
