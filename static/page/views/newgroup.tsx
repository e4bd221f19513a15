/** Making a group, and finding one that anyone may join. */
import { lazy } from "../ui/lazy.tsx";

export const NewGroup = lazy(() => import("./people.tsx").then((m) => m.Create));
export const Browse = lazy(() => import("./people.tsx").then((m) => m.Public));
