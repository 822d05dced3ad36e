import { expect, it } from "vitest";
import { createPages } from "../../../src/runtime/pages/create-pages.ts";
import type { PagesOptions } from "../../../src/runtime/pages/pages-options.ts";
import { testLimits } from "../../support/guarded-app.ts";
import { startHttpServer } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("tells only the operator how to build the pages", async () => {
  const logged: unknown[] = [];
  const log = { info: () => {}, warn: () => {}, error: (...entry: unknown[]) => logged.push(entry) };
  const project = await temporaryFolder();
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
        err: expect.objectContaining({ message: expect.stringContaining("npm run build") }),
        requestId: response.headers.get("x-request-id"),
      },
      "page failed",
    ],
  ]);
  await server.close();
  await pages.close();
});
