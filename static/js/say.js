/** Texts in the reader's language: English or Chinese. */
const CHINESE = /^zh\b/i.test(navigator.language);

/** @param {string} english @param {string} chinese */
export const say = (english, chinese) => (CHINESE ? chinese : english);
