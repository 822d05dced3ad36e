import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPages } from "../../../src/runtime/pages/create-pages.ts";
import type { PagesOptions } from "../../../src/runtime/pages/pages-options.ts";
import { testLimits } from "../../support/guarded-app.ts";
import { startHttpServer } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("tells only the operator how to build the pages", async () => {
  await expectLogged(await temporaryFolder(), "npm run build");
});

it("does not say that pages are not built which cannot be read", async () => {
  const project = await temporaryFolder();
  await mkdir(join(project, ".next"));
  // For root, nothing else is unreadable.
  await symlink("BUILD_ID", join(project, ".next/BUILD_ID"));
  await expectLogged(project, "ELOOP");
});

async function expectLogged(project: string, problem: string): Promise<void> {
  const logged: unknown[] = [];
  const log = { info: () => {}, warn: () => {}, error: (...entry: unknown[]) => logged.push(entry) };
  const options = {
    log,
    appUrl: "http://localhost",
    ownOrigins: () => ["http://localhost"],
    clientAddress: () => "192.0.2.1",
    deps: { limits: testLimits() },
  };
  const pages = createPages(options as unknown as PagesOptions, project);
  const server = await startHttpServer(pages.answer);
  const response = await fetch(`${server.url}/settings`);
  expect([response.status, await response.text()]).toEqual([500, "Internal server error\n"]);
  expect(logged).toEqual([
    [
      {
        err: expect.objectContaining({ message: expect.stringContaining(problem) }),
        requestId: response.headers.get("x-request-id"),
      },
      "page failed",
    ],
  ]);
  await server.close();
  await pages.close();
}
