import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPages } from "../../../src/runtime/pages/create-pages.ts";
import type { PagesOptions } from "../../../src/runtime/pages/pages-options.ts";
import { testLimits } from "../../support/guarded-app.ts";
import { startHttpServer } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("tells only the operator how to build the pages", async () => {
  await expectLogged(await temporaryFolder(), ["npm run build"]);
});

it("does not say that pages are not built which cannot be read", async () => {
  const project = await temporaryFolder();
  await makeUnreadable(project);
  await expectLogged(project, ["ELOOP"]);
});

it("looks for the pages again with each request, as they may have been built meanwhile", async () => {
  const project = await temporaryFolder();
  await expectLogged(project, ["npm run build", "ELOOP"], () => makeUnreadable(project));
});

async function makeUnreadable(project: string): Promise<void> {
  await mkdir(join(project, ".next"));
  // For root, nothing else is unreadable.
  await symlink("BUILD_ID", join(project, ".next/BUILD_ID"));
}

/** @param afterFirst called after the first request */
async function expectLogged(
  project: string,
  problems: readonly string[],
  afterFirst: () => Promise<void> = async () => {},
): Promise<void> {
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
  for (const problem of problems) {
    const response = await fetch(`${server.url}/settings`);
    expect([response.status, await response.text()]).toEqual([500, "Internal server error\n"]);
    expect(logged.splice(0)).toEqual([
      [
        {
          err: expect.objectContaining({ message: expect.stringContaining(problem) }),
          requestId: response.headers.get("x-request-id"),
        },
        "page failed",
      ],
    ]);
    if (problem === problems[0]) await afterFirst();
  }
  await server.close();
  await pages.close();
}
