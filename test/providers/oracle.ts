import { createHmac } from "node:crypto";
import type { SignedRequest, VerifyOptions, WireFormat } from "../../src/providers/adapter.ts";

type Claim = { prefix: string; macs: string[]; timestamp: string | null };

/**
 * Whether a delivery is genuine, by other means than the adapters': patterns instead of parsing, joined
 * signed bytes, and signatures compared as text.
 */
export function isGenuine(format: WireFormat, request: SignedRequest, options: VerifyOptions): boolean {
  const claim = CLAIMS[format as keyof typeof CLAIMS](request);
  if (claim === null || !isTimely(claim.timestamp, options)) return false;
  const signed = Buffer.concat([Buffer.from(claim.prefix), request.rawBody]);
  const encoding = format === "polar" ? "base64" : "hex";
  return options.secrets
    .flatMap((secret) => (format === "polar" ? polarKeys(secret) : [secret]))
    .filter((key) => key.length > 0)
    .some((key) => claim.macs.includes(createHmac("sha256", key).update(signed).digest(encoding)));
}

const CLAIMS = {
  stripe: (request: SignedRequest) => timedClaim(request.header("stripe-signature"), ",", "t", "v1", "."),
  paddle: (request: SignedRequest) => timedClaim(request.header("paddle-signature"), ";", "ts", "h1", ":"),
  polar(request: SignedRequest): Claim | null {
    const [id = "", timestamp = "", header = ""] = ["id", "timestamp", "signature"].map((name) =>
      request.header(`webhook-${name}`),
    );
    if (!/^[ -~]{1,4096}$/.test(id) || isOversized(header, " ")) return null;
    const macs = [...header.matchAll(/(?<=^| )v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)(?=,? |$)/g)];
    return { prefix: `${id}.${timestamp}.`, macs: macs.map((match) => match[1] ?? ""), timestamp };
  },
  "lemon-squeezy"(request: SignedRequest): Claim | null {
    const mac = /^\s*([0-9a-f]{64})\s*$/i.exec(request.header("x-signature") ?? "")?.[1];
    if (mac === undefined || contradicts(request.header("x-event-name"), request.rawBody)) return null;
    return { prefix: "", macs: [mac.toLowerCase()], timestamp: null };
  },
};

function timedClaim(
  header: string | undefined,
  separator: string,
  timeName: string,
  signatureName: string,
  joint: string,
): Claim | null {
  if (header === undefined || isOversized(header, separator)) return null;
  const parts = header.split(separator);
  const values = (name: string) =>
    parts.flatMap((part) => new RegExp(`^\\s*${name}\\s*=\\s*([^]*?)\\s*$`).exec(part)?.[1] ?? []);
  const [timestamp, ...others] = new Set(values(timeName));
  if (timestamp === undefined || others.length > 0) return null;
  const macs = values(signatureName)
    .filter((value) => /^[0-9a-f]{64}$/i.test(value))
    .map((value) => value.toLowerCase());
  return { prefix: timestamp + joint, macs, timestamp };
}

function isOversized(header: string, separator: string): boolean {
  return header.length > 4096 || header.split(separator).length > 64;
}

function isTimely(timestamp: string | null, options: VerifyOptions): boolean {
  if (timestamp === null) return true;
  if (!/^[0-9]{1,15}$/.test(timestamp)) return false;
  return (
    Math.abs(Number.parseInt(timestamp, 10) - Math.floor(options.nowSeconds)) <= options.toleranceSeconds
  );
}

function polarKeys(secret: string): (string | Buffer)[] {
  const base64 = /^whsec_((?:[\w+/-]{4})*(?:[\w+/-]{2,3})?)={0,2}$/.exec(secret)?.[1];
  return base64 === undefined ? [secret] : [secret, Buffer.from(base64, "base64")];
}

function contradicts(announced: string | undefined, rawBody: Buffer): boolean {
  if (announced === undefined) return false;
  try {
    const name = JSON.parse(rawBody.toString()).meta.event_name;
    return typeof name === "string" && name !== announced;
  } catch {
    return false;
  }
}
