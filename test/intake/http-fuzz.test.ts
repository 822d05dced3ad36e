import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { EVENT_KINDS } from "../../src/domain/events/payment-event.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import { createRng, type Rng } from "../../src/simulator/scenario/rng.ts";
import { fixtureDelivery, type SignedDelivery } from "../fixtures/fixture.ts";
import { mutateBytes, mutateText } from "../fixtures/mutations.ts";
import { isGenuine } from "../providers/oracle.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

// script/fuzz runs more, and then expects memory to stay flat.
const RUNS = Number(process.env.FUZZ_RUNS ?? 4_000);
const MEASURES_MEMORY = RUNS >= 100_000;
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 32));
const BATCH = 50;
const CONNECTIONS = 4;
const MEGABYTE = 1024 * 1024;

const test = testDatabase();

it.each(wireFormats())(
  `%s: answers ${RUNS} mutated deliveries without a 5xx, a crash or an accepted forgery, FUZZ_SEED=${SEED}`,
  { timeout: 600_000 },
  async (format) => {
    const server = await spawnServer(test.url, {
      PROVIDER_A_ADAPTER: format,
      LOG_LEVEL_ONCE_LISTENING: "error",
      WEBHOOK_TOLERANCE_SECONDS: "3600",
    });
    const rng = createRng(SEED);
    const samples = samplesOf(format);
    const counts = new Map<string, number>();
    let warm = 0;
    for (let sent = 0; sent < RUNS; ) {
      const batches = Array.from({ length: CONNECTIONS }, () =>
        Array.from({ length: BATCH }, () => mutated(rng, samples)),
      );
      await Promise.all(batches.map((batch) => send(server, format, batch, counts)));
      sent += CONNECTIONS * BATCH;
      if (warm === 0 && sent >= RUNS / 2) warm = await residentBytes(server);
    }
    expect([...counts.keys()].filter((status) => !/^(200|4\d\d)/.test(status))).toEqual([]);
    expect(counts.get("200 genuine")).toBeGreaterThan(RUNS / 100);
    expect(counts.get("400 forged")).toBeGreaterThan(RUNS / 2);
    if (MEASURES_MEMORY) expect((await residentBytes(server)) - warm).toBeLessThan(48 * MEGABYTE);
    // Exactly the genuine deliveries were ingested: one fixture each, however often it was sent.
    const rows = await test.rows("select from webhook_delivery where format = $1", [format]);
    expect(rows).toHaveLength(samples.length);
    expect((await server.end("SIGTERM")).code).toBe(0);
  },
);

function samplesOf(format: WireFormat): SignedDelivery[] {
  return EVENT_KINDS.map((kind) => {
    const { rawBody, headers } = fixtureDelivery(format, kind, {
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      userId: "user_1",
      planId: "pro",
      eventId: `${format} ${kind}`,
      subscriptionId: `${format} subscription`,
    });
    const { "content-type": _, ...signed } = headers;
    return { rawBody, headers: signed };
  });
}

function mutated(rng: Rng, samples: readonly SignedDelivery[]): SignedDelivery {
  const sample = rng.pick(samples);
  const otherSample = rng.pick(samples);
  const headers = { ...sample.headers };
  let { rawBody } = sample;
  for (let changes = rng.between(0, 19) === 0 ? 0 : rng.between(1, 2); changes > 0; changes -= 1) {
    const [name = ""] = rng.shuffled(Object.keys(headers));
    if (rng.chance(1 / 8)) delete headers[name];
    else if (rng.chance(1 / 3)) rawBody = mutateBytes(rng, rawBody, otherSample.rawBody);
    else headers[name] = sendable(mutateText(rng, headers[name] ?? "", otherSample.headers[name] ?? ""));
  }
  return { rawBody, headers };
}

/**
 * Without line ends and NUL, which HTTP itself forbids, and characters beyond a byte, which no header can
 * hold.
 */
function sendable(value: string): string {
  return Buffer.from(value.replaceAll(/[\r\n\0]/g, " "), "latin1").toString("latin1");
}

async function send(
  server: ServerProcess,
  format: WireFormat,
  batch: readonly SignedDelivery[],
  counts: Map<string, number>,
): Promise<void> {
  const requests = batch.map((delivery) =>
    rawPost("/api/webhooks/provider-a", delivery.headers, delivery.rawBody),
  );
  let from = 0;
  while (from < batch.length) {
    const responses = await pipelined(server.url, requests.slice(from));
    if (responses.length === 0) throw new Error("the server hung up without an answer");
    for (const answer of responses) {
      const delivery = batch[from] as SignedDelivery;
      from += 1;
      const genuine = isGenuine(format, asReceived(delivery), {
        secrets: [SECRETS["provider-a"]],
        nowSeconds: Date.now() / 1000,
        toleranceSeconds: 3600,
      });
      if (answer.status === 200 && !genuine) throw new Error("a forgery was accepted");
      if (answer.status === 400 && genuine && answer.body.includes("signature")) {
        throw new Error("a genuine delivery was refused");
      }
      const kind = `${answer.status} ${genuine ? "genuine" : "forged"}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
}

/** As an HTTP server reads it: header values without the white space round them. */
function asReceived({ rawBody, headers }: SignedDelivery) {
  const trimmed = new Map(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(/^[ \t]+|[ \t]+$/g, "")]),
  );
  return { rawBody, header: (name: string) => trimmed.get(name) };
}

async function residentBytes(server: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${server.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

type RawAnswer = { status: number; body: string };

/**
 * Sends requests down one connection, all at once, as bytes that no HTTP client would send, and reads as many
 * answers. A server that closes early leaves the rest unanswered.
 */
function pipelined(serverUrl: string, requests: readonly Buffer[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(serverUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const answers: RawAnswer[] = [];
    let unparsed = "";
    socket.setTimeout(20_000, () => socket.destroy(new Error("no answer within 20 s")));
    socket.on("connect", () => socket.write(Buffer.concat(requests)));
    socket.on("data", (data) => {
      unparsed += data.toString("latin1");
      for (;;) {
        const head = /^HTTP\/1\.1 (\d{3})[\s\S]*?\r\n\r\n/.exec(unparsed);
        if (!head) break;
        const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head[0])?.[1] ?? 0);
        if (unparsed.length < head[0].length + length) break;
        answers.push({
          status: Number(head[1]),
          body: unparsed.slice(head[0].length, head[0].length + length),
        });
        unparsed = unparsed.slice(head[0].length + length);
      }
      if (answers.length === requests.length) socket.end();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // A server that has answered 400 may close before it has read the rest.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => resolve(answers));
  });
}

/** A POST as bytes; header values go out as they are. */
function rawPost(path: string, headers: Record<string, string>, body: Buffer): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nHost: fuzz\r\n${lines.join("")}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}
