/** What a person sets for themself. */
import { lazy } from "../ui/lazy.tsx";

export const Me = lazy(() => import("./people.tsx").then((m) => m.You));
