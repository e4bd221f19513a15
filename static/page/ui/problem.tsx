/** What went wrong, beside what it concerns. */
export const Problem = ({ text }: { text: string }) => (text ? <p class="problem" role="alert">{text}</p> : null);
