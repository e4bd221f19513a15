/** The views that operators seldom open: one file, loaded behind the first view. */
export { Audit } from "./audit.tsx";
export { Doctor } from "./doctor.tsx";
export { Keys, Users } from "./people.tsx";
export { Schedules } from "./schedules.tsx";
export { Announcements, Groups, Settings, Webhooks } from "./views.tsx";
