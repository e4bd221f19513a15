/** People and settings: one file for all of it, loaded when some of it is first shown. */
import "../whole.ts";

export { Create, Public } from "./create.tsx";
export { Members } from "./members.tsx";
export { OfAuthor } from "./ofauthor.tsx";
export { Outside } from "./outside.tsx";
export { You } from "./me/you.tsx";
export { Settings } from "./settings.tsx";
export { PeopleField, usersOf } from "../ui/people-field.tsx";
export { begin } from "../notify.ts";
