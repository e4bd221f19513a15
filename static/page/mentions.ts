/** Whom a message mentions. */

/** What stands for all members among the mentions of a message. */
export const ALL = "@all";
export const isFor = (m: { mentions?: readonly string[] | undefined }, user: string): boolean => !!m.mentions?.some((one) => one === user || one === ALL);
