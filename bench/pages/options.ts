import { readCommandLine } from "../shared/command-line.ts";

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

  --rounds N           inspections of each page (3)
  --only A,B           only these pages: ${NAMES.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  const accepted = { numbers: { rounds: [3, 1, 20] }, parts: NAMES, texts: ["database-url"] } as const;
  return readCommandLine(args, HELP, accepted, ({ numbers, parts, texts }) => ({
    ...numbers,
    parts: new Set(parts),
    databaseUrl: texts["database-url"],
  }));
}
