import { z } from "zod";
import { LOCALES } from "../locale.ts";

export const FEATURE_KINDS = ["flag", "limit", "quota"] as const;

export type FeatureKind = (typeof FEATURE_KINDS)[number];

const id = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,49}$/, "use lower-case letters, digits, - and _")
  .describe("The id that programs check, such as `events`.");

const text = z.record(z.enum(LOCALES), z.string().min(1).max(200));

/** The largest number that every client reads exactly, JSON's and GraphQL's included. */
const number = z.int().min(0).max(2_147_483_647);

/**
 * What a plan includes: a `flag` is on or off, a `limit` is a number that the product keeps to, a `quota` is
 * an amount per billing period that Tollgate counts.
 */
export const Feature = z.discriminatedUnion("kind", [
  z.strictObject({ id, kind: z.literal("flag"), value: z.boolean(), text }),
  z.strictObject({ id, kind: z.literal("limit"), value: number, text }),
  z.strictObject({ id, kind: z.literal("quota"), value: number, text }),
]);

export type Feature = z.infer<typeof Feature>;

/** Those that a list of what the plan includes shows. */
export function shownFeatures(features: readonly Feature[]): Feature[] {
  return features.filter(({ value }) => value !== false);
}
