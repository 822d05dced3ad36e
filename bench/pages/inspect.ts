import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { BrokenMeasurement } from "../shared/broken.ts";
import { note } from "../shared/note.ts";
import { median } from "../shared/statistics.ts";
import { type Options, PAGES, type PageName } from "./options.ts";

const EXECUTABLE = "/usr/bin/chromium";
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

type Category = (typeof CATEGORIES)[number];

export type Inspected = {
  name: PageName;
  /** Medians of the rounds, 0 to 100. */
  scores: Record<Category, number>;
  /** Of all scripts of the first load, compressed as they are sent; without the heads of the answers. */
  scriptBytes: number;
  /** What costs points in the last round. */
  problems: string[];
};

export type Site = { url: string; cookie: string; folder: string };

/** Inspects each page with Lighthouse, as often as asked for. */
export async function inspectPages({ url, cookie, folder }: Site, options: Options): Promise<Inspected[]> {
  if (!existsSync(EXECUTABLE)) throw new BrokenMeasurement("there is no /usr/bin/chromium: install chromium");
  const args = ["--remote-debugging-port=0", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  const browser = await chromium.launchPersistentContext(`${folder}/chromium`, {
    executablePath: EXECUTABLE,
    args,
  });
  try {
    const port = await debuggingPort(`${folder}/chromium`);
    const inspected: Inspected[] = [];
    for (const name of options.parts) {
      const inspections: Inspection[] = [];
      for (let round = 1; round <= options.rounds; round += 1) {
        // Signed in, there is no sign-in page.
        const headers = name === "dashboard" ? { Cookie: cookie } : null;
        const inspection = await inspectPage(`${url}${PAGES[name]}`, port, headers);
        note(
          `${name}, round ${round}: ${CATEGORIES.map((category) => `${category} ${inspection.scores[category]}`).join(", ")}`,
        );
        inspections.push(inspection);
      }
      inspected.push({ name, ...summary(inspections) });
    }
    return inspected;
  } finally {
    await browser.close();
  }
}

type Inspection = Omit<Inspected, "name">;

async function inspectPage(
  url: string,
  port: number,
  headers: Record<string, string> | null,
): Promise<Inspection> {
  const result = await lighthouse(url, {
    port,
    output: "json",
    logLevel: "error",
    onlyCategories: [...CATEGORIES],
    ...(headers ? { extraHeaders: headers } : {}),
  });
  const report = result?.lhr;
  if (
    !report ||
    report.runtimeError ||
    new URL(report.finalDisplayedUrl).pathname !== new URL(url).pathname
  ) {
    throw new BrokenMeasurement(
      `${url}: ${report?.runtimeError?.message ?? `came to ${report?.finalDisplayedUrl}`}`,
    );
  }
  const scores = Object.fromEntries(
    CATEGORIES.map((category) => [category, Math.round((report.categories[category]?.score ?? 0) * 100)]),
  ) as Record<Category, number>;
  const requests = report.audits["network-requests"]?.details as
    | { items: { resourceType: string; url: string }[] }
    | undefined;
  const scripts = requests?.items.filter(({ resourceType }) => resourceType === "Script") ?? [];
  if (scripts.length === 0) throw new BrokenMeasurement(`${url}: no script was loaded`);
  const problems = CATEGORIES.flatMap((category) => report.categories[category]?.auditRefs ?? [])
    .filter(({ id, weight }) => weight > 0 && (report.audits[id]?.score ?? 1) < 0.9)
    .map(({ id }) => `${id}: ${report.audits[id]?.displayValue ?? report.audits[id]?.title}`);
  return { scores, problems, scriptBytes: await compressedBytes(scripts.map(({ url }) => url)) };
}

async function compressedBytes(urls: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    urls.map(async (url) => {
      const { headers } = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "br" } });
      if (headers.get("content-encoding") !== "br") throw new BrokenMeasurement(`${url} is not compressed`);
      return Number(headers.get("content-length"));
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function summary(inspections: readonly Inspection[]): Inspection {
  const middle = (of: (inspection: Inspection) => number) => median(inspections.map(of));
  return {
    scores: Object.fromEntries(
      CATEGORIES.map((category) => [category, middle(({ scores }) => scores[category])]),
    ) as Inspection["scores"],
    scriptBytes: middle(({ scriptBytes }) => scriptBytes),
    problems: inspections.at(-1)?.problems ?? [],
  };
}

async function debuggingPort(profile: string): Promise<number> {
  return Number((await readFile(`${profile}/DevToolsActivePort`, "utf8")).split("\n")[0]);
}
