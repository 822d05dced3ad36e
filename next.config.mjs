import createNextIntlPlugin from "next-intl/plugin";

const withIntl = createNextIntlPlugin("./src/app/intl/request.ts");

/** Not in TypeScript: the server reads it too, and would compile it at its first page. @type {import("next").NextConfig} */
const config = {
  poweredByHeader: false,
  reactStrictMode: true,
  // Nothing uses it: without this, /_next/image resizes pictures for everybody.
  images: { unoptimized: true },
  // script/test checks types, of everything at once.
  typescript: { ignoreBuildErrors: true, tsconfigPath: "tsconfig.pages.json" },
  experimental: {
    authInterrupts: true,
    serverActions: { bodySizeLimit: "64kb" },
  },
};

export default withIntl(config);
