import { fileURLToPath } from "node:url";

/** @type {import("next").NextConfig} */
export default {
  // The packages and what this shares with the other peer lie one folder up.
  turbopack: { root: fileURLToPath(new URL("..", import.meta.url)) },
  poweredByHeader: false,
};
