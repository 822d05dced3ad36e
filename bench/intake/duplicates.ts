import { rmSync } from "node:fs";
import { join } from "node:path";
import { BrokenMeasurement } from "../shared/broken.ts";
import { type FullLoad, sendAsFastAsAnswered } from "../shared/full-load.ts";
import { note } from "../shared/note.ts";
import { query, tidy } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { median } from "../shared/statistics.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { signedRequest, writeSignedEvents } from "./signed-events.ts";

export type Duplicates = { perSecond: number; p50Ms: number; p99Ms: number; rounds: FullLoad[] };

/** Events again and again that were applied while the server was made ready. */
export async function measureDuplicates(bench: Bench): Promise<Duplicates> {
  const { options, folder } = bench;
  const tollgate = await startTollgate(bench, "tollgate-duplicates");
  const { port } = tollgate.process;
  const file = join(folder, "duplicates.requests");
  try {
    await assertRepeated(bench, port);
    const applied = await rows(tollgate.databaseUrl);
    const round = async (seconds: number) => {
      await tidy(tollgate.databaseUrl);
      const requestBytes = writeSignedEvents(file, { first: 0, count: options.subscriptions }, options);
      const load = await sendAsFastAsAnswered({
        port,
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
      perSecond: median(rounds.map((round) => round.answered / round.seconds)),
      p50Ms: median(rounds.map((round) => round.p50Ms)),
      p99Ms: median(rounds.map((round) => round.p99Ms)),
      rounds,
    };
  } finally {
    await tollgate.stop();
  }
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
