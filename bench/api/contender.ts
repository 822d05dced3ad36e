import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BrokenMeasurement } from "../shared/broken.ts";
import { postgresMicros, processStat } from "../shared/cpu.ts";
import { sendAsFastAsAnswered } from "../shared/full-load.ts";
import { type Paced, sendAtPace } from "../shared/pace.ts";
import { type Postgres, tidy } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { startServerProcess } from "../shared/server-process.ts";
import { assertGate, assertOwnList, assertPage, PAGE_LENGTH } from "./checks.ts";
import { apiServer, CONTENDERS, type ContenderName } from "./contenders.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";
import type { Options } from "./options.ts";
import { ASKING, person, personToRevoke } from "./population.ts";
import { readyMadeRequests, writeRequests } from "./requests.ts";

export type Bench = {
  options: Options;
  postgres: Postgres;
  /** Read by every contender, written by none. */
  databaseUrl: string;
  /** For files that are written and read while measuring: in memory where possible. */
  folder: string;
};

export type Round = {
  calls: number;
  callsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** User and system time of the server's process. `null` without /proc. */
  serverMicrosPerCall: number | null;
  /** Of all processes of PostgreSQL; `null` when it does not run here. */
  postgresMicrosPerCall: number | null;
};

export type Contender = {
  name: ContenderName;
  /** As many calls as it can answer. @throws BrokenMeasurement when an answer is wrong */
  round(seconds: number): Promise<Round>;
  /** As many calls as are offered. */
  pacedRound(seconds: number, perSecond: number): Promise<Paced>;
  stop(): Promise<void>;
};

/** One answer in so many milliseconds is compared with what it has to be while a round runs. */
const COMPARE_EVERY_MS = 250;

/** Starts the server, and asks in everybody's name before anything is measured. */
export async function startContender(bench: Bench, name: ContenderName): Promise<Contender> {
  const { options, postgres, databaseUrl, folder } = bench;
  const server = apiServer(name, { databaseUrl, profile: options.profile });
  const process = await startServerProcess(server.program, folder);
  const { port } = process;
  const { read } = server;
  const question = read.request(PAGE_LENGTH);
  const file = join(folder, `${name}.requests`);
  const people = Array.from({ length: ASKING }, (_, number) => person(number));

  // Each round's own: copies of sessions in cookies do not last.
  async function freshCredentials(): Promise<Credentials[]> {
    const all: Credentials[] = [];
    for (const person of people) all.push(await credentialsOf(server, port, person));
    return all;
  }

  async function check(): Promise<void> {
    if (server.page) await assertPage(port, server.page);
    const all = await freshCredentials();
    for (const [number, person] of people.entries()) {
      await assertOwnList({ read, port, credentials: all[number] as Credentials }, person);
    }
    const revoked = personToRevoke(CONTENDERS.indexOf(name));
    await assertGate(server, port, { databaseUrl, person: revoked });
  }

  async function compareWhile<T>(credentials: readonly Credentials[], running: Promise<T>): Promise<T> {
    let isOver = false;
    const over = running.finally(() => {
      isOver = true;
    });
    const comparing = async () => {
      for (let number = 0; !isOver; number = (number + 1) % people.length) {
        await assertOwnList({ read, port, credentials: credentials[number] as Credentials }, person(number));
        await Promise.race([sleep(COMPARE_EVERY_MS), over.catch(() => {})]);
      }
    };
    return (await Promise.all([over, comparing()]))[0];
  }

  async function round(seconds: number): Promise<Round> {
    const credentials = await freshCredentials();
    const requestBytes = writeRequests(file, readyMadeRequests(question, credentials));
    await tidy(databaseUrl);
    const before = consumed();
    const load = await compareWhile(
      credentials,
      sendAsFastAsAnswered({
        port,
        connections: options.connections,
        seconds,
        file,
        requestBytes,
        mode: "again",
      }),
    );
    const after = consumed();
    rmSync(file);
    const perCall = (from: number | null | undefined, to: number | null | undefined) =>
      from == null || to == null ? null : (to - from) / load.answered;
    return {
      calls: load.answered,
      callsPerSecond: load.answered / load.seconds,
      p50Ms: load.p50Ms,
      p99Ms: load.p99Ms,
      serverMicrosPerCall: perCall(before.server, after.server),
      postgresMicrosPerCall: perCall(before.postgres, after.postgres),
    };
  }

  function consumed() {
    return { server: processStat(process.pid)?.ownMicros, postgres: postgresMicros(postgres.pid) };
  }

  async function pacedRound(seconds: number, perSecond: number): Promise<Paced> {
    const ready = readyMadeRequests(question, await freshCredentials());
    const requests = Array.from(
      { length: seconds * perSecond },
      (_, index) => ready[index % ready.length] as string,
    );
    const sender = await openSender(port, options.connections);
    return sendAtPace(sender, requests, perSecond).finally(() => sender.close());
  }

  const explained = (error: Error): never => {
    throw new BrokenMeasurement(`${name}: ${error.message}\n${process.output()}`);
  };
  await check().catch(async (error) => {
    await process.stop();
    return explained(error);
  });
  return {
    name,
    round: (seconds) => round(seconds).catch(explained),
    pacedRound: (seconds, perSecond) => pacedRound(seconds, perSecond).catch(explained),
    stop: () => process.stop(),
  };
}

export function summaryLine(round: Round): string {
  return `${Math.round(round.callsPerSecond)}/s, p99 ${round.p99Ms.toFixed(1)} ms, ${Math.round(round.serverMicrosPerCall ?? Number.NaN)} us`;
}
