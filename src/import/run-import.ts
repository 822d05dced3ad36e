import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Queryable } from "../store/database.ts";
import { type HeldLease, holdLease } from "../store/hold-lease.ts";
import { keepLease } from "../store/leases.ts";
import { beginImport, finishImport, type ImportCounts } from "../store/reconciliation/imports.ts";
import { readPage } from "./read-page.ts";

/** Left out, with the reason. */
export type Unmatched = Record<string, string | number | null> & { reason: string };

export type ImportReport = ImportCounts & { unmatched: Unmatched[] };

export type ImportOptions = {
  /** Reports what would happen, and changes nothing. */
  dryRun: boolean;
  /** Whether users are notified and events are emitted. */
  notify: boolean;
  /** Called after each page with the number of rows read so far. */
  progressed(read: number): void;
  /** Called when another run of the same import has to end first. */
  waiting(): void;
};

/** A page of a source; `next` is the position of the next page, `null` at the end. */
export type SourcePage<Row> = { rows: readonly Row[]; next: string | null };

/** What is imported: rows in pages, in an order that lets an interrupted import continue. */
export type Source<Row> = {
  /** Identifies the input: an interrupted import continues only with the same one. */
  identity: readonly unknown[];
  read(position: string | null): Promise<SourcePage<Row>>;
};

/** An import that is not a dry run. */
export type Run = {
  importId: string;
  /**
   * Called in the transaction of each page, before it writes: from then on no other run takes over, nor is the lease
   * renewed. @throws if one has already
   */
  fence(transaction: Queryable): Promise<void>;
};

/** Writes a page, and its outcome in the same transaction by `advanceImport`. @param run `null`: a dry run */
export type WritePage<Row> = (page: SourcePage<Row>, run: Run | null) => Promise<ImportReport>;

const LAST = "end";

/** How long another run waits after a crash. */
export const LEASE_SECONDS = 10;
const RETRY_MS = 200;
const TAKEN_OVER = "another run of this import has taken over, as this one had stopped for a while";

/**
 * Imports a source page by page. Its position is durable: a run with the same input continues where an
 * interrupted one has ended. It waits for one that is still running, so that each reports its own changes.
 */
export async function runImport<Row>(
  database: Database,
  source: Source<Row>,
  options: ImportOptions,
  write: WritePage<Row>,
): Promise<ImportReport> {
  if (options.dryRun) return dryRun(source, options, write);
  const importId = hashOf([...source.identity, options.notify]);
  const lease = await waitForLease(database, importId, options);
  try {
    const fence = async (transaction: Queryable) => {
      if (!(await keepLease(transaction, lease))) throw new Error(TAKEN_OVER);
    };
    return await importAll(database, source, { importId, fence }, { options, write });
  } finally {
    await lease.release();
  }
}

async function waitForLease(
  database: Database,
  importId: string,
  { waiting }: ImportOptions,
): Promise<HeldLease> {
  for (let tries = 1; ; tries += 1) {
    const lease = await holdLease(database, `import:${importId}`, { seconds: LEASE_SECONDS });
    if (lease !== null) return lease;
    if (tries === 1) waiting();
    await sleep(RETRY_MS);
  }
}

async function importAll<Row>(
  database: Database,
  source: Source<Row>,
  run: Run,
  { options: { progressed }, write }: { options: ImportOptions; write: WritePage<Row> },
): Promise<ImportReport> {
  let { position, read } = await beginImport(database, run.importId);
  while (position !== LAST) {
    const page = await readPage(source, position);
    await write({ ...page, next: page.next ?? LAST }, run);
    read += page.rows.length;
    progressed(read);
    position = page.next ?? LAST;
  }
  return finishImport<Unmatched>(database, run.importId);
}

async function dryRun<Row>(
  source: Source<Row>,
  { progressed }: ImportOptions,
  write: WritePage<Row>,
): Promise<ImportReport> {
  const report: ImportReport = { created: 0, updated: 0, skipped: 0, unmatched: [] };
  let read = 0;
  for (let position: string | null = null; ; ) {
    const page: SourcePage<Row> = await readPage(source, position);
    add(report, await write(page, null));
    read += page.rows.length;
    progressed(read);
    if (page.next === null) return report;
    position = page.next;
  }
}

function add(report: ImportReport, page: ImportReport): void {
  report.created += page.created;
  report.updated += page.updated;
  report.skipped += page.skipped;
  report.unmatched.push(...page.unmatched);
}

export function hashOf(input: unknown): string {
  return createHash("sha256").update(JSON.stringify(input)).digest("base64url");
}
