import type { Postgres } from "../shared/postgres.ts";
import type { ServerProcess } from "../shared/server-process.ts";
import type { Options } from "./options.ts";

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
  /** Of PostgreSQL's write-ahead log. */
  walBytesPerEvent: number | null;
};

export function summaryLine(round: Round): string {
  return `${Math.round(round.eventsPerSecond)}/s, p99 ${round.p99Ms.toFixed(1)} ms, CPU ${Math.round(round.serverMicrosPerEvent ?? 0)} + ${Math.round(round.postgresMicrosPerEvent ?? 0)} us, log ${Math.round(round.walBytesPerEvent ?? 0)} B`;
}
