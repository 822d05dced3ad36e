import type { Adapter } from "../../providers/adapter.ts";
import type { SimulatorTraits } from "../simulator-traits.ts";

/** How a delivery differs from what the provider sent; a receiver must refuse each of them. */
export const CORRUPTION_KINDS = [
  "body changed",
  "signature changed",
  "signature missing",
  "foreign secret",
  "sent long ago",
] as const;
export type CorruptionKind = (typeof CORRUPTION_KINDS)[number];

export type SignedDelivery = { rawBody: Buffer; headers: Record<string, string> };

export type Signing = {
  traits: SimulatorTraits;
  adapter: Adapter;
  secret: string;
  nowSeconds: number;
  eventId: string;
  eventType: string;
};

const LONG_AGO_SECONDS = 7 * 86_400;

/** The kinds that a receiver can notice: without a signed timestamp, an old delivery looks like a new one. */
export function corruptionKinds({ signsTimestamp }: SimulatorTraits): readonly CorruptionKind[] {
  return CORRUPTION_KINDS.filter((kind) => kind !== "sent long ago" || signsTimestamp);
}

export function signDelivery(rawBody: Buffer, { adapter, traits: _, ...options }: Signing): SignedDelivery {
  return {
    rawBody,
    headers: { "content-type": "application/json", ...adapter.sign(rawBody, options) },
  };
}

export function corruptDelivery(kind: CorruptionKind, rawBody: Buffer, signing: Signing): SignedDelivery {
  const delivery = signDelivery(rawBody, signing);
  const header = signing.traits.signatureHeader;
  switch (kind) {
    case "body changed":
      return { ...delivery, rawBody: withChangedDigit(rawBody) };
    case "signature changed":
      return {
        ...delivery,
        headers: { ...delivery.headers, [header]: forged(delivery.headers[header] ?? "") },
      };
    case "signature missing":
      return { ...delivery, headers: { ...delivery.headers, [header]: "" } };
    case "foreign secret":
      return signDelivery(rawBody, { ...signing, secret: `not the secret of ${signing.adapter.format}` });
    case "sent long ago":
      return signDelivery(rawBody, { ...signing, nowSeconds: signing.nowSeconds - LONG_AGO_SECONDS });
    default:
      return kind satisfies never;
  }
}

/** Valid JSON of the same length, so that only the signature tells. */
function withChangedDigit(rawBody: Buffer): Buffer {
  const changed = Buffer.from(rawBody);
  const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
  const at = changed.findLastIndex(isDigit);
  if (at < 0) throw new Error("there is no digit in the body");
  changed[at] = changed[at] === 0x39 ? 0x31 : (changed[at] as number) + 1;
  return changed;
}

function forged(header: string): string {
  const at = header.length - 10;
  return header.slice(0, at) + (header[at] === "0" ? "1" : "0") + header.slice(at + 1);
}
