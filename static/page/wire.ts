/** What stands between the client and the network: it passes everything on. */
import type { Options } from "@chatd/client";

export const wire: Pick<Options, "fetch" | "WebSocket"> = {};
