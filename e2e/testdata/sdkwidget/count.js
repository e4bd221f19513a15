// Counts what the widget must not leave behind: sockets that are open, and timers that will fire.
globalThis.sockets = new Set();
globalThis.timers = new Set();
globalThis.opened = 0;

globalThis.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args);
    opened++;
    sockets.add(this);
    this.addEventListener("close", () => sockets.delete(this));
  }
};
const ofTheWidget = () => new Error().stack.includes("widget.js");
const { setTimeout: after, setInterval: every } = globalThis;
globalThis.setTimeout = (run, ms, ...args) => {
  const timer = after(() => {
    timers.delete(timer);
    run(...args);
  }, ms);
  if (ofTheWidget()) timers.add(timer);
  return timer;
};
globalThis.setInterval = (run, ms, ...args) => {
  const timer = every(run, ms, ...args);
  if (ofTheWidget()) timers.add(timer);
  return timer;
};
for (const name of ["clearTimeout", "clearInterval"]) {
  const clear = globalThis[name];
  globalThis[name] = (timer) => {
    timers.delete(timer);
    clear(timer);
  };
}
