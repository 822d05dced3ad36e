import { join } from "node:path";
import { expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it.each(["a$b", 'a"b', "a`b", "a\\b", "a\nb"])(
  "refuses a data folder whose path a shell changes: %j",
  async (name) => {
    const dataDir = join(await temporaryFolder(), name);
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(
      /^DATA_DIR: .* must not contain .*, e\.g\. DATA_DIR=\/var\/lib\/tollgate$/,
    );
  },
);

it("starts in a data folder with spaces and other characters in its path", async () => {
  const dataDir = join(await temporaryFolder(), "it's (a) földer -p 1; & *");
  const postgres = await startEmbeddedPostgres(dataDir);
  await postgres.stop();
});
