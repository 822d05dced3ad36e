import { buffer } from "node:stream/consumers";
import { startHttpServer } from "./http.ts";

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** Empty: none. */
  parentSpanId: string;
  name: string;
  /** OpenTelemetry's number: 1 internal, 2 server, 3 client. */
  kind: number;
  attributes: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
};

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  /** The resource attributes of the last request. */
  resource: Record<string, string | number | boolean>;
  requests: { path: string; headers: Record<string, unknown>; bytes: Buffer }[];
  /** `null`: requests are not answered at all. */
  status: number | null;
  close(): Promise<void>;
};

/** A collector for OTLP over HTTP, on a free port, which decodes the spans. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const receiver: Omit<OtlpReceiver, "url" | "close"> = {
    spans: [],
    resource: {},
    requests: [],
    status: 200,
  };
  const server = await startHttpServer(async (incoming, outgoing) => {
    const bytes = await buffer(incoming);
    receiver.requests.push({ path: incoming.url ?? "", headers: incoming.headers, bytes });
    if (receiver.status === null) return;
    if (receiver.status === 200) readRequest(bytes, receiver);
    outgoing.writeHead(receiver.status, { "content-type": "application/x-protobuf" }).end();
  });
  return Object.assign(receiver, server);
}

/** `opentelemetry/proto/collector/trace/v1/trace_service.proto`, as far as it is used. */
function readRequest(bytes: Buffer, into: Pick<OtlpReceiver, "spans" | "resource">): void {
  for (const resourceSpans of messages(bytes, 1)) {
    for (const resource of messages(resourceSpans, 1)) into.resource = readAttributes(resource, 1);
    for (const scopeSpans of messages(resourceSpans, 2))
      into.spans.push(...messages(scopeSpans, 2).map(readSpan));
  }
}

function readSpan(bytes: Buffer): ReceivedSpan {
  const [status] = messages(bytes, 15);
  return {
    traceId: hex(bytes, 1),
    spanId: hex(bytes, 2),
    parentSpanId: hex(bytes, 4),
    name: messages(bytes, 5)[0]?.toString() ?? "",
    kind: Number(numberAt(bytes, 6)),
    attributes: readAttributes(bytes, 9),
    links: messages(bytes, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: status !== undefined && numberAt(status, 3) === 2,
  };
}

function readAttributes(bytes: Buffer, field: number): ReceivedSpan["attributes"] {
  return Object.fromEntries(
    messages(bytes, field).map((keyValue) => {
      const [key, value] = [messages(keyValue, 1)[0], messages(keyValue, 2)[0] ?? Buffer.alloc(0)];
      return [
        String(key),
        messages(value, 1)[0]?.toString() ?? numberAt(value, 3) ?? numberAt(value, 2) === 1,
      ];
    }),
  );
}

function hex(bytes: Buffer, field: number): string {
  return messages(bytes, field)[0]?.toString("hex") ?? "";
}

/** The values of a length-delimited field. */
function messages(bytes: Buffer, field: number): Buffer[] {
  return [...fields(bytes)].flatMap(([number, value]) =>
    number === field && Buffer.isBuffer(value) ? [value] : [],
  );
}

function numberAt(bytes: Buffer, field: number): number | undefined {
  for (const [number, value] of fields(bytes))
    if (number === field && typeof value === "number") return value;
  return undefined;
}

/** The wire format of Protocol Buffers; fixed-width numbers are skipped. */
function* fields(bytes: Buffer): Generator<[field: number, value: Buffer | number]> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(value);
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType === 0) yield [tag >> 3, varint()];
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else {
      const length = varint();
      yield [tag >> 3, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}
