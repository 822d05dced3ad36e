import type { NextConfig } from "next";
import createNextIntlPlugin from "next-intl/plugin";

const withIntl = createNextIntlPlugin("./src/app/intl/request.ts");

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  // script/test checks types, of everything at once.
  typescript: { ignoreBuildErrors: true, tsconfigPath: "tsconfig.pages.json" },
  experimental: {
    authInterrupts: true,
    serverActions: { bodySizeLimit: "64kb" },
  },
};

export default withIntl(config);
