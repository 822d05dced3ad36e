import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { commandSections } from "./reference/commands.ts";
import { outboundEventRows, providerEventRows } from "./reference/events.ts";
import { metricRows } from "./reference/metrics.ts";
import { failureRows, refusalRows } from "./reference/reasons.ts";
import { routeRows } from "./reference/routes.ts";
import { jobRows, limitRows } from "./reference/schedules.ts";
import { variableRows } from "./reference/variables.ts";

const FOLDER = resolve(import.meta.dirname, "../docs/reference");

/** What is generated into which page, between `<!-- generated: name -->` and `<!-- end -->`. */
const SECTIONS: Record<string, Record<string, () => string | Promise<string>>> = {
  "configuration.md": { variables: variableRows },
  "routes.md": { routes: routeRows, jobs: jobRows },
  "events.md": { "outbound events": outboundEventRows, "provider events": providerEventRows },
  "errors.md": { refusals: refusalRows, failures: failureRows },
  "metrics.md": { metrics: metricRows },
  "rate-limits.md": { scopes: limitRows },
  "command-line.md": { commands: commandSections },
};

/** Each generated page with the text that it has now and the text that it should have. */
export async function referencePages(): Promise<{ path: string; text: string; expected: string }[]> {
  return Promise.all(
    Object.entries(SECTIONS).map(async ([name, sections]) => {
      const path = join(FOLDER, name);
      const text = await readFile(path, "utf8");
      let expected = text;
      for (const [section, generate] of Object.entries(sections)) {
        expected = replaceSection(expected, section, await generate());
      }
      return { path, text, expected };
    }),
  );
}

/** @throws Error when the page has no such section */
function replaceSection(page: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->\n`;
  const start = page.indexOf(begin);
  const end = page.indexOf("<!-- end -->", start);
  if (start < 0 || end < 0) throw new Error(`the page has no section "${name}"`);
  return `${page.slice(0, start + begin.length)}\n${content.trim()}\n\n${page.slice(end)}`;
}

if (import.meta.main) {
  for (const { path, expected } of await referencePages()) await writeFile(path, expected);
}
