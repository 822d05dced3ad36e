import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { startEmbeddedPostgres } from "../../src/store/embedded/embedded.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("warns where the disk of the embedded database has little room", async () => {
  const folder = await temporaryFolder();
  await (await startEmbeddedPostgres(folder)).stop();
  const diskWhere = async (minFreeBytes: number) => {
    const { findings } = await checkDatabase(readConfig({ DATA_DIR: folder }), { minFreeBytes });
    return findings.filter(({ check }) => check === "disk");
  };
  expect(await diskWhere(1)).toEqual([]);
  expect(await diskWhere(Number.POSITIVE_INFINITY)).toEqual([
    {
      check: "disk",
      state: "warning",
      detail: expect.stringMatching(/^\d+ MB are free for the database: when none is left, webhooks/),
      remedy: `Free space on the disk of ${folder}, or stop the server and move that folder to a larger one.`,
    },
  ]);
});
