/** The group that the address of the page names after its #, or "": so that a reload, a link and the way back work. */
export function addressed() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // not written by this page
  }
}
