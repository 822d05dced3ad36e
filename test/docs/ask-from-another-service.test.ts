import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { startTestServer } from "../support/server.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const PAGE = new URL("../../docs/how-to/ask-from-another-service.md", import.meta.url);

let test: TestDatabase;
let server: RunningServer;
let folder: string;
beforeAll(async () => {
  test = await freshDatabase(0);
  server = await startTestServer(test.url, GENEROUS_LIMITS);
  folder = await mkdtemp(join(tmpdir(), "tollgate-docs-"));
});
afterAll(async () => {
  await server?.close();
  await test?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

it("the code of the page runs as printed", async () => {
  const page = await readFile(PAGE, "utf8");
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  expect(blocks).toHaveLength(3);
  const program = join(folder, "program.ts");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(program, blocks.join("\n"));
  const { key } = await createServiceKey(test, {
    permissions: ["users:write", "entitlements:read", "usage:write"],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, TOLLGATE_URL: server.url, SERVICE_KEY: key },
  });
  expect(stdout.trim().split("\n")).toEqual(["allowed plan 1000", "used 3", "repeated 3"]);
});
