import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// In the place of your backend, which knows who asks: CHATD_TOKEN is what `chatd token -user alice` prints.
const backend = { name: "token", configureServer: (server) => void server.middlewares.use("/token", (_, res) => res.end(process.env.CHATD_TOKEN)) };

export default defineConfig({ plugins: [react(), backend] });
