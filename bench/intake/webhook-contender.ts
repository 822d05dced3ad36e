import { rmSync } from "node:fs";
import { join } from "node:path";
import { BrokenMeasurement } from "../shared/broken.ts";
import { postgresMicros, processStat } from "../shared/cpu.ts";
import { sendAsFastAsAnswered } from "../shared/full-load.ts";
import { tidy, walBytes } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { type ServerProcess, type ServerProgram, startServerProcess } from "../shared/server-process.ts";
import { assertArrived, type Ledger } from "./arrived.ts";
import type { Bench, Contender, Round } from "./contender.ts";
import { expectLast, SECRET, signedRequest, writeSignedEvents } from "./signed-events.ts";

/** A server that takes webhooks in, on a database of its own. */
export type WebhookServer = {
  program: ServerProgram;
  databaseUrl: string;
  ledger: Ledger;
};

/** More than anybody here can take in; once a contender is known, twice its best. */
const ASSUMED_PER_SECOND = 30_000;

/**
 * Starts the server; each of its rounds sends events that it has never seen, and looks for them in its
 * database.
 */
export async function startWebhookContender(
  bench: Bench,
  server: WebhookServer,
): Promise<Contender & { process: ServerProcess }> {
  const { options, postgres, folder } = bench;
  const { name } = server.program;
  const variables = { PROVIDER_A_WEBHOOK_SECRET: SECRET, ...server.program.variables };
  const process = await startServerProcess({ ...server.program, variables }, folder);
  const file = join(folder, `${name}.requests`);
  const expected = new Map<number, number>();
  let next = options.subscriptions;
  let best = 0;

  // All subscriptions are there before the first round: some queries take longer the more there are.
  async function createSubscriptions(): Promise<void> {
    const sender = await openSender(process.port, options.connections);
    try {
      const events = Array.from({ length: options.subscriptions }, (_, number) => number);
      await Promise.all(events.map((number) => sender.send(signedRequest(number, options))));
      expectLast(expected, { first: 0, count: options.subscriptions }, options);
    } finally {
      sender.close();
    }
  }

  async function round(seconds: number): Promise<Round> {
    const rate = best === 0 ? ASSUMED_PER_SECOND : Math.max(2_000, 2 * best);
    const count = Math.ceil(rate * (seconds + 1));
    await tidy(server.databaseUrl);
    const mark = await server.ledger.mark(server.databaseUrl);
    const requestBytes = writeSignedEvents(file, { first: next, count }, options);

    const before = await consumed();
    const load = await sendAsFastAsAnswered({
      port: process.port,
      connections: options.connections,
      seconds,
      file,
      requestBytes,
      mode: "once",
    });
    await server.ledger.settled(server.databaseUrl);
    const after = await consumed();
    rmSync(file);

    expectLast(expected, { first: next, count: load.handed }, options);
    next += load.handed;
    await assertArrived(server, { ...load, mark, expected });
    const eventsPerSecond = load.answered / load.seconds;
    best = Math.max(best, eventsPerSecond);
    const perEvent = (from: number | null | undefined, to: number | null | undefined) =>
      from == null || to == null ? null : (to - from) / load.answered;
    return {
      events: load.answered,
      eventsPerSecond,
      p50Ms: load.p50Ms,
      p99Ms: load.p99Ms,
      serverMicrosPerEvent: perEvent(before.server, after.server),
      postgresMicrosPerEvent: perEvent(before.postgres, after.postgres),
      walBytesPerEvent: perEvent(before.wal, after.wal),
    };
  }

  async function consumed() {
    const wal = await walBytes(server.databaseUrl);
    return { server: processStat(process.pid)?.ownMicros, postgres: postgresMicros(postgres.pid), wal };
  }

  const explained = (error: Error): never => {
    throw new BrokenMeasurement(`${name}: ${error.message}\n${process.output()}`);
  };
  await createSubscriptions().catch(async (error) => {
    await process.stop();
    return explained(error);
  });
  return { name, process, round: (seconds) => round(seconds).catch(explained), stop: () => process.stop() };
}
