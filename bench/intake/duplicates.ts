import { rmSync } from "node:fs";
import { join } from "node:path";
import { BrokenMeasurement } from "../shared/broken.ts";
import { sendAsFastAsAnswered } from "../shared/full-load.ts";
import { query, tidy } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { median } from "../shared/statistics.ts";
import { takeTurns } from "../shared/turns.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { signedRequest, writeSignedEvents } from "./signed-events.ts";

type Rate = { eventsPerSecond: number; p50Ms: number; p99Ms: number };

export type Duplicates = Rate & {
  /** Compared with first deliveries in the rounds between. */
  ratio: number;
  rounds: { first: Rate[]; repeats: Rate[] };
};

/**
 * Events again and again that were applied while the server was made ready, by turns with first deliveries to
 * another server.
 */
export async function measureDuplicates(bench: Bench): Promise<Duplicates> {
  const first = await startTollgate(bench, "tollgate-first");
  const stops = [first.stop];
  try {
    const repeats = await startRepeats(bench);
    stops.push(repeats.stop);
    const turns = [
      { name: "first", round: first.round },
      { name: "repeats", round: repeats.round },
    ];
    const rounds = await takeTurns<Rate>(
      turns,
      bench.options,
      ({ eventsPerSecond }) => `${Math.round(eventsPerSecond)}/s`,
    );
    const { first: ofFirst = [], repeats: ofRepeats = [] } = rounds;
    const middle = (rates: Rate[], of: keyof Rate) => median(rates.map((rate) => rate[of]));
    const eventsPerSecond = middle(ofRepeats, "eventsPerSecond");
    return {
      eventsPerSecond,
      p50Ms: middle(ofRepeats, "p50Ms"),
      p99Ms: middle(ofRepeats, "p99Ms"),
      ratio: eventsPerSecond / middle(ofFirst, "eventsPerSecond"),
      rounds: { first: ofFirst, repeats: ofRepeats },
    };
  } finally {
    for (const stop of stops) await stop();
  }
}

async function startRepeats(bench: Bench) {
  const { options, folder } = bench;
  const tollgate = await startTollgate(bench, "tollgate-duplicates");
  const file = join(folder, "duplicates.requests");
  try {
    await assertRepeated(bench, tollgate.process.port);
  } catch (error) {
    await tollgate.stop();
    throw error;
  }
  const applied = await rows(tollgate.databaseUrl);
  const round = async (seconds: number): Promise<Rate> => {
    await tidy(tollgate.databaseUrl);
    const requestBytes = writeSignedEvents(file, { first: 0, count: options.subscriptions }, options);
    const load = await sendAsFastAsAnswered({
      port: tollgate.process.port,
      connections: options.connections,
      seconds,
      file,
      requestBytes,
      mode: "again",
    });
    rmSync(file);
    const appliedAfter = await rows(tollgate.databaseUrl);
    if (appliedAfter !== applied)
      throw new BrokenMeasurement(`repeats were applied: ${applied} became ${appliedAfter}`);
    return { eventsPerSecond: load.answered / load.seconds, p50Ms: load.p50Ms, p99Ms: load.p99Ms };
  };
  return { round, stop: tollgate.stop };
}

/** That what the rounds send is indeed called a duplicate. */
async function assertRepeated({ options }: Bench, port: number): Promise<void> {
  const sender = await openSender(port, 1);
  try {
    const answer = await sender.send(signedRequest(0, options));
    if (answer !== '{"received":true,"duplicate":true}') {
      throw new BrokenMeasurement(`a repeat was answered ${answer}`);
    }
  } finally {
    sender.close();
  }
}

async function rows(url: string): Promise<string> {
  const [row] = await query<{ rows: string }>(
    url,
    `select (select count(*) from webhook_delivery where status = 'successful')
      || ' deliveries, ' || (select count(*) from webhook_attempts) || ' attempts' as rows`,
  );
  return row?.rows ?? "";
}
