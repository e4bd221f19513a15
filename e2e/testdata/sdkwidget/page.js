// A page that embeds the widget: what the address says becomes attributes of it.
const { token, pageLang, sdk, ...attributes } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
if (pageLang) document.documentElement.lang = pageLang;

const getToken = async () => token;
globalThis.heard = [];
globalThis.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (e) => refusedByPolicy.push(`${e.violatedDirective} ${e.blockedURI}`));
for (const name of ["message", "unread", "group", "toggle", "failed", "error", "signed-out"]) {
  document.addEventListener(`chatd-${name}`, ({ type, detail }) => heard.push({ type, ...JSON.parse(JSON.stringify(detail)) }));
}

/** Puts a widget into the page. */
globalThis.put = (more) => {
  const chat = document.createElement("chatd-chat");
  for (const [name, value] of Object.entries(more)) chat.setAttribute(name, value);
  if (!more["token-url"]) chat.getToken = getToken;
  document.body.append(chat);
  return chat;
};
globalThis.chat = put(attributes); // before it is defined
await import(sdk ?? `${attributes.url}/sdk/widget.js`);
