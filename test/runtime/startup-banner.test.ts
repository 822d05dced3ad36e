import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { startupBanner } from "../../src/runtime/startup-banner.ts";

it("names commands that a shell takes as they are, whatever the folder is called", () => {
  const banner = startupBanner(readConfig({ DATA_DIR: "/srv/it's ours", PORT: "3080" }), {
    url: "http://localhost:3080",
    simulatorUrl: null,
  });
  expect(banner).toContain("    PORT=3080 DATA_DIR='/srv/it'\\''s ours' npm run -s tollgate -- doctor\n");
});

it("names the provider of a slot that has not the default one: commands sign what the server verifies", () => {
  const variables = { PROVIDER_A_ADAPTER: "paddle", PROVIDER_B_ADAPTER: "paddle" };
  const banner = startupBanner(readConfig(variables), { url: "http://localhost:3000", simulatorUrl: null });
  expect(banner).toContain(
    "    PROVIDER_A_ADAPTER=paddle npm run -s tollgate -- simulate --slot provider-a --events 200\n",
  );
});
