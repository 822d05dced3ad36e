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
