import { parseArgs } from "node:util";
import { partsOf, readOrExit, wholeNumber } from "../shared/command-line.ts";

export const PAGES = { landing: "/", "sign-in": "/sign-in", dashboard: "/dashboard" } as const;

export type PageName = keyof typeof PAGES;

export type Options = {
  rounds: number;
  parts: ReadonlySet<PageName>;
  /** `null`: a cluster of our own. */
  databaseUrl: string | null;
};

const NAMES = Object.keys(PAGES) as PageName[];

const HELP = `Usage: script/bench pages [options]

Lighthouse, in Chromium, on the built pages: a phone with its throttling, as Lighthouse has it by default. Printed are the
medians of the rounds, and the scripts of a page's first load as they came over the wire.
The whole result goes to test-results/bench-pages.json. A figure that is missed does not change the exit status.

  --rounds N           looks at each page (3)
  --only A,B           only these pages: ${NAMES.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  return readOrExit(HELP, () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "3" },
        only: { type: "string", default: NAMES.join(",") },
        "database-url": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    return {
      rounds: wholeNumber("--rounds", values.rounds, 1, 20),
      parts: new Set(partsOf(values.only, NAMES)),
      databaseUrl: values["database-url"] ?? null,
    };
  });
}
