import { rmSync } from "node:fs";
import { join } from "node:path";
import { SLOTS, type Slot, variablePrefix } from "../../src/domain/slot.ts";
import { TOLLGATE_TABLES } from "../intake/arrived.ts";
import { SECRET, signedRequest, userId, writeRequests } from "../intake/signed-events.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import { postgresMicros, processStat } from "../shared/cpu.ts";
import { sendAsFastAsAnswered } from "../shared/full-load.ts";
import { createMigratedDatabase } from "../shared/migrated-database.ts";
import { note } from "../shared/note.ts";
import { type Postgres, query, tidy } from "../shared/postgres.ts";
import { type ServerProcess, startServerProcess } from "../shared/server-process.ts";
import { median } from "../shared/statistics.ts";
import type { Options } from "./options.ts";

/** Medians of the rounds. */
export type Measured = Options["layouts"][number] & Figures;

type Figures = {
  eventsPerSecond: number;
  p99Ms: number;
  /** Of all server processes together. */
  serverMicrosPerEvent: number;
  postgresMicrosPerEvent: number;
};

/** One generator of load: its share of a slot's subscriptions, sent to one process. */
type Stream = { process: ServerProcess; slot: Slot; from: number; to: number; pass: number };

/** More than a process can take in. */
const ASSUMED_PER_SECOND = 16_000;

export async function measureLayout(
  { options, postgres, folder }: { options: Options; postgres: Postgres; folder: string },
  { processes, slots }: Options["layouts"][number],
): Promise<Measured> {
  const name = `processes_${processes}_slots_${slots}`;
  const databaseUrl = await createMigratedDatabase(postgres, name);
  await query(
    databaseUrl,
    `insert into "user" (id, name, email) select id, 'Bench', id || '@example.com' from unnest($1::text[]) as id`,
    [Array.from({ length: options.subscriptions }, (_, index) => userId(index))],
  );
  const variables = slotVariables(databaseUrl);
  const servers: ServerProcess[] = [];
  try {
    for (let nth = 0; nth < processes; nth += 1) {
      servers.push(
        await startServerProcess({ name: `${name}_${nth}`, script: "src/server.ts", variables }, folder),
      );
    }
    const streams = streamsOf(servers, SLOTS.slice(0, slots), options);
    const rounds: Figures[] = [];
    // The first creates the subscriptions and warms up.
    for (let nth = 0; nth <= options.rounds; nth += 1) {
      await tidy(databaseUrl);
      const figures = await round({ options, postgres, folder, databaseUrl, servers, streams });
      if (nth > 0) rounds.push(figures);
      note(`${name}: round ${nth} of ${options.rounds}: ${Math.round(figures.eventsPerSecond)}/s`);
    }
    const middle = (of: (figures: Figures) => number) => median(rounds.map(of));
    return {
      processes,
      slots,
      eventsPerSecond: middle(({ eventsPerSecond }) => eventsPerSecond),
      p99Ms: middle(({ p99Ms }) => p99Ms),
      serverMicrosPerEvent: middle(({ serverMicrosPerEvent }) => serverMicrosPerEvent),
      postgresMicrosPerEvent: middle(({ postgresMicrosPerEvent }) => postgresMicrosPerEvent),
    };
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
}

type Round = {
  options: Options;
  postgres: Postgres;
  folder: string;
  databaseUrl: string;
  servers: readonly ServerProcess[];
  streams: readonly Stream[];
};

async function round({ options, postgres, folder, databaseUrl, servers, streams }: Round): Promise<Figures> {
  const mark = await TOLLGATE_TABLES.mark(databaseUrl);
  const files = streams.map((stream, nth) => {
    const path = join(folder, `stream-${nth}.requests`);
    return { path, requestBytes: writeRequests(path, requestsOf(stream, streams.length, options)) };
  });
  const consumed = () => ({
    server: servers.reduce((sum, { pid }) => sum + (processStat(pid)?.ownMicros ?? Number.NaN), 0),
    postgres: postgresMicros(postgres.pid) ?? Number.NaN,
  });
  const before = consumed();
  const loads = await Promise.all(
    streams.map((stream, nth) => {
      const { path, requestBytes } = files[nth] as (typeof files)[0];
      return sendAsFastAsAnswered({
        port: stream.process.port,
        connections: Math.floor(options.connections / streams.length),
        seconds: options.seconds,
        file: path,
        requestBytes,
        mode: "once",
      });
    }),
  );
  // Outbound events that are made after the commit belong to what an event costs.
  await TOLLGATE_TABLES.settled(databaseUrl);
  const after = consumed();
  for (const { path } of files) rmSync(path);
  const answered = loads.reduce((sum, load) => sum + load.answered, 0);
  const stored = await TOLLGATE_TABLES.since(databaseUrl, mark);
  if (!stored || stored.applied < answered || stored.other > 0) {
    throw new BrokenMeasurement(`${answered} answered, but stored: ${JSON.stringify(stored)}`);
  }
  return {
    eventsPerSecond: loads.reduce((sum, load) => sum + load.answered / load.seconds, 0),
    p99Ms: Math.max(...loads.map(({ p99Ms }) => p99Ms)),
    serverMicrosPerEvent: (after.server - before.server) / answered,
    postgresMicrosPerEvent: (after.postgres - before.postgres) / answered,
  };
}

/** Every subscription is in one stream alone, so that its events keep their order. */
function streamsOf(servers: readonly ServerProcess[], slots: readonly Slot[], options: Options): Stream[] {
  return slots.flatMap((slot) =>
    servers.map((process, nth) => ({
      process,
      slot,
      from: Math.floor((nth * options.subscriptions) / servers.length),
      to: Math.floor(((nth + 1) * options.subscriptions) / servers.length),
      pass: 0,
    })),
  );
}

/** Enough for a round, going on where the last one ended. */
function* requestsOf(stream: Stream, streams: number, options: Options): Generator<string> {
  const { subscriptions, seconds } = options;
  const eventCount = (ASSUMED_PER_SECOND * (seconds + 1)) / streams;
  const shape = { subscriptions, bodyBytes: 1_100, eventIds: "stripe", changeEvery: 1 } as const;
  for (let count = 0; count < eventCount; stream.pass += 1) {
    for (let index = stream.from; index < stream.to; index += 1, count += 1) {
      const request = signedRequest(stream.pass * subscriptions + index, shape);
      yield request.replace("/api/webhooks/provider-a ", `/api/webhooks/${stream.slot} `);
    }
  }
}

function slotVariables(databaseUrl: string): Record<string, string> {
  const slots = SLOTS.flatMap((slot) => {
    const prefix = variablePrefix(slot);
    return [
      [`${prefix}_ADAPTER`, "stripe"],
      [`${prefix}_WEBHOOK_SECRET`, SECRET],
    ];
  });
  return { DATABASE_URL: databaseUrl, ...Object.fromEntries(slots) };
}
