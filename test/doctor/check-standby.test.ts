import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { openDatabase } from "../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../src/store/embedded/embedded.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serverVariables } from "../support/variables.ts";

it("calls a database broken while its commits wait for a standby that is away", async () => {
  const postgres = await startEmbeddedPostgres(await temporaryFolder());
  cleanedUp(() => postgres.stop());
  const administrator = openDatabase({
    url: postgres.adminUrl,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  cleanedUp(() => administrator.close());
  const run = (text: string) => administrator.run({ name: "", text });
  const setStandbys = async (names: string) => {
    await run(`alter system set synchronous_standby_names = '${names}'`);
    await run("select pg_reload_conf()");
    await eventually(() => run("show synchronous_standby_names"), [{ synchronous_standby_names: names }]);
  };
  const standby = async () => {
    const { findings } = await checkDatabase(readConfig(serverVariables(postgres.url)));
    return findings.filter(({ check }) => check === "standby");
  };
  expect(await standby()).toEqual([]);
  await setStandbys("two");
  expect(await standby()).toMatchObject([
    {
      state: "broken",
      detail: expect.stringContaining("no standby confirms commits (synchronous_standby_names is 'two')"),
    },
  ]);
  const waiting = "select count(*)::int as waiting from pg_stat_activity where wait_event = 'SyncRep'";
  await eventually(() => run(waiting), [{ waiting: 0 }]);
  await setStandbys("");
  expect(await standby()).toEqual([]);
});
