import { hash } from "node:crypto";
import { InvalidPayload } from "../../domain/deliveries/payload-problems.ts";
import { ownValue } from "../webhook/json-reader.ts";

const MAX_ID_CHARACTERS = 255;
const MAX_DEPTH = 100;
const ATTRIBUTES_HASH_CHARACTERS = 32;

/**
 * Lemon Squeezy identifies the object, never the event. The id is derived from what a repeated delivery
 * repeats: all but the signed links in `data.attributes.urls`, which are new each time. Without a webhook id,
 * it is a hash of the raw bytes.
 */
export function lemonSqueezyEventId(rawBody: Buffer, body: unknown): string {
  const meta = ownValue(body, "meta");
  const data = ownValue(body, "data");
  const webhookId = idText(ownValue(meta, "webhook_id"));
  if (webhookId === "") return `sha256:${hash("sha256", rawBody, "hex")}`;
  const attributes = hash("sha256", canonicalJson(withoutUrls(ownValue(data, "attributes")), 0), "hex");
  const id = [
    webhookId,
    idText(ownValue(meta, "event_name")),
    idText(ownValue(data, "type")),
    idText(ownValue(data, "id")),
    attributes.slice(0, ATTRIBUTES_HASH_CHARACTERS),
  ].join(":");
  return id.length > MAX_ID_CHARACTERS ? `sha256:${hash("sha256", id, "hex")}` : id;
}

function idText(value: unknown): string {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : "";
}

function withoutUrls(attributes: unknown): unknown {
  if (ownValue(attributes, "urls") === undefined) return attributes;
  return Object.fromEntries(Object.entries(attributes as object).filter(([key]) => key !== "urls"));
}

// Sorted keys: the same attributes in another order are the same event.
function canonicalJson(value: unknown, depth: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth >= MAX_DEPTH) throw new InvalidPayload(`nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) return `[${value.map((entry) => canonicalJson(entry, depth + 1)).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(ownValue(value, key), depth + 1)}`);
  return `{${members.join(",")}}`;
}
