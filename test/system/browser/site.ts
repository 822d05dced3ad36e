import { inspect } from "node:util";
import { vi } from "vitest";
import { repeatRefusals } from "../../simulator/repeat-refusals.ts";
import { builtPages } from "../../support/built-pages.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { freePort } from "../../support/free-port.ts";
import { startTestServer } from "../../support/server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

export type Site = {
  /** As a browser knows it: `http://localhost:<port>`. */
  url: string;
  /** The URL of the simulated payment provider. */
  providerUrl: string;
  test: TestDatabase;
  /** The data folder, which contains mails for instance. */
  folder: string;
  /** The warnings and errors of Next.js since this was emptied. */
  complaints: string[];
  close(): Promise<void>;
};

/** The whole product as users see it: the pages built for production, and a simulated provider. */
export async function openSite(variables: Record<string, string> = {}): Promise<Site> {
  await builtPages();
  const test = await freshDatabase(0);
  const folder = await temporaryFolder();
  const port = await freePort();
  // Checkouts redirect to this URL, so that it must be known beforehand.
  const url = `http://localhost:${port}`;
  const server = await startTestServer(test.url, {
    ...GENEROUS_LIMITS,
    SIMULATOR: "on",
    SIMULATOR_PORT: "0",
    DATA_DIR: folder,
    PORT: String(port),
    APP_URL: url,
    ...variables,
  });
  const complaints: string[] = [];
  // It logs to the console of this process.
  const listening = vi.spyOn(console, "error").mockImplementation((...logged) => {
    complaints.push(`server: ${logged.map((value) => inspect(value)).join(" ")}`);
  });
  repeatRefusals(server.simulatorUrl as string);
  const close = async () => {
    listening.mockRestore();
    await server.close();
    await test.drop();
  };
  return {
    url,
    providerUrl: server.simulatorUrl as string,
    test,
    folder,
    complaints,
    close: cleanedUp(close),
  };
}
