import createNextIntlPlugin from "next-intl/plugin";
import { serverlessFiles } from "./script/serverless-files.mjs";

const withIntl = createNextIntlPlugin("./src/app/intl/request.ts");

const isServerless = process.env.TOLLGATE_TARGET === "serverless";

/** For hosts where Next.js serves pages and `/api` by itself: docs/how-to/deploy-serverless.md. */
const serverless = () => ({
  distDir: ".next-serverless",
  output: "standalone",
  // src/proxy.serverless.ts does what src/runtime/pages does in our server.
  pageExtensions: ["serverless.ts", "tsx", "ts"],
  outputFileTracingIncludes: { "/*": serverlessFiles() },
  // A redirected POST would lose its signature's bytes; the API answers such paths itself.
  skipTrailingSlashRedirect: true,
});

/** Not in TypeScript: the server reads it too, and would compile it at its first page. @type {import("next").NextConfig} */
const config = {
  poweredByHeader: false,
  generateBuildId: () => process.env.BUILD_ID ?? null,
  reactStrictMode: true,
  env: { TOLLGATE_TARGET: isServerless ? "serverless" : "server" },
  // Nothing uses it: without this, /_next/image resizes pictures for everybody.
  images: { unoptimized: true },
  // script/test checks types, of everything at once.
  typescript: { ignoreBuildErrors: true, tsconfigPath: "tsconfig.pages.json" },
  experimental: {
    authInterrupts: true,
    serverActions: { bodySizeLimit: "64kb" },
  },
  ...(isServerless ? serverless() : {}),
};

export default withIntl(config);
