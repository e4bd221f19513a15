// What a test needs of the browser, in windows of the page and in its service worker. given.real: the browser shows notifications. The
// headless shell of Chromium has none: then this keeps what would be shown. Both note what was shown, and no browser without a
// person has a push service: given.push is the subscription that there would be, null for none.
(given) => {
  const inWindow = "document" in self;
  const kept = async (name) => (await (await caches.match(`/${name}`, { cacheName: "test" }))?.json()) ?? [];
  let turn = Promise.resolve();
  const change = (name, how) => (turn = turn.then(async () => (await caches.open("test")).put(`/${name}`, new Response(JSON.stringify(how(await kept(name)))))));

  const { prototype } = ServiceWorkerRegistration;
  const { showNotification } = prototype;
  prototype.showNotification = async function (title, options) {
    await change("notified", (all) => [...all, { title, ...options }]);
    if (given.real) await showNotification.call(this, title, options);
    else await change("shown", (all) => [...all.filter((n) => n.tag !== options.tag), { title, ...options }]);
  };
  if (!given.real) {
    prototype.getNotifications = async ({ tag } = {}) => (await kept("shown")).filter((n) => !tag || n.tag === tag)
      .map((n) => ({ ...n, close: () => change("shown", (all) => all.filter((other) => other.tag !== n.tag)) }));
  }

  if (!inWindow) {
    // A window may only be focused or opened by a click of a person, which no protocol makes.
    WindowClient.prototype.focus = function () { return change("focused", (all) => [...all, this.url]).then(() => this); };
    Clients.prototype.openWindow = (path) => change("opened", (all) => [...all, path]).then(() => null);
    addEventListener("message", async ({ data, ports: [port] }) => {
      if (!data.click) return;
      const [notification] = await registration.getNotifications({ tag: data.click });
      let done;
      dispatchEvent(Object.assign(new Event("notificationclick"), { notification, waitUntil: (promise) => { done = promise; } }));
      await done;
      port.postMessage(true);
    });
    return;
  }

  const request = Notification.requestPermission;
  self.askedFor = 0;
  Notification.requestPermission = async () => {
    self.askedFor++;
    return given.real ? request.call(Notification) : Notification.permission;
  };
  if (!given.real) Object.defineProperty(Notification, "permission", { get: () => localStorage.getItem("test.permission") ?? "default" });

  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)).buffer;
  const subscription = (key) => ({
    endpoint: given.push.endpoint, options: { applicationServerKey: bytes(key) }, toJSON: () => given.push,
    unsubscribe: async () => (localStorage.removeItem("test.key"), true),
  });
  PushManager.prototype.getSubscription = async () => (localStorage.getItem("test.key") ? subscription(localStorage.getItem("test.key")) : null);
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (!given.push || !userVisibleOnly) throw new DOMException("Registration failed - push service not available", "AbortError");
    localStorage.setItem("test.key", applicationServerKey);
    return subscription(applicationServerKey);
  };
};
