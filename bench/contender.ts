import type { Options } from "./options.ts";
import type { Postgres } from "./postgres.ts";
import type { ServerProcess } from "./server-process.ts";

export type Bench = {
  options: Options;
  postgres: Postgres;
  /** For files that are written and read while measuring: in memory where possible. */
  folder: string;
};

/** One of those that take turns. */
export type Contender = {
  name: string;
  /** @throws BrokenMeasurement when what it acknowledged is not in its database */
  round(seconds: number): Promise<Round>;
  /** Its server, unless it is SQL alone. */
  process?: ServerProcess;
  stop(): Promise<void>;
};

export type Round = {
  events: number;
  eventsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the server process; `null` for those that are SQL alone. */
  serverMicrosPerEvent: number | null;
  /** Of all processes of PostgreSQL; `null` when it does not run here. */
  postgresMicrosPerEvent: number | null;
};
