import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { startHttpServer } from "../support/http.ts";

type Arrival = {
  rawBody: Buffer;
  headers: Record<string, string>;
  atMs: number;
  /** As the format's adapter reads it. */
  eventId: string;
  eventType: string;
  body: unknown;
  problem: string | null;
};

export type Endpoint = {
  url: string;
  arrivals: Arrival[];
  /** How many are being answered at the same time, at most so far. */
  most: number;
  /** `null` never answers. */
  answer(next: (arrival: Arrival) => number | null | Promise<number | null>): void;
};

/** An endpoint for webhooks that records every request. It returns 200 unless the test changes that. */
export async function endpoint(format: WireFormat, secret: string): Promise<Endpoint> {
  let answer: (arrival: Arrival) => number | null | Promise<number | null> = () => 200;
  let open = 0;
  const server = await startHttpServer(async (incoming, response) => {
    open += 1;
    result.most = Math.max(result.most, open);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const arrival = read(format, secret, Buffer.concat(chunks), incoming.headers as Record<string, string>);
    result.arrivals.push(arrival);
    const status = await answer(arrival);
    open -= 1;
    if (status !== null) response.writeHead(status).end('{"received":true}');
  });
  cleanedUp(server.close);
  const result: Endpoint = {
    url: `${server.url}/hook`,
    arrivals: [],
    most: 0,
    answer: (next) => {
      answer = next;
    },
  };
  return result;
}

function read(format: WireFormat, secret: string, rawBody: Buffer, headers: Record<string, string>): Arrival {
  const adapter = ADAPTERS.of(format);
  const request = { rawBody, header: (name: string) => headers[name] };
  const nowSeconds = Date.now() / 1_000;
  const problem = adapter.verify(request, { secrets: [secret], nowSeconds, toleranceSeconds: 300 });
  const body: unknown = JSON.parse(rawBody.toString());
  return { rawBody, headers, atMs: performance.now(), body, problem, ...adapter.identify(request, body) };
}
