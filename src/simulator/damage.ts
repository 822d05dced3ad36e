import type { Adapter, WireFormat } from "../providers/adapter.ts";

/** In which way a delivery is not what the provider sent; a receiver must refuse each of them. */
export const DAMAGE_KINDS = [
  "body changed",
  "signature changed",
  "signature missing",
  "foreign secret",
  "sent long ago",
] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

export type SignedDelivery = { rawBody: Buffer; headers: Record<string, string> };

export type Signing = {
  adapter: Adapter;
  secret: string;
  nowSeconds: number;
  eventId: string;
  eventType: string;
};

const SIGNATURE_HEADERS: Record<WireFormat, string> = {
  stripe: "stripe-signature",
  paddle: "paddle-signature",
  polar: "webhook-signature",
  "lemon-squeezy": "x-signature",
};

const LONG_AGO_SECONDS = 7 * 86_400;

/** Lemon Squeezy signs no time stamp: its old deliveries are as good as new ones. */
export function damageKinds(format: WireFormat): readonly DamageKind[] {
  return DAMAGE_KINDS.filter((kind) => kind !== "sent long ago" || format !== "lemon-squeezy");
}

export function signed(rawBody: Buffer, { adapter, ...options }: Signing): SignedDelivery {
  return {
    rawBody,
    headers: { "content-type": "application/json", ...adapter.sign(rawBody, options) },
  };
}

export function damaged(kind: DamageKind, rawBody: Buffer, signing: Signing): SignedDelivery {
  const delivery = signed(rawBody, signing);
  const header = SIGNATURE_HEADERS[signing.adapter.format];
  switch (kind) {
    case "body changed":
      return { ...delivery, rawBody: withAnotherDigit(rawBody) };
    case "signature changed":
      return {
        ...delivery,
        headers: { ...delivery.headers, [header]: forged(delivery.headers[header] ?? "") },
      };
    case "signature missing":
      return { ...delivery, headers: { ...delivery.headers, [header]: "" } };
    case "foreign secret":
      return signed(rawBody, { ...signing, secret: `not the secret of ${signing.adapter.format}` });
    case "sent long ago":
      return signed(rawBody, { ...signing, nowSeconds: signing.nowSeconds - LONG_AGO_SECONDS });
    default:
      return kind satisfies never;
  }
}

/** Still the same kind of text, of the same length: only the signature tells. */
function withAnotherDigit(rawBody: Buffer): Buffer {
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
