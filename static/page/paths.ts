/** What the server answers with this page, beside its root: those of web/pages.go. */
export const PATHS = /^\/(c|dm|inbox|threads|scheduled|me|new|browse|search)(\/|$)/;
