import { rmSync } from "node:fs";
import { join } from "node:path";
import { BrokenMeasurement } from "./broken.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { type FullLoad, sendAsFastAsAnswered } from "./full-load.ts";
import { note } from "./note.ts";
import { query, tidy } from "./postgres.ts";
import { openSender } from "./sender.ts";
import { signedRequest, writeSignedEvents } from "./signed-events.ts";
import { median } from "./statistics.ts";

export type Duplicates = { perSecond: number; p50Ms: number; p99Ms: number; rounds: FullLoad[] };

const EVENTS = 20_000;

/** The same events again and again, after each has been applied once. */
export async function measureDuplicates(bench: Bench): Promise<Duplicates> {
  const { options, folder } = bench;
  const tollgate = await startTollgate(bench, "tollgate-duplicates");
  const { port } = tollgate.process;
  const file = join(folder, "duplicates.requests");
  try {
    await applyAll(bench, port);
    const applied = await rows(tollgate.databaseUrl);
    const round = async (seconds: number) => {
      await tidy(tollgate.databaseUrl);
      const requestBytes = writeSignedEvents(file, { first: 0, count: EVENTS }, options);
      const load = await sendAsFastAsAnswered({
        port,
        connections: options.connections,
        seconds,
        file,
        requestBytes,
        mode: "again",
      });
      rmSync(file);
      if ((await rows(tollgate.databaseUrl)) !== applied)
        throw new BrokenMeasurement("repeats left rows behind");
      return load;
    };
    await round(options.warmUpSeconds);
    const rounds: FullLoad[] = [];
    for (let number = 1; number <= options.rounds; number += 1) {
      const load = await round(options.seconds);
      rounds.push(load);
      note(`duplicates: round ${number} of ${options.rounds}: ${Math.round(load.answered / load.seconds)}/s`);
    }
    return {
      perSecond: median(rounds.map((one) => one.answered / one.seconds)),
      p50Ms: median(rounds.map((one) => one.p50Ms)),
      p99Ms: median(rounds.map((one) => one.p99Ms)),
      rounds,
    };
  } finally {
    await tollgate.stop();
  }
}

/** Sends every event once, then one of them again, to see that it is called a duplicate. */
async function applyAll(bench: Bench, port: number): Promise<void> {
  const sender = await openSender(port, bench.options.connections);
  try {
    const request = (number: number) => signedRequest(number, bench.options);
    await Promise.all(Array.from({ length: EVENTS }, (_, number) => sender.send(request(number))));
    const answer = await sender.send(request(EVENTS - 1));
    if (answer !== '{"received":true,"duplicate":true}')
      throw new BrokenMeasurement(`a repeat was answered ${answer}`);
  } finally {
    sender.close();
  }
}

async function rows(url: string): Promise<string> {
  const [row] = await query<{ rows: string }>(
    url,
    `select (select count(*) from webhook_delivery where status = 'successful')
      || ' ' || (select count(*) from webhook_attempt) as rows`,
  );
  if (row?.rows !== `${EVENTS} ${EVENTS}`)
    throw new BrokenMeasurement(`${row?.rows} deliveries and attempts`);
  return row.rows;
}
